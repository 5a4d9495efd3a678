// From what the main session proposed to the tasks of the run.
import { planErrors } from "./graph.ts";
import type { TaskListAnswer } from "../schema/answer.ts";
import { RESERVED_TASK_IDS, TaskId } from "../schema/ids.ts";
import { DEFAULT_PRIORITY, PRIORITY_WORDS, type Task } from "../schema/task.ts";

/** The tasks as far as they can be read, and every reason why they cannot be carried out. */
export function readPlan(answer: TaskListAnswer): { tasks: Task[]; errors: string[] } {
  const errors: string[] = [];
  const tasks = answer.tasks.map((task): Task => {
    // The names that every object has would be found where no task of that name is.
    if (!TaskId.safeParse(task.id).success || RESERVED_TASK_IDS.has(task.id) || task.id in Object.prototype) {
      errors.push(`${JSON.stringify(task.id.slice(0, 120))} cannot be used as a task id`);
    }
    if (task.title.trim() === "") errors.push(`task ${task.id} has an empty title`);
    if (task.description.trim() === "") errors.push(`task ${task.id} has an empty description`);
    return {
      id: task.id,
      title: task.title,
      description: task.description,
      scope: task.scope ?? [],
      priority: readPriority(task.priority),
      dependencies: [...new Set(task.dependencies ?? [])],
      ...(task.estimated_tokens === undefined ? {} : { estimatedTokens: Math.max(0, task.estimated_tokens) }),
    };
  });
  return { tasks, errors: [...errors, ...planErrors(tasks)] };
}

/** 1 is the most urgent, 10 the least; numbers outside are brought to the nearer end. */
export function readPriority(priority: number | keyof typeof PRIORITY_WORDS | undefined): number {
  if (priority === undefined) return DEFAULT_PRIORITY;
  if (typeof priority === "string") return PRIORITY_WORDS[priority];
  return Math.min(10, Math.max(1, priority));
}
