// Why a run stands still, as a sentence.
import type { Run } from "../../../tutti/src/schema/run.ts";

type Reason = NonNullable<Run["pausedFrom"]>["reason"];

const SENTENCES: Record<Reason, string> = {
  person: "Paused by a person. Nothing goes on until the run is resumed.",
  needs_input: "Paused, because merging needs a decision. It goes on by itself when everything is decided.",
  budget: "Paused, because the budget is used up. It goes on when there is more, or ends here.",
  hook: "Paused, because a hook failed. Look at what it says below, then resume.",
  usage_limit:
    "Paused, because a usage limit is reached. It goes on when you say so, or by itself where the template says so.",
  provider: "Paused, because its agents cannot use their provider. Do what is said below, then resume.",
};

/** Reasons whose detail a person needs to read. */
const TELLING: ReadonlySet<Reason> = new Set(["provider", "usage_limit"]);

export function pauseSentence({ pausedFrom }: Run): string | null {
  if (!pausedFrom) return null;
  const { reason, detail } = pausedFrom;
  return TELLING.has(reason) ? `${SENTENCES[reason]} ${detail}` : SENTENCES[reason];
}
