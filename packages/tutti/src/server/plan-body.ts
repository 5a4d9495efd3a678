// What a person may say about a plan over the API, and what a confirmed plan answers.
import { z } from "zod";
import type { Engine } from "../engine/engine.ts";
import { Budget } from "../schema/budget.ts";
import type { Run } from "../schema/run.ts";
import { DEFAULT_PRIORITY, Task } from "../schema/task.ts";

const { title, description, scope, priority, dependencies } = Task.shape;

/** A task that is left out is taken as done (`satisfied`) or blocks what depends on it. */
const Modification = z.strictObject({
  skip: z.boolean().optional(),
  satisfied: z.boolean().optional(),
  priority: priority.optional(),
  title: title.optional(),
  description: description.optional(),
  scope: scope.optional(),
  dependencies: dependencies.optional(),
});

const AddedTask = z.strictObject({
  ...Task.shape,
  scope: scope.default([]),
  priority: priority.default(DEFAULT_PRIORITY),
  dependencies: dependencies.default([]),
});

export const PlanBody = z
  .strictObject({
    modifications: z.record(z.string(), Modification).default({}),
    added: z.array(AddedTask).default([]),
    removed: z.array(z.string()).default([]),
    budget: Budget.default({}),
    /** Of the plan that the person was shown. */
    hash: z.string().optional(),
  })
  .prefault({});

type PlanChanges = NonNullable<Parameters<Engine["confirm"]>[1]>;

export function planChanges({ modifications, added, removed, budget }: z.output<typeof PlanBody>): PlanChanges {
  // A member that was left out leaves the task's own; with exact optional types it must not be there at all.
  return { tasks: modifications as NonNullable<PlanChanges["tasks"]>, added: added as Task[], removed, budget };
}

/** How many sessions were started before the answer, and how many of the other tasks are to be carried out. */
export function encodeConfirmed({ tasks, skipped, workers }: Run) {
  const left = Object.keys(skipped).length;
  const workersCreated = Object.values(workers).filter(({ session }) => session.state !== "spawning").length;
  return { workersCreated, tasksQueued: tasks.length - left - workersCreated, skipped: left };
}
