// The routes by which a person steers a run.
import { z } from "zod";
import { flag, words } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done } from "./run-values.ts";
import { TaskId } from "../ids.ts";
import { ChangedPlan } from "../plan-changes.ts";

const GivenDecision = z
  .strictObject({
    index: z.number().int().min(0).describe("Its place among the decisions that are asked for."),
    option: z.number().int().min(0).optional(),
    text: words.optional(),
  })
  .refine(({ option, text }) => (option === undefined) !== (text === undefined), "either an option or a text");
export type GivenDecision = z.infer<typeof GivenDecision>;

/** What became of the tasks of a plan in the moment it was confirmed. */
const Confirmed = z.object({
  workersCreated: z.number().describe("Sessions started before the answer."),
  tasksQueued: z.number().describe("All other tasks that are not left out."),
  skipped: z.number(),
});

const CleanupBody = z
  .strictObject({
    archiveWorkers: z.boolean().optional(),
    deleteWorkers: z.boolean().optional(),
    removeState: z.boolean().optional(),
    onlyEnded: z.boolean().optional(),
  })
  .prefault({});
/** The same in the address, for clients that send no body with DELETE. */
const CleanupQuery = z.strictObject({
  archiveWorkers: flag.optional().describe("Pack the sessions' folders; true unless given."),
  deleteWorkers: flag.optional().describe("Remove the sessions' folders; false unless given."),
  removeState: flag.optional().describe("Take the run out of the log; true unless given."),
  onlyEnded: flag.optional().describe("Refuse if it is not over, or something in it waits; false unless given."),
});

export const STEER_ROUTES = {
  "POST /api/orchestrator/:id/start": {
    summary: "Starts a run that was created.",
    response: Done,
    errors: ["run_not_found", "wrong_state", "folder_not_found", "not_a_repository", "empty_repository"],
  },
  "POST /api/orchestrator/:id/pause": {
    summary: "Pauses a run where it is.",
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/resume": {
    summary: "Lets a paused run go on.",
    response: Done,
    errors: ["run_not_found", "wrong_state", "budget_exhausted"],
  },
  "POST /api/orchestrator/:id/cancel": {
    summary: "Ends a run; what was done stays.",
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/confirm-tasks": {
    summary: "Carries the plan out, with the person's changes.",
    // Without a body the plan is confirmed as it stands.
    body: ChangedPlan.prefault({}),
    response: Confirmed,
    errors: ["run_not_found", "wrong_state", "invalid_plan"],
  },
  "POST /api/orchestrator/:id/request-changes": {
    summary: "Sends the plan back, with what should be different.",
    body: z.strictObject({ text: words }),
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/decisions": {
    summary: "Decides what merging needs decided.",
    body: z.strictObject({ decisions: z.array(GivenDecision).min(1) }),
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/message": {
    summary: "Says something to the main session or to the worker of a task, which hears it with its next turn.",
    body: z.strictObject({ text: words, taskId: TaskId.optional() }),
    response: Done,
    errors: ["run_not_found", "task_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/retry": {
    summary: "Tries a task again that did not complete; a run that is over goes on for it.",
    body: z.strictObject({ taskId: TaskId }),
    response: Done,
    errors: ["run_not_found", "task_not_found", "wrong_state"],
  },
  "DELETE /api/orchestrator/:id": {
    summary: "Removes a run; one that is not over is cancelled first. Its branch and refs stay.",
    query: CleanupQuery,
    body: CleanupBody,
    response: Done,
    errors: ["run_not_found", "wrong_state", "workspace_failed"],
    role: "admin",
  },
} as const satisfies RouteTable;
