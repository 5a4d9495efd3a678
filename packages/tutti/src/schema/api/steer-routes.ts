// Routes that start, steer and remove a run.
import { z } from "zod";
import { flag, words } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done } from "./run-values.ts";
import { TaskId } from "../ids.ts";
import { ChangedPlan } from "../plan-changes.ts";

const GivenDecision = z
  .strictObject({
    index: z.number().int().min(0).describe("The `index` of the decision's inbox item."),
    option: z.number().int().min(0).optional(),
    text: words.optional(),
  })
  .refine(
    ({ option, text }) => (option === undefined) !== (text === undefined),
    "must have either an option or a text",
  );
export type GivenDecision = z.infer<typeof GivenDecision>;

const Confirmed = z.object({
  workersCreated: z.number().describe("Number of sessions started before this response."),
  tasksQueued: z.number().describe("Number of other tasks that are not skipped."),
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
/** Same as `CleanupBody`, for clients that send no body with DELETE. */
const CleanupQuery = z.strictObject({
  archiveWorkers: flag.optional().describe("Archive the session folders. Default: true."),
  deleteWorkers: flag.optional().describe("Delete the session folders. Default: false."),
  removeState: flag.optional().describe("Remove the run from the log. Default: true."),
  onlyEnded: flag
    .optional()
    .describe("Reject the request if the run has not ended or has open inbox items. Default: false."),
});

export const STEER_ROUTES = {
  "POST /api/orchestrator/:id/start": {
    summary: "Starts a created run.",
    response: Done,
    errors: ["run_not_found", "wrong_state", "folder_not_found", "not_a_repository", "empty_repository"],
  },
  "POST /api/orchestrator/:id/pause": {
    summary: "Pauses a run.",
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/resume": {
    summary: "Resumes a paused run.",
    response: Done,
    errors: ["run_not_found", "wrong_state", "budget_exhausted"],
  },
  "POST /api/orchestrator/:id/cancel": {
    summary: "Cancels a run. Completed work stays.",
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/confirm-tasks": {
    summary: "Confirms the plan, with the changes in the body.",
    // An empty body confirms the plan without changes.
    body: ChangedPlan.prefault({}),
    response: Confirmed,
    errors: ["run_not_found", "wrong_state", "invalid_plan"],
  },
  "POST /api/orchestrator/:id/request-changes": {
    summary: "Rejects the plan and requests the changes in `text`.",
    body: z.strictObject({ text: words }),
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/decisions": {
    summary: "Answers decisions that merging needs.",
    body: z.strictObject({ decisions: z.array(GivenDecision).min(1) }),
    response: Done,
    errors: ["run_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/message": {
    summary: "Sends a message to the worker of `taskId`, or to the main session. Its next turn includes the message.",
    body: z.strictObject({ text: words, taskId: TaskId.optional() }),
    response: Done,
    errors: ["run_not_found", "task_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/retry": {
    summary: "Retries a task that did not complete. An ended run is reopened.",
    body: z.strictObject({ taskId: TaskId }),
    response: Done,
    errors: ["run_not_found", "task_not_found", "wrong_state"],
  },
  "DELETE /api/orchestrator/:id": {
    summary: "Removes a run and cancels it first if necessary. Its branch and refs stay.",
    query: CleanupQuery,
    body: CleanupBody,
    response: Done,
    errors: ["run_not_found", "wrong_state", "workspace_failed"],
    role: "admin",
  },
} as const satisfies RouteTable;
