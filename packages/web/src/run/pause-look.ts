import { translate } from "../text/language.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

type Reason = NonNullable<Run["pausedFrom"]>["reason"];

const SENTENCES: Record<Reason, string> = {
  person: translate("Paused by a user. Resume the run to continue."),
  needs_input: translate("Paused because merging needs a decision. The run continues once every decision is made."),
  budget: translate(
    "Paused because the budget is used up. Choose below whether to extend the budget or cancel the run.",
  ),
  hook: translate("Paused because a hook failed. Read its error below, then resume the run."),
  usage_limit: translate(
    "Paused because a usage limit is reached. Resume the run to continue; some templates resume it automatically.",
  ),
  storage: translate("Paused because the files of its sessions cannot be written. Resume the run once they can."),
  environment: translate(
    "Paused because the machine cannot continue the run for now. Fix the following problem, then resume it.",
  ),
  provider: translate(
    "Paused because the agents cannot use their provider. Fix the following problem, then resume the run.",
  ),
  failure: translate("Paused because the main session failed. Choose below whether to try it again or cancel the run."),
  breaker: translate(
    "Paused because tasks keep failing in the same way. Fix the cause, then resume the run, or cancel it.",
  ),
};

/** Only these reasons have a `detail` for the user. */
const WITH_DETAIL: ReadonlySet<Reason> = new Set(["provider", "usage_limit", "storage", "environment", "breaker"]);

interface PauseText {
  sentence: string;
  /** A sentence of the log. */
  detail: string | null;
}

export function pauseText({ pausedFrom }: Run): PauseText | null {
  if (!pausedFrom) return null;
  const { reason, detail } = pausedFrom;
  return { sentence: SENTENCES[reason], detail: WITH_DETAIL.has(reason) ? detail : null };
}
