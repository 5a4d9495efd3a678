import { planErrors } from "./graph.ts";
import { readInterfaces } from "./interfaces.ts";
import type { TaskListAnswer } from "../../schema/answer.ts";
import { RESERVED_TASK_IDS } from "../../schema/ids.ts";
import { DEFAULT_PRIORITY, HostLabels, ModelName, PRIORITY_WORDS, TaskId, type Task } from "../../schema/task.ts";
import { workingRoles, type TeamRoles } from "../../schema/team/roles.ts";
import type { Template } from "../../schema/template.ts";

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
    dropped.push(`task ${id} names the agent ${shown(agent)}, which is not configured, so it uses the usual agent`);
    return {};
  }
  const known = ModelName.safeParse(model);
  if (isGiven(model) && !known.success)
    dropped.push(`task ${id} names the model ${shown(model)}, which is not a name, so it uses the usual model`);
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
    dropped.push(`task ${id} names the role ${shown(named)}, which has no tasks, so ${working[0]} does it`);
  const listed = task["acceptance_criteria"];
  const criteria = (Array.isArray(listed) ? listed : []).filter((each) => typeof each === "string" && each !== "");
  return { role: role ?? working[0]!, ...(criteria.length > 0 ? { acceptanceCriteria: criteria as string[] } : {}) };
}

function readLabels({ id, labels }: TaskListAnswer["tasks"][number], dropped: string[]): Pick<Task, "labels"> {
  if (labels === undefined || labels === null) return {};
  const known = HostLabels.safeParse(labels);
  if (known.success) return Object.keys(known.data).length > 0 ? { labels: known.data } : {};
  dropped.push(`task ${id} names the labels ${shown(labels)}, which are not names with texts, so it needs none`);
  return {};
}

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 120);

/** `tasks` come from an agent or from the user. */
export function checkPlan(tasks: readonly Task[], template: Template): Pick<Plan, "errors" | "warnings"> {
  const errors = tasks.flatMap((task) => taskErrors(task));
  return { errors: [...errors, ...planErrors(tasks)], warnings: planWarnings(tasks, template) };
}

function taskErrors({ id, title, description }: Task): string[] {
  const errors: string[] = [];
  // Reject members of `Object.prototype`: looking up such an id in a plain object would find the member.
  if (!TaskId.safeParse(id).success || RESERVED_TASK_IDS.has(id) || id in Object.prototype) {
    errors.push(`${JSON.stringify(id.slice(0, 120))} cannot be used as a task id`);
  }
  if (title.trim() === "") errors.push(`task ${id} has an empty title`);
  if (description.trim() === "") errors.push(`task ${id} has an empty description`);
  return errors;
}

function planWarnings(tasks: readonly Task[], template: Template): string[] {
  const { minTasks, maxTasks, requireDependencies, requireScope } = template.phases.taskPlanning.validation;
  const warnings: string[] = [];
  if (tasks.length < minTasks) warnings.push(`the plan has ${tasks.length} tasks, fewer than ${minTasks}`);
  if (tasks.length > maxTasks) warnings.push(`the plan has ${tasks.length} tasks, more than ${maxTasks}`);
  const unscoped = tasks.filter(({ scope }) => scope.length === 0).map(({ id }) => id);
  if (requireScope && unscoped.length > 0) warnings.push(`without a scope: ${unscoped.slice(0, 10).join(", ")}`);
  if (requireDependencies && tasks.length > 1 && tasks.every(({ dependencies }) => dependencies.length === 0)) {
    warnings.push("no task depends on another");
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
