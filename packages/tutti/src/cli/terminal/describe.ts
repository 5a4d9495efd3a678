import {
  describeEvent,
  describeItem,
  PAUSE_WORDS,
  PHASE_WORDS,
  plural,
  withDetail,
  type EventDescription,
} from "../../run/describe-event.ts";
import type { PlanEstimate } from "../../run/plan/estimate.ts";
import type { PauseReason, RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Conflict, Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";

export function describePhase(run: Run): string {
  if (run.outcome !== null) return run.outcome;
  if (run.status === "paused") return "paused";
  if (run.status === "confirming") return "waiting for confirmation";
  return run.currentPhase === null ? run.status : PHASE_WORDS[run.currentPhase];
}

/** Returns null for events that matter to no user. A plan has a line from `orchestrator:tasksReady`. */
export function eventLine(event: RunEvent, run: Run): string | null {
  if (event.type === "inbox:added") return event.data.item.kind === "plan" ? null : itemLine(event.data.item);
  const description = describeEvent(event, run);
  return description && lineOf(description);
}

export function itemLine(item: InboxItem): string {
  // The question of a plan and of a failed task names its subject itself.
  const isComplete = item.kind === "plan" || item.kind === "failure";
  return `${isComplete ? item.question : lineOf(describeItem(item))} (${howToAnswer(item)})`;
}

const lineOf = ({ taskId, headline, detail }: EventDescription): string =>
  withDetail(taskId === null ? headline : `${taskId} ${headline}`, detail);

export function howToAnswer({ id, kind, run, taskId, options, evidence }: InboxItem): string {
  const unsound = ((evidence as { errors?: string[] } | undefined)?.errors ?? []).length > 0;
  if (kind === "plan" && unsound) return `tutti confirm ${run} --edit FILE, or tutti cancel ${run}`;
  if (kind === "plan") return `tutti confirm ${run}, or tutti answer ${id} --reject "WHAT TO CHANGE"`;
  if (kind === "data") return `tutti answer ${id} 'JSON', or tutti retry ${run}`;
  if (kind === "failure") {
    const task = taskId === null ? "" : ` ${taskId}`;
    return `tutti retry ${run}${task}, or tutti answer ${id} --option 1 to ${options?.[1] ?? "leave it"}`;
  }
  if (!options) return `tutti answer ${id} "TEXT"`;
  return `tutti answer ${id} --option N: ${options.map((option, i) => `${i} ${option}`).join(", ")}`;
}

export function describePause({ id, pausedFrom }: Run): string {
  const next = `Resume it with "tutti resume ${id}".`;
  if (pausedFrom === null) return `Run "${id}" is paused. ${next}`;
  const { reason, detail } = pausedFrom;
  if (reason === "environment") return `Run "${id}" is paused. ${detail} ${next}`;
  return `Run "${id}" is paused ${PAUSE_WORDS[reason]}${REASONS_WITH_DETAIL.has(reason) ? ` (${detail})` : ""}. ${next}`;
}

const REASONS_WITH_DETAIL: ReadonlySet<PauseReason> = new Set([
  "hook",
  "usage_limit",
  "provider",
  "storage",
  "failure",
  "breaker",
]);

export function describePlan(run: Run): string[] {
  return run.tasks.map((task) => {
    const after = task.dependencies.length > 0 ? `  (after ${task.dependencies.join(", ")})` : "";
    const because = run.blocked[task.id];
    const standing = run.skipped[task.id] ? "skipped" : run.workers[task.id]?.status;
    const status = because ? `blocked: needs ${because.join(", ")}` : standing;
    return `  ${task.id}  ${task.title}${after}${status ? `  ${status}` : ""}`;
  });
}

export const describeWaitingPlan = (id: string): string[] => [
  `The plan of run ${id} waits for you. Continue with one of these:`,
  `  tutti attach ${id}                     review it again`,
  `  tutti confirm ${id} [--skip TASK]      carry it out, without some tasks`,
  `  tutti confirm ${id} --edit FILE        carry it out with changes`,
  `  tutti cancel ${id}                     cancel the run`,
];

/** The facts that the user needs to confirm a plan: `estimate`, `budget`, critical path, advice and errors. */
export function describePlanFacts({ budget, planErrors, planWarnings }: Run, item: InboxItem | undefined): string[] {
  const { estimate } = (item?.evidence ?? {}) as { estimate?: PlanEstimate };
  const limits = Object.entries(budget).map(([kind, limit]) => (kind === "usd" ? `$${limit}` : `${limit} ${kind}`));
  return [
    ...(estimate ? describeEstimate(estimate) : []),
    `budget: ${limits.length === 0 ? "no limit" : limits.join(", ")}`,
    ...planWarnings.map((warning) => `warning: ${warning}`),
    ...(estimate?.advice ?? []).map((advice) => `advice: ${advice}`),
    ...planErrors.map((error) => `not valid: ${error}`),
  ];
}

function describeEstimate({ basis, samples, minutes, usd, tokens, criticalPath, criticalMinutes }: PlanEstimate) {
  const source = basis === "guess" ? "a guess without earlier tasks" : `from ${plural(samples, "earlier task")}`;
  const about = (value: number) => `about ${plural(Math.max(1, Math.round(value)), "minute")}`;
  return [
    `estimate: ${about(minutes)}, $${usd.toFixed(2)}, ${tokens} tokens (${source})`,
    `critical path: ${criticalPath.join(" → ")}, ${about(criticalMinutes)}`,
  ];
}

export function describeTask(run: Run, task: Task): string[] {
  const worker = run.workers[task.id];
  const by = [task.agent, task.model].filter((name) => name !== undefined).join(" ");
  const facts: [string, string | undefined][] = [
    ["scope", task.scope.join(", ")],
    ["after", task.dependencies.join(", ")],
    ["priority", String(task.priority)],
    ["by", by],
    ["status", worker?.status],
    ["action", worker?.currentAction ?? undefined],
    ["error", worker?.error ?? undefined],
    ["files", worker?.outputFiles.join(", ")],
  ];
  return [
    `${task.id}  ${task.title}`,
    ...task.description.split("\n").map((line) => `    ${line}`),
    ...facts.flatMap(([name, text]) => (text ? [`    ${name}: ${text}`] : [])),
  ];
}

export const describeTroubles = ({ causes, conflicts, warnings }: Outcome): string[] => [
  ...causes.map((cause) => `  ${cause.taskId} ${cause.status}: ${cause.reason}`),
  ...conflicts.map(describeConflict),
  ...warnings.map((warning) => `  warning: ${warning}`),
];

function describeConflict({ type, files, tasks, resolution, refs }: Conflict): string {
  const between = `in ${files.join(", ")}: ${tasks.join(", ")}`;
  if (type === "overlap") return `  overlap ${between} (merged)`;
  const state = resolution === null ? `not settled; compare ${refs.join(" and ")}` : `settled: ${resolution}`;
  return `  conflict ${between} (${state})`;
}

export function describeOutcome(outcome: Outcome): string[] {
  const { census } = outcome;
  const counts = Object.entries(census).filter(([name, count]) => name !== "planned" && count > 0);
  return [
    `${outcome.outcome ?? outcome.status}: ${census.planned} planned${counts.map(([name, count]) => `, ${count} ${name}`).join("")}`,
    ...(outcome.error === null ? [] : [`  ${outcome.error}`]),
    ...describeTroubles(outcome),
    ...(outcome.branch === null
      ? []
      : [`${plural(outcome.outputFiles.length, "file")} changed on branch ${outcome.branch}`]),
    ...(outcome.outputFiles.length === 0 ? [] : [nextSteps(outcome.id)]),
  ];
}

export const nextSteps = (id: string): string =>
  `Look at it with "tutti diff ${id}", take it with "tutti merge ${id}", or remove it with "tutti drop ${id}".`;
