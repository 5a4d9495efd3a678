// `ChangedPlan` and `EditedPlan` are the user's changes to a plan, as a request or a file holds them.
import { z } from "zod";
import { Budget } from "./budget.ts";
import { DEFAULT_PRIORITY, HostLabels, ModelName, Task } from "./task.ts";

const { title, description, scope, priority, dependencies } = Task.shape;

/** A skipped task blocks its dependents unless it is `satisfied`. */
const Modification = z.strictObject({
  skip: z.boolean().optional(),
  satisfied: z.boolean().optional(),
  priority: priority.optional(),
  title: title.optional(),
  description: description.optional(),
  scope: scope.optional(),
  dependencies: dependencies.optional(),
  /** Null removes the agent of the plan. Another agent removes the `model` of the plan. */
  agent: z.string().min(1).nullable().optional(),
  model: ModelName.nullable().optional(),
  labels: HostLabels.optional(),
});

/** Only the template gives tasks to roles, so `AddedTask` has none. */
const AddedTask = z.strictObject({
  ...Task.omit({ role: true, requirements: true, acceptanceCriteria: true, filesToReview: true }).shape,
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
  /** `hash` of the plan item that the user saw. Another plan is not confirmed. */
  hash: z.string().optional(),
});
export type ChangedPlan = z.infer<typeof ChangedPlan>;

/** Unlike a `ChangedPlan`, has no skipped tasks and no budget, which belong to the confirmation. */
export const EditedPlan = z.strictObject({
  modifications: z.record(z.string(), Modification.omit({ skip: true, satisfied: true })).default({}),
  added: ChangedPlan.shape.added,
  removed: ChangedPlan.shape.removed,
  hash: ChangedPlan.shape.hash,
});
