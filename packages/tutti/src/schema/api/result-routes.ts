import { z } from "zod";
import { bit, fileCount } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { DropReport, MergeReport, ResultDiff } from "./result-values.ts";
import { TaskId } from "../task.ts";

export const RESULT_ROUTES = {
  "GET /api/orchestrator/:id/diff": {
    summary: "Compares the result of a run, or of a task, with the commit that it started from.",
    query: z.object({
      task: TaskId.optional().describe("Compare the work of this task only."),
      stat: bit.default("0").describe("1 leaves out the patches."),
      path: z
        .string()
        .min(1)
        .refine((path) => !path.includes("\0"), "must not contain a NUL character")
        .optional()
        .describe("Only this file or folder, relative to the root of the repository."),
      after: z.string().min(1).optional().describe("Return the files after the one with this path."),
      limit: fileCount.optional().describe("Maximum number of files, at most 500. Without it, all files."),
    }),
    response: ResultDiff,
    errors: ["run_not_found", "task_not_found", "wrong_state", "folder_not_found", "not_a_repository"],
    large: true,
  },
  "POST /api/orchestrator/:id/merge": {
    summary:
      "Merges the result of an ended run into the branch that is checked out in its folder. A refusal changes nothing.",
    body: z
      .strictObject({ noFf: z.boolean().default(false).describe("Create a merge commit instead of a fast-forward.") })
      .prefault({}),
    response: MergeReport,
    errors: ["run_not_found", "wrong_state", "folder_not_found", "not_a_repository"],
  },
  "POST /api/orchestrator/:id/drop": {
    summary: "Removes the branch of an ended run. The refs of its attempts stay.",
    response: DropReport,
    errors: ["run_not_found", "wrong_state", "folder_not_found", "not_a_repository"],
  },
} as const satisfies RouteTable;
