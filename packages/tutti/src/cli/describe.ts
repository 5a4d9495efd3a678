// Events and states in words.
import type { PauseReason, RunEvent } from "../schema/event.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Outcome } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver } from "../schema/status.ts";

const PHASES = {
  analysis: "analysing",
  taskPlanning: "planning",
  workerExecution: "working",
  aggregation: "merging the results",
  verification: "verifying",
} as const;

/** What a run is doing now, in a few words. */
export function describePhase(run: Run): string {
  if (run.outcome !== null) return run.outcome;
  if (run.status === "paused") return "paused";
  if (run.status === "confirming") return "the plan waits";
  return run.currentPhase === null ? run.status : PHASES[run.currentPhase];
}

/** One line for events a person wants to see; null for the rest. */
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
      return `another plan is made: ${event.data.text}`;
    case "orchestrator:analysisComplete":
      return `analysis: ${event.data.analysis.summary}`;
    case "worker:started":
      return `${event.data.taskId} started: ${run.workers[event.data.taskId]?.task.title ?? ""}`;
    case "worker:progress":
      return event.data.currentAction === null
        ? null
        : `${event.data.taskId} ${event.data.progress} %: ${event.data.currentAction}`;
    case "worker:completed":
      return `${event.data.taskId} completed: ${plural(event.data.outputFiles.length, "file")} changed${event.data.partial ? " (partial)" : ""}${event.data.reused ? `, taken over from ${event.data.reused.taskId} of ${event.data.reused.run}` : ""}`;
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
      return `${event.data.taskId} is tried again`;
    case "worker:lost":
      return `${event.data.taskId} is attempted again: ${event.data.reason}`;
    case "main:lost":
      return `the main session is started again: ${event.data.reason}`;
    case "turn:ended":
      return event.data.problems.length > 0 && !isOver(run, event.data.taskId)
        ? `${event.data.taskId ?? "main session"} is asked again: ${event.data.problems.join(" ")}`
        : null;
    case "inbox:added":
      // The plan is shown and asked about in its own way.
      return event.data.item.kind === "plan" ? null : describeItem(event.data.item);
    case "task:blocked":
      return `${event.data.taskId} cannot start: it needs ${event.data.because.join(", ")}`;
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

/** Whether the task, or the run where there is none, has come to its end. */
function isOver(run: Run, taskId: string | null): boolean {
  const worker = taskId === null ? undefined : run.workers[taskId];
  return isRunOver(run.status) || (worker !== undefined && isWorkerOver(worker.status));
}

/** Something that waits for a person, with what to type. */
export function describeItem(item: InboxItem): string {
  const asks = item.kind === "question" ? `${item.taskId ?? "the main session"} asks: ` : "";
  return `${asks}${item.question} (${howToAnswer(item)})`;
}

export function howToAnswer({ id, kind, run, taskId, options, evidence }: InboxItem): string {
  const unsound = ((evidence as { errors?: string[] } | undefined)?.errors ?? []).length > 0;
  if (kind === "plan" && unsound) return `tutti confirm ${run} --edit FILE, or tutti cancel ${run}`;
  if (kind === "plan") return `tutti confirm ${run}, or tutti answer ${id} --reject "WHAT SHOULD BE DIFFERENT"`;
  if (kind === "data") return `tutti answer ${id} 'JSON'`;
  if (kind === "failure") return `tutti retry ${run} ${taskId}, or to leave it: tutti answer ${id} --option 1`;
  if (!options) return `tutti answer ${id} "TEXT"`;
  return `tutti answer ${id} --option N: ${options.map((option, i) => `${i} ${option}`).join(", ")}`;
}

const PAUSES: Record<PauseReason, string> = {
  person: "by a person",
  needs_input: "for a decision",
  budget: "because its budget is used up",
  hook: "because a hook failed",
  usage_limit: "until a usage limit is over",
  provider: "because its agents cannot reach their provider",
};

/** That a run is paused, and why. */
export const describePause = ({ id, pausedFrom }: Run): string =>
  `${id} is paused${pausedFrom ? ` ${PAUSES[pausedFrom.reason]}${SAYS_WHY.has(pausedFrom.reason) ? `: ${pausedFrom.detail}` : ""}` : ""}`;

const SAYS_WHY: ReadonlySet<PauseReason> = new Set(["hook", "usage_limit", "provider"]);

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
