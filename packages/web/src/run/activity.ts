import { describeEvent, titleOf, withDetail, type Severity } from "../../../tutti/src/run/describe-event.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { say } from "../text/language.ts";

export interface ActivityLine {
  seq: number;
  runSeq: number;
  at: number;
  text: string;
  tone: Severity;
}

/** Returns null for events that `isShownElsewhere`, or that are not shown at all. */
export function activityLine(event: StoredEvent, run: Run): ActivityLine | null {
  const description = isShownElsewhere(event) ? null : describeEvent(event, run, say);
  if (description === null) return null;
  const text = withDetail(titleOf(description), description.detail, say);
  return { seq: event.seq, runSeq: event.runSeq, at: event.timestamp, text, tone: description.severity };
}

/** Progress has its meters. A plan and a failed task have a line from their own events. */
const isShownElsewhere = ({ type, data }: StoredEvent): boolean =>
  type === "worker:progress" || (type === "inbox:added" && (data.item.kind === "plan" || data.item.kind === "failure"));
