import type { PauseReason, RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, isWorkerOver } from "../../schema/status.ts";

const PHASES = {
  analysis: "analysing",
  taskPlanning: "planning",
  workerExecution: "working",
  aggregation: "merging the results",
  verification: "verifying",
} as const;

export function describePhase(run: Run): string {
  if (run.outcome !== null) return run.outcome;
  if (run.status === "paused") return "paused";
  if (run.status === "confirming") return "waiting for confirmation";
  return run.currentPhase === null ? run.status : PHASES[run.currentPhase];
}

/** Returns one line for an event that matters to the user, and null for the others. */
export function describeEvent(event: RunEvent, run: Run): string | null {
  switch (event.type) {
    case "orchestrator:created":
      return `run ${event.data.id} with template ${event.data.templateId} on ${event.data.cwd}`;
    case "orchestrator:started":
      return `${PHASES[event.data.phase]} …`;
    case "orchestrator:phaseChanged":
      return event.data.previousPhase === event.data.currentPhase ? null : `${PHASES[event.data.currentPhase]} …`;
    case "orchestrator:paused":
      return `paused ${PAUSES[event.data.reason]}${event.data.detail === "" ? "" : `: ${event.data.detail}`}`;
    case "orchestrator:resumed":
      return "resumed";
    case "orchestrator:changesRequested":
      return `planning again: ${event.data.text}`;
    case "orchestrator:analysisComplete":
      return `analysis: ${event.data.analysis.summary}`;
    case "worker:started":
      return `${event.data.taskId} started: ${run.workers[event.data.taskId]?.task.title ?? ""}`;
    case "worker:progress":
      return event.data.currentAction === null
        ? null
        : `${event.data.taskId} ${event.data.progress} %: ${event.data.currentAction}`;
    case "worker:completed":
      return `${event.data.taskId} completed: ${plural(event.data.outputFiles.length, "file")} changed${event.data.partial ? " (partial)" : ""}${event.data.reused ? `, reused from ${event.data.reused.taskId} of ${event.data.reused.run}` : ""}`;
    case "worker:failed":
    case "worker:timeout":
      return `${event.data.taskId} ${event.type === "worker:failed" ? "failed" : "timed out"}: ${event.data.error}`;
    case "worker:cancelled":
      return `${event.data.taskId} cancelled`;
    case "worker:paused":
      return event.data.by === "person" ? `${event.data.taskId} paused` : null;
    case "worker:resumed":
      return `${event.data.taskId} resumed`;
    case "worker:retrying":
      return `${event.data.taskId} is retried`;
    case "worker:lost":
      return `${event.data.taskId} lost its session and starts a new attempt: ${event.data.reason}`;
    case "main:lost":
      return `the main session was lost and starts again: ${event.data.reason}`;
    case "turn:ended":
      return event.data.problems.length > 0 && !isOver(run, event.data.taskId)
        ? `${event.data.taskId ?? "the main session"} gave no usable answer and is asked again: ${event.data.problems.join(" ")}`
        : null;
    case "inbox:added":
      // `follow` shows the plan and asks for its confirmation.
      return event.data.item.kind === "plan" ? null : describeItem(event.data.item);
    case "task:blocked":
      return `${event.data.taskId} cannot start, because it needs ${event.data.because.join(", ")}`;
    case "workspace:conflict":
      return `conflict in ${event.data.conflict.files.join(", ")} between ${event.data.conflict.tasks.join(" and ")}`;
    case "orchestrator:aggregated":
      return event.data.aggregation.summary ? `merged: ${event.data.aggregation.summary}` : null;
    case "orchestrator:verified":
      return `verification ${event.data.verification.status}${event.data.verification.summary ? `: ${event.data.verification.summary}` : ""}`;
    case "orchestrator:error":
      return `error in ${event.data.operation}: ${event.data.error}`;
    default:
      return null;
  }
}

/** Whether the run, or the worker of `taskId`, has ended. */
function isOver(run: Run, taskId: string | null): boolean {
  const worker = taskId === null ? undefined : run.workers[taskId];
  return isRunOver(run.status) || (worker !== undefined && isWorkerOver(worker.status));
}

export function describeItem(item: InboxItem): string {
  const asks = item.kind === "question" ? `${item.taskId ?? "the main session"} asks: ` : "";
  return `${asks}${item.question} (${howToAnswer(item)})`;
}

export function howToAnswer({ id, kind, run, taskId, options, evidence }: InboxItem): string {
  const unsound = ((evidence as { errors?: string[] } | undefined)?.errors ?? []).length > 0;
  if (kind === "plan" && unsound) return `tutti confirm ${run} --edit FILE, or tutti cancel ${run}`;
  if (kind === "plan") return `tutti confirm ${run}, or tutti answer ${id} --reject "WHAT TO CHANGE"`;
  if (kind === "data") return `tutti answer ${id} 'JSON'`;
  if (kind === "failure") return `tutti retry ${run} ${taskId}, or tutti answer ${id} --option 1 to leave it`;
  if (!options) return `tutti answer ${id} "TEXT"`;
  return `tutti answer ${id} --option N: ${options.map((option, i) => `${i} ${option}`).join(", ")}`;
}

const PAUSES: Record<PauseReason, string> = {
  person: "by the user",
  needs_input: "until you make a decision",
  budget: "because its budget is used up",
  hook: "because a hook failed",
  usage_limit: "until a usage limit ends",
  provider: "because its agents cannot reach their provider",
};

export const describePause = ({ id, pausedFrom }: Run): string =>
  `Run "${id}" is paused${pausedFrom ? ` ${PAUSES[pausedFrom.reason]}${REASONS_WITH_DETAIL.has(pausedFrom.reason) ? ` (${pausedFrom.detail})` : ""}` : ""}. Resume it with "tutti resume ${id}".`;

const REASONS_WITH_DETAIL: ReadonlySet<PauseReason> = new Set(["hook", "usage_limit", "provider"]);

export function describePlan(run: Run): string[] {
  return run.tasks.map((task) => {
    const after = task.dependencies.length > 0 ? `  (after ${task.dependencies.join(", ")})` : "";
    const because = run.blocked[task.id];
    const standing = run.skipped[task.id] ? "skipped" : run.workers[task.id]?.status;
    const status = because ? `blocked: needs ${because.join(", ")}` : standing;
    return `  ${task.id}  ${task.title}${after}${status ? `  ${status}` : ""}`;
  });
}

export function describeOutcome(outcome: Outcome): string[] {
  const { census, conflicts, causes } = outcome;
  const counts = Object.entries(census).filter(([name, count]) => name !== "planned" && count > 0);
  return [
    `${outcome.outcome ?? outcome.status}: ${census.planned} planned${counts.map(([name, count]) => `, ${count} ${name}`).join("")}`,
    ...(outcome.error === null ? [] : [`  ${outcome.error}`]),
    ...causes.map((cause) => `  ${cause.taskId} ${cause.status}: ${cause.reason}`),
    ...conflicts.map((conflict) => `  conflict in ${conflict.files.join(", ")}: ${conflict.tasks.join(", ")}`),
    ...(outcome.branch === null
      ? []
      : [`${plural(outcome.outputFiles.length, "file")} changed on branch ${outcome.branch}`]),
  ];
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
