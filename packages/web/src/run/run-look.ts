// The label, colour and icon of a run.
import type { IconName } from "../parts/icon-shapes.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";
import type { Verdict } from "../../../tutti/src/schema/outcome.ts";
import type { RunStatus } from "../../../tutti/src/schema/status.ts";

export interface StatusStyle {
  word: string;
  tone: Severity;
  icon: IconName;
}

const LOOKS: Record<RunStatus, StatusStyle> = {
  created: { word: "Not started", tone: "neutral", icon: "clock" },
  analyzing: { word: "Analysing", tone: "running", icon: "spinner" },
  planning: { word: "Planning", tone: "running", icon: "spinner" },
  confirming: { word: "Needs you", tone: "you", icon: "question" },
  spawning: { word: "Starting workers", tone: "running", icon: "spinner" },
  running: { word: "Working", tone: "running", icon: "spinner" },
  aggregating: { word: "Merging", tone: "running", icon: "spinner" },
  verifying: { word: "Verifying", tone: "running", icon: "spinner" },
  completed: { word: "Completed", tone: "good", icon: "check" },
  error: { word: "Failed", tone: "bad", icon: "cross" },
  cancelled: { word: "Cancelled", tone: "neutral", icon: "minus" },
  paused: { word: "Paused", tone: "warning", icon: "clock" },
};

export const VERDICTS: Record<Verdict, StatusStyle> = {
  success: { word: "Success", tone: "good", icon: "check" },
  degraded: { word: "Degraded", tone: "warning", icon: "warning" },
  failed: { word: "Failed", tone: "bad", icon: "cross" },
  cancelled: { word: "Cancelled", tone: "neutral", icon: "minus" },
};

/** A waiting question takes precedence over the status. */
export function runLook(status: RunStatus, questions: number, verdict: Verdict | null = null): StatusStyle {
  if (questions > 0) return LOOKS.confirming;
  return status === "completed" && verdict === "degraded" ? VERDICTS.degraded : LOOKS[status];
}
