// What has happened, in sentences: the events of a run that a person wants to hear of.
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
  taskPlanning: "The main session makes the plan",
  workerExecution: "The workers begin",
  aggregation: "The main session merges the results",
  verification: "The main session verifies the result",
};

const VERDICTS = { success: "good", degraded: "warning", failed: "bad", cancelled: "neutral" } as const;

/** One line for an event, or null for one that is seen elsewhere. */
export function describe(event: StoredEvent): Happened | null {
  const told = tell(event);
  return told && { seq: event.seq, at: event.timestamp, text: told[0], tone: told[1] };
}

function tell(event: StoredEvent): [string, Tone] | null {
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
        ? [`A plan of ${plural(data.taskCount, "task")} is there`, "you"]
        : [`The plan cannot be carried out: ${data.errors.join("; ")}`, "bad"];
    case "orchestrator:confirmed":
      return ["The plan was confirmed", "good"];
    case "orchestrator:changesRequested":
      return [`Another plan was asked for: ${data.text}`, "neutral"];
    case "orchestrator:paused":
      return [`The run was paused${data.detail === "" ? "" : `: ${data.detail}`}`, "warning"];
    case "orchestrator:resumed":
      return ["The run was resumed", "running"];
    case "orchestrator:reopened":
      return ["The run was opened again", "running"];
    case "orchestrator:verified":
      return [`Verification: ${data.verification.status.replaceAll("_", " ")}`, "neutral"];
    case "orchestrator:completed":
      return [`The run ended: ${data.outcome}`, VERDICTS[data.outcome]];
    case "orchestrator:cancelled":
      return ["The run was cancelled", "neutral"];
    case "orchestrator:error":
      return [`Error in ${data.operation}: ${data.error}`, "bad"];
    case "main:lost":
      return [`The main session is started again: ${data.reason}`, "warning"];
    case "worker:started":
      return [`${data.taskId} began`, "running"];
    case "worker:completed":
      return [`${data.taskId} completed${data.partial ? " in part" : ""}`, data.partial ? "warning" : "good"];
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
      return [`${data.taskId} is tried again`, "running"];
    case "worker:lost":
      return [`${data.taskId} is attempted again: ${data.reason}`, "warning"];
    case "turn:ended":
      return data.problems.length === 0
        ? null
        : [`${data.taskId ?? "The main session"} is asked again: ${data.problems.join("; ")}`, "warning"];
    case "task:blocked":
      return [`${data.taskId} cannot start: it needs ${data.because.join(", ")}`, "warning"];
    case "workspace:conflict":
      return [`Conflict in ${data.conflict.files.join(", ")} between ${data.conflict.tasks.join(" and ")}`, "warning"];
    case "inbox:added":
      return asks(data.item);
    case "inbox:answered":
      return data.withdrawn ? null : [`Answered: ${data.text}`, "good"];
    case "protocol:ignored":
      return [`${data.taskId ?? "The main session"} reported something that does not count: ${data.reason}`, "neutral"];
    default:
      return null;
  }
}

/** A plan and a failed task have told of themselves already. */
function asks({ kind, taskId, question }: InboxItem): [string, Tone] | null {
  if (kind === "plan" || kind === "failure") return null;
  return [kind === "budget" ? question : `${taskId ?? "The main session"} asks: ${question}`, "you"];
}
