// The queue (`queuedTasks`) and the status (`teamStatus`) of document 001 follow from the state of the run.
import { taskStanding } from "../census.ts";
import { activeWorkers, workerOf } from "../lookup.ts";
import { dutyOf } from "./lead-duty.ts";
import { priorityWord, protocolOf } from "./team.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, type Phase } from "../../schema/status.ts";
import type { Task } from "../../schema/task.ts";

export type MailboxTaskState = "pending" | "in_progress" | "awaiting_review" | "completed" | "rejected";

export interface QueuedTask {
  id: string;
  status: MailboxTaskState;
  rejections: number;
  rejectionReason: string | null;
  /** Members of `queue.json` that do not change. */
  about: Record<string, unknown>;
}

/** A skipped task is not in the queue. */
export function queuedTasks(run: Run): QueuedTask[] {
  return run.tasks
    .filter((task) => protocolOf(run, task) === "mailbox" && taskStanding(run, task.id) !== "skipped")
    .map((task) => ({ id: task.id, ...stateOf(run, task), about: aboutTask(run, task) }));
}

function stateOf(run: Run, { id }: Task): Pick<QueuedTask, "status" | "rejections" | "rejectionReason"> {
  const worker = workerOf(run, id);
  const rejected = (run.teamMessages ?? []).filter(({ taskId, body }) => taskId === id && "rejectionReason" in body);
  const rejectionReason = worker?.error ?? (rejected.at(-1)?.body["rejectionReason"] as string | undefined) ?? null;
  return { status: statusOf(run, id), rejections: rejected.length, rejectionReason };
}

function statusOf(run: Run, taskId: string): MailboxTaskState {
  switch (taskStanding(run, taskId)) {
    case "completed":
      return "completed";
    case "active":
      return workerOf(run, taskId)!.awaits?.kind === "verdict" ? "awaiting_review" : "in_progress";
    case "failed":
    case "timeout":
    case "cancelled":
      return "rejected";
    default:
      return "pending";
  }
}

function aboutTask(run: Run, { title, description, priority, acceptanceCriteria }: Task): Record<string, unknown> {
  const created = new Date(run.startedAt ?? run.createdAt).toISOString();
  const criteria = acceptanceCriteria ? { acceptanceCriteria } : {};
  return { title, description, priority: priorityWord(priority), ...criteria, createdAt: created };
}

const NEXT: Record<MailboxTaskState, readonly MailboxTaskState[]> = {
  pending: ["in_progress"],
  in_progress: ["awaiting_review", "rejected"],
  awaiting_review: ["completed", "rejected"],
  rejected: ["pending"],
  // The user retries the task, or its work is sent back before the merge.
  completed: ["rejected"],
};

/** The states of `NEXT` between `from` and `to`, `to` included. One step if there is no way. */
function stepsBetween(from: MailboxTaskState, to: MailboxTaskState): MailboxTaskState[] {
  const paths: MailboxTaskState[][] = [[from]];
  const seen = new Set([from]);
  for (const path of paths) {
    if (path.at(-1) === to) return path.slice(1);
    for (const next of NEXT[path.at(-1)!]) {
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return [to];
}

/** The states that a task takes from its last `written` state on. A rejection in between is one of them. */
export function stepsOf(
  written: { status: MailboxTaskState; rejections: number },
  wanted: Pick<QueuedTask, "status" | "rejections">,
): MailboxTaskState[] {
  if (wanted.rejections <= written.rejections) return stepsBetween(written.status, wanted.status);
  const reviewed = stepsBetween(written.status, "awaiting_review");
  return [...reviewed, "rejected", ...stepsBetween("rejected", wanted.status)];
}

const LEAD_STATES: Partial<Record<Phase, string>> = { analysis: "analyzing", taskPlanning: "planning" };

/** Members of `status.json` that follow from the run. */
export function teamStatus(run: Run): {
  running: boolean;
  startedAt: number | null;
  lead: { status: string; lastActivity: number | null };
  developer: { status: string; currentTask: string | null; lastActivity: number | null };
  lastCycle: { number: number; completed: number; failed: number; remaining: number };
} {
  const turn = run.main?.turn ?? null;
  const isReviewing = turn?.phase === "workerExecution" && dutyOf(run)?.awaits.kind === "verdict";
  const working = activeWorkers(run).filter(({ task, session }) => protocolOf(run, task) === "mailbox" && session.turn);
  const queue = queuedTasks(run);
  const count = (...states: MailboxTaskState[]): number => queue.filter(({ status }) => states.includes(status)).length;
  const times = Object.values(run.workers).flatMap(({ lastActivityAt }) => lastActivityAt ?? []);
  return {
    running: !isRunOver(run.status),
    startedAt: run.startedAt,
    lead: {
      status: isReviewing ? "reviewing" : ((turn && LEAD_STATES[turn.phase]) ?? (turn ? "verifying" : "idle")),
      lastActivity: turn?.startedAt ?? null,
    },
    developer: {
      status: working.length > 0 ? "implementing" : "idle",
      currentTask: working[0]?.taskId ?? null,
      lastActivity: times.length > 0 ? Math.max(...times) : null,
    },
    lastCycle: {
      number: run.cycle ?? 1,
      completed: count("completed"),
      failed: count("rejected"),
      remaining: count("pending", "in_progress", "awaiting_review"),
    },
  };
}
