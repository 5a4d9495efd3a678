// Turns the events that matter to the user into sentences.
import type { Tone } from "../shell/tone.ts";
import { plural } from "../text/format.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";
import type { Phase } from "../../../tutti/src/schema/status.ts";

export interface Happened {
  seq: number;
  at: number;
  text: string;
  tone: Tone;
}

const PHASES: Record<Phase, string> = {
  analysis: "The main session analyses the repository",
  taskPlanning: "The main session plans the tasks",
  workerExecution: "The workers start",
  aggregation: "The main session merges the results",
  verification: "The main session verifies the result",
};

const VERDICTS = { success: "good", degraded: "warning", failed: "bad", cancelled: "neutral" } as const;

/** Returns null for events that the page shows elsewhere or not at all. */
export function describe(event: StoredEvent): Happened | null {
  const line = lineOf(event);
  return line && { seq: event.seq, at: event.timestamp, text: line[0], tone: line[1] };
}

function lineOf(event: StoredEvent): [string, Tone] | null {
  const { type, data } = event;
  switch (type) {
    case "orchestrator:created":
      return ["The run was created", "neutral"];
    case "orchestrator:started":
      return [PHASES[data.phase], "running"];
    case "orchestrator:phaseChanged":
      return data.previousPhase === data.currentPhase ? null : [PHASES[data.currentPhase], "running"];
    case "orchestrator:tasksReady":
      return data.errors.length === 0
        ? [`The plan is ready: ${plural(data.taskCount, "task")}`, "you"]
        : [`The plan is invalid: ${data.errors.join("; ")}`, "bad"];
    case "orchestrator:confirmed":
      return ["The plan was confirmed", "good"];
    case "orchestrator:changesRequested":
      return [`A new plan was requested: ${data.text}`, "neutral"];
    case "orchestrator:paused":
      return [`The run was paused${data.detail === "" ? "" : `: ${data.detail}`}`, "warning"];
    case "orchestrator:resumed":
      return ["The run was resumed", "running"];
    case "orchestrator:reopened":
      return ["The run was reopened", "running"];
    case "orchestrator:verified":
      return [`Verification: ${data.verification.status.replaceAll("_", " ")}`, "neutral"];
    case "orchestrator:completed":
      return [`The run ended: ${data.outcome}`, VERDICTS[data.outcome]];
    case "orchestrator:cancelled":
      return ["The run was cancelled", "neutral"];
    case "orchestrator:error":
      return [`Error in ${data.operation}: ${data.error}`, "bad"];
    case "main:lost":
      return [`The main session restarts: ${data.reason}`, "warning"];
    case "worker:started":
      return [`${data.taskId} started`, "running"];
    case "worker:completed":
      return [`${data.taskId} completed${data.partial ? " partially" : ""}`, data.partial ? "warning" : "good"];
    case "worker:failed":
      return [`${data.taskId} failed: ${data.error}`, "bad"];
    case "worker:timeout":
      return [`${data.taskId} timed out: ${data.error}`, "bad"];
    case "worker:cancelled":
      return [`${data.taskId} was cancelled`, "neutral"];
    case "worker:paused":
      return data.by === "person" ? [`${data.taskId} was paused`, "warning"] : null;
    case "worker:resumed":
      return [`${data.taskId} was resumed`, "running"];
    case "worker:retrying":
      return [`${data.taskId} is retried`, "running"];
    case "worker:lost":
      return [`${data.taskId} starts a new attempt: ${data.reason}`, "warning"];
    case "turn:ended":
      return data.problems.length === 0
        ? null
        : [`${data.taskId ?? "The main session"} sent an invalid response: ${data.problems.join("; ")}`, "warning"];
    case "task:blocked":
      return [`${data.taskId} is blocked by ${data.because.join(", ")}`, "warning"];
    case "workspace:conflict":
      return [`Conflict in ${data.conflict.files.join(", ")} between ${data.conflict.tasks.join(" and ")}`, "warning"];
    case "inbox:added":
      return questionLine(data.item);
    case "inbox:answered":
      return data.withdrawn ? null : [`Answered: ${data.text}`, "good"];
    case "protocol:ignored":
      return [`${data.taskId ?? "The main session"} sent a report that was ignored: ${data.reason}`, "neutral"];
    default:
      return null;
  }
}

/** A plan and a failed task have a line from their own events. */
function questionLine({ kind, taskId, question }: InboxItem): [string, Tone] | null {
  if (kind === "plan" || kind === "failure") return null;
  return [kind === "budget" ? question : `${taskId ?? "The main session"} asks: ${question}`, "you"];
}
