// What a person may change in a plan before it is carried out, as it comes over the wire or in a file.
import { z } from "zod";
import { Budget } from "./budget.ts";
import { DEFAULT_PRIORITY, Task } from "./task.ts";

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

export const ChangedPlan = z.strictObject({
  /** By task id. */
  modifications: z.record(z.string(), Modification).default({}),
  added: z.array(AddedTask).default([]),
  removed: z.array(z.string()).default([]),
  budget: Budget.default({}),
  /** Of the plan that the person was shown. */
  hash: z.string().optional(),
});
export type ChangedPlan = z.infer<typeof ChangedPlan>;
