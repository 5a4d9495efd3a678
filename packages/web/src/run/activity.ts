import { describeEvent, titleOf, withDetail, type Severity } from "../../../tutti/src/run/describe-event.ts";
import { describeProblems } from "../../../tutti/src/run/describe-problems.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isOfTutti } from "../text/is-of-tutti.ts";
import { say } from "../text/language.ts";

export interface ActivityLine {
  seq: number;
  runSeq: number;
  at: number;
  text: string;
  /** The part of `text` before `words`, which are an agent's. Without such words it is the whole text. */
  title: string;
  words: string;
  /** Sentences of the log that are the detail of the event, and may hold words of an agent (`MixedText`). */
  mixed: readonly string[];
  tone: Severity;
}

const known = new WeakMap<StoredEvent, ActivityLine | null>();

/** Each event is described once, with the run that it was first shown with. */
export function recentLines(events: readonly StoredEvent[], run: Run): ActivityLine[] {
  return events.flatMap((event) => {
    let line = known.get(event);
    if (line === undefined) known.set(event, (line = lineOf(event, run)));
    return line ?? [];
  });
}

/** An event of a newer server has no sentence here; it is among the raw events. */
function lineOf(event: StoredEvent, run: Run): ActivityLine | null {
  try {
    return activityLine(event, run);
  } catch {
    return null;
  }
}

/** Returns null for events that `isShownElsewhere`, or that are not shown at all. */
function activityLine(event: StoredEvent, run: Run): ActivityLine | null {
  const description = isShownElsewhere(event) ? null : describeEvent(event, run, say);
  if (description === null) return null;
  const title = titleOf(description);
  const text = withDetail(title, description.detail, say);
  const mixed = description.detail === "" ? [] : mixedOf(event, run);
  const hasWords = mixed.length > 0 || hasAgentWords(event);
  const parts = hasWords ? { title, words: description.detail } : { title: text, words: "" };
  return {
    seq: event.seq,
    runSeq: event.runSeq,
    at: event.timestamp,
    text,
    ...parts,
    mixed,
    tone: description.severity,
  };
}

/** The detail of these events is written by Tutti, around words of an agent. */
function mixedOf({ type, data }: StoredEvent, run: Run): readonly string[] {
  switch (type) {
    case "breaker:open":
      return [data.reason];
    case "orchestrator:paused":
      return [data.detail];
    case "gate:closed":
    case "gate:refused":
    case "message:rejected":
      return data.reasons;
    case "turn:ended":
      return data.problems.map((problem) => describeProblems([problem], run));
    default:
      return [];
  }
}

/** The `detail` of these events contains words of an agent. */
const OF_AGENTS: ReadonlySet<string> = new Set<StoredEvent["type"]>([
  "orchestrator:analysisComplete",
  "orchestrator:aggregated",
  "orchestrator:verified",
  "verification:fixing",
  "main:lost",
  "worker:started",
  "worker:lost",
  "blocker:raised",
  "blocker:resolved",
  "lead:completed",
  "task:rejected",
  "workspace:repaired",
  "subagent:started",
  "subagent:ended",
]);

const hasAgentWords = ({ type, data }: StoredEvent): boolean =>
  (type === "worker:failed" || type === "orchestrator:error" ? !isOfTutti(data.code) : OF_AGENTS.has(type)) ||
  (type === "inbox:added" && data.item.kind !== "budget" && data.item.kind !== "host");

/** Progress has its meters. A plan and a failed task have a line from their own events. */
const isShownElsewhere = ({ type, data }: StoredEvent): boolean =>
  type === "worker:progress" || (type === "inbox:added" && (data.item.kind === "plan" || data.item.kind === "failure"));
