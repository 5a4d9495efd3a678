import { translate } from "../text/language.ts";
import type { IconName } from "../parts/icon-shapes.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";
import type { Verdict } from "../../../tutti/src/schema/outcome.ts";
import { isRunOver, type RunStatus } from "../../../tutti/src/schema/status.ts";

export interface StatusStyle {
  word: string;
  tone: Severity;
  icon: IconName;
}

const LOOKS: Record<RunStatus, StatusStyle> = {
  created: { word: translate("Not started"), tone: "neutral", icon: "clock" },
  analyzing: { word: translate("Analysing"), tone: "running", icon: "spinner" },
  planning: { word: translate("Planning"), tone: "running", icon: "spinner" },
  confirming: { word: translate("Needs you"), tone: "you", icon: "question" },
  spawning: { word: translate("Starting workers"), tone: "running", icon: "spinner" },
  running: { word: translate("Working"), tone: "running", icon: "spinner" },
  aggregating: { word: translate("Merging"), tone: "running", icon: "spinner" },
  verifying: { word: translate("Verifying"), tone: "running", icon: "spinner" },
  completed: { word: translate("Completed"), tone: "good", icon: "check" },
  error: { word: translate("Failed"), tone: "bad", icon: "cross" },
  cancelled: { word: translate("Cancelled"), tone: "neutral", icon: "minus" },
  paused: { word: translate("Paused"), tone: "warning", icon: "clock" },
};

export const VERDICTS: Record<Verdict, StatusStyle> = {
  success: { word: translate("Success"), tone: "good", icon: "check" },
  degraded: { word: translate("Degraded"), tone: "warning", icon: "warning" },
  failed: { word: translate("Failed"), tone: "bad", icon: "cross" },
  cancelled: { word: translate("Cancelled"), tone: "neutral", icon: "minus" },
};

/**
 * Waiting `questions` take precedence over the status of an open run. The end of a run is a fact that they do not change,
 * so they are shown beside it.
 */
export function runLook(status: RunStatus, questions: number, verdict: Verdict | null = null): StatusStyle {
  if (questions > 0 && !isRunOver(status)) return LOOKS.confirming;
  return status === "completed" && verdict === "degraded" ? VERDICTS.degraded : LOOKS[status];
}

export const WAITING: StatusStyle = { word: translate("Waiting"), tone: "warning", icon: "clock" };
export const STALLED: StatusStyle = { word: translate("Stalled"), tone: "bad", icon: "warning" };

interface SignsOfLife {
  /** True if the run only waits for a provider. */
  isHeld: boolean;
  quietForMs: number;
  quietAfterMs: number | undefined;
}

/** A run that only waits for a provider, or shows no sign of life, does not look like one at work. */
export function lookAtWork(look: StatusStyle, { isHeld, quietForMs, quietAfterMs }: SignsOfLife): StatusStyle {
  if (look.tone !== "running") return look;
  if (isHeld) return WAITING;
  return quietAfterMs !== undefined && quietForMs > quietAfterMs ? STALLED : look;
}
