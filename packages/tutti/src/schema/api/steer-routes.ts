import { z } from "zod";
import { ORDER_ROUTES } from "./orders.ts";
import { flag } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done } from "./run-values.ts";

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
  ...ORDER_ROUTES,
  "POST /api/orchestrator/:id/activate": {
    summary:
      "Makes the engine act for a run that rests, as `tutti attach` does. A server acts for all its runs by itself.",
    response: Done,
    errors: ["run_not_found"],
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
