import { planErrors } from "./graph.ts";
import { readInterfaces } from "./interfaces.ts";
import type { TaskListAnswer } from "../../schema/answer.ts";
import { RESERVED_TASK_IDS } from "../../schema/ids.ts";
import { DEFAULT_PRIORITY, HostLabels, ModelName, PRIORITY_WORDS, TaskId, type Task } from "../../schema/task.ts";
import { workingRoles, type TeamRoles } from "../../schema/team/roles.ts";
import type { Template } from "../../schema/template.ts";
import { sentence } from "../../sentence.ts";

export interface Plan {
  tasks: Task[];
  errors: string[];
  warnings: string[];
  /** The agent's order if it is a `soundOrder`, else null. */
  executionOrder: string[] | null;
}

/**
 * `errors` make the plan invalid, `warnings` do not. A task keeps its agent only if `assignable` has it, because a
 * model must not choose a program to run.
 */
export function readPlan(
  answer: TaskListAnswer,
  template: Template,
  msByTitle: Record<string, number> = {},
  assignable: ReadonlySet<string> = new Set(),
): Plan {
  const dropped: string[] = [];
  const highestFirst = template.config.priorityOrder === "highest-first";
  const owned = readInterfaces(answer, dropped);
  const tasks = answer.tasks.map((task): Task => {
    const interfaces = owned.get(task.id)!;
    const expectedMs = Object.hasOwn(msByTitle, task.title) ? msByTitle[task.title] : undefined;
    return {
      id: task.id,
      title: task.title,
      description: task.description,
      scope: task.scope ?? [],
      priority: readPriority(task.priority, highestFirst),
      dependencies: [...new Set(task.dependencies ?? [])],
      ...(task.estimated_tokens === undefined ? {} : { estimatedTokens: Math.max(0, task.estimated_tokens) }),
      ...(expectedMs === undefined ? {} : { expectedMs }),
      ...readAgent(task, assignable, dropped),
      ...readRole(task, template.roles, dropped),
      ...readLabels(task, dropped),
      ...(interfaces.length > 0 ? { interfaces } : {}),
    };
  });
  const { errors, warnings } = checkPlan(tasks, template);
  const executionOrder = soundOrder(tasks, answer.execution_order);
  return { tasks, executionOrder, errors, warnings: [...warnings, ...dropped] };
}

/** A `model` belongs to its agent: it is dropped with it. */
function readAgent(
  { id, agent, model }: TaskListAnswer["tasks"][number],
  assignable: ReadonlySet<string>,
  dropped: string[],
): Pick<Task, "agent" | "model"> {
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
  const isAssignable = typeof agent === "string" && assignable.has(agent);
  if (isGiven(agent) && !isAssignable) {
    dropped.push(
      sentence("task {taskId} names the agent {agent}, which is not configured, so it uses the usual agent", {
        taskId: id,
        agent: shown(agent),
      }),
    );
    return {};
  }
  const known = ModelName.safeParse(model);
  if (isGiven(model) && !known.success)
    dropped.push(
      sentence("task {taskId} names the model {model}, which is not a name, so it uses the usual model", {
        taskId: id,
        model: shown(model),
      }),
    );
  return { ...(isAssignable ? { agent } : {}), ...(isGiven(model) && known.success ? { model: known.data } : {}) };
}

/**
 * In a team that its lead plans, every task has a role: the one that the plan names, or the first of `workingRoles`.
 */
function readRole(
  { id, ...task }: TaskListAnswer["tasks"][number],
  roles: TeamRoles | undefined,
  dropped: string[],
): Pick<Task, "role" | "acceptanceCriteria"> {
  if (!roles) return {};
  const working = workingRoles(roles);
  const named = task["role"];
  const role = working.find((name) => name === named || roles[name]!.aliases.some((alias) => alias === named));
  if (named !== undefined && role === undefined)
    dropped.push(
      sentence("task {taskId} names the role {name}, which has no tasks, so {other} does it", {
        taskId: id,
        name: shown(named),
        other: working[0]!,
      }),
    );
  const listed = task["acceptance_criteria"];
  const criteria = (Array.isArray(listed) ? listed : []).filter((each) => typeof each === "string" && each !== "");
  return { role: role ?? working[0]!, ...(criteria.length > 0 ? { acceptanceCriteria: criteria as string[] } : {}) };
}

function readLabels({ id, labels }: TaskListAnswer["tasks"][number], dropped: string[]): Pick<Task, "labels"> {
  if (labels === undefined || labels === null) return {};
  const known = HostLabels.safeParse(labels);
  if (known.success) return Object.keys(known.data).length > 0 ? { labels: known.data } : {};
  dropped.push(
    sentence("task {taskId} names the labels {labels}, which are not names with texts, so it needs none", {
      taskId: id,
      labels: shown(labels),
    }),
  );
  return {};
}

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 120);

type PlanProblems = Pick<Plan, "errors" | "warnings">;

/** By tasks: most plans are confirmed as they were proposed. Lists of tasks are replaced as a whole, never mutated. */
const checked = new WeakMap<readonly Task[], { template: Template; problems: PlanProblems }>();

/** `tasks` come from an agent or from the user. */
export function checkPlan(tasks: readonly Task[], template: Template): PlanProblems {
  const known = checked.get(tasks);
  if (known?.template === template) return known.problems;
  const errors = tasks.flatMap((task) => taskErrors(task));
  const problems = { errors: [...errors, ...planErrors(tasks)], warnings: planWarnings(tasks, template) };
  checked.set(tasks, { template, problems });
  return problems;
}

function taskErrors({ id, title, description }: Task): string[] {
  const errors: string[] = [];
  // Reject members of `Object.prototype`: looking up such an id in a plain object would find the member.
  if (!TaskId.safeParse(id).success || RESERVED_TASK_IDS.has(id) || id in Object.prototype) {
    errors.push(sentence("{id} cannot be used as a task id", { id: JSON.stringify(id.slice(0, 120)) }));
  }
  if (title.trim() === "") errors.push(sentence("task {taskId} has an empty title", { taskId: id }));
  if (description.trim() === "") errors.push(sentence("task {taskId} has an empty description", { taskId: id }));
  return errors;
}

function planWarnings(tasks: readonly Task[], template: Template): string[] {
  const { minTasks, maxTasks, requireDependencies, requireScope } = template.phases.taskPlanning.validation;
  const warnings: string[] = [];
  const count = tasks.length;
  if (count < minTasks)
    warnings.push(sentence("the plan has {count} tasks, fewer than {limit}", { count, limit: minTasks }));
  if (count > maxTasks)
    warnings.push(sentence("the plan has {count} tasks, more than {limit}", { count, limit: maxTasks }));
  const unscoped = tasks.filter(({ scope }) => scope.length === 0).map(({ id }) => id);
  if (requireScope && unscoped.length > 0)
    warnings.push(sentence("without a scope: {tasks}", { tasks: unscoped.slice(0, 10).join(", ") }));
  if (requireDependencies && tasks.length > 1 && tasks.every(({ dependencies }) => dependencies.length === 0)) {
    warnings.push(sentence("no task depends on another"));
  }
  return warnings;
}

/** Returns `order` if it names every task once and no task before its dependencies, else null. */
export function soundOrder(tasks: readonly Task[], order: readonly string[] | undefined | null): string[] | null {
  const place = new Map(order?.map((id, index) => [id, index]));
  if (!order || order.length !== tasks.length || place.size !== tasks.length) return null;
  const sound = tasks.every(({ id, dependencies }) => {
    const position = place.get(id);
    return position !== undefined && dependencies.every((needed) => (place.get(needed) ?? position) < position);
  });
  return sound ? [...order] : null;
}

/** Clamps numbers to 1 (most urgent) to 10. `highestFirst` reverses the agent's scale. */
export function readPriority(priority: number | keyof typeof PRIORITY_WORDS | undefined, highestFirst = false): number {
  if (priority === undefined) return DEFAULT_PRIORITY;
  if (typeof priority === "string") return PRIORITY_WORDS[priority];
  const within = Math.min(10, Math.max(1, priority));
  return highestFirst ? 11 - within : within;
}
