import { translate } from "../text/language.ts";
import type { StatusStyle } from "./run-look.ts";
import { holdsUp } from "./waiting.ts";
import { taskStanding } from "../../../tutti/src/run/census.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

export function taskLook(run: Run, task: Task): StatusStyle {
  const worker = run.workers[task.id];
  switch (taskStanding(run, task.id)) {
    case "completed":
      return completedLook(run, worker!);
    case "failed":
      return { word: translate("Failed"), tone: "bad", icon: "cross" };
    case "timeout":
      return { word: translate("Timed out"), tone: "bad", icon: "clock" };
    case "cancelled":
      return { word: translate("Cancelled"), tone: "neutral", icon: "minus" };
    case "skipped":
      return { word: translate("Skipped"), tone: "neutral", icon: "minus" };
    case "blocked":
      return { word: translate("Blocked"), tone: "warning", icon: "lock" };
    case "active":
      return activeLook(run, worker!);
    case "neverStarted":
      return waitingLook(run, task);
  }
}

function completedLook({ conflicts }: Run, worker: Worker): StatusStyle {
  const isOpen = conflicts.some(({ resolution, tasks }) => resolution === null && tasks.includes(worker.taskId));
  if (isOpen) return { word: translate("Conflict"), tone: "warning", icon: "warning" };
  if (worker.partial) return { word: translate("Partial"), tone: "warning", icon: "check" };
  return { word: translate("Completed"), tone: "good", icon: "check" };
}

function activeLook(run: Run, worker: Worker): StatusStyle {
  if (asks(run, worker.taskId)) return { word: translate("Needs you"), tone: "you", icon: "question" };
  if (worker.status === "paused") return { word: translate("Paused"), tone: "warning", icon: "clock" };
  if (worker.status === "spawning") return { word: translate("Starting"), tone: "running", icon: "spinner" };
  return { word: translate("Working"), tone: "running", icon: "spinner" };
}

function waitingLook(run: Run, task: Task): StatusStyle {
  if (isRunOver(run.status)) return { word: translate("Never started"), tone: "neutral", icon: "minus" };
  if (run.workers[task.id]) return { word: translate("Starting again"), tone: "running", icon: "clock" };
  if (run.status === "confirming") return { word: translate("Planned"), tone: "neutral", icon: "dot" };
  const ready = task.dependencies.every((id) => taskStanding(run, id) === "completed" || run.skipped[id]?.satisfied);
  return ready
    ? { word: translate("Queued"), tone: "neutral", icon: "clock" }
    : { word: translate("Waiting"), tone: "neutral", icon: "dot" };
}

/** Whether the worker of the task waits for an answer, a permission or another decision of the user (`holdsUp`). */
const asks = (run: Run, taskId: string): boolean =>
  Object.values(run.inbox).some((item) => item.taskId === taskId && holdsUp(item));
