// Why a run stands still, as a sentence.
import type { Run } from "../../../tutti/src/schema/run.ts";

type Reason = NonNullable<Run["pausedFrom"]>["reason"];

const SENTENCES: Record<Reason, string> = {
  person: "Paused by a person. Nothing goes on until the run is resumed.",
  needs_input: "Paused, because merging needs a decision. It goes on by itself when everything is decided.",
  budget: "Paused, because the budget is used up. It goes on when there is more, or ends here.",
  hook: "Paused, because a hook failed. Look at what it says below, then resume.",
};

export const pauseSentence = ({ pausedFrom }: Run): string | null => pausedFrom && SENTENCES[pausedFrom.reason];
