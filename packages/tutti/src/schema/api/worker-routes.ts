// The routes of workers and of what was said in their sessions. `:key` is the session's name.
import { z } from "zod";
import { IdPageQuery, PageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { AggregatedStats, Done, TranscriptEntry, WorkerState } from "./run-values.ts";

export const WORKER_ROUTES = {
  "GET /api/orchestrator/:id/workers": {
    summary: "The newest attempt at each task that was started; `after` is the `sessionId` of one.",
    query: IdPageQuery,
    response: z.array(WorkerState),
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/workers/stats": {
    summary: "All workers of the run taken together.",
    response: AggregatedStats,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/workers/:key": {
    summary: "One attempt, the newest at its task or an older one.",
    response: WorkerState,
    errors: ["run_not_found", "worker_not_found"],
  },
  "GET /api/orchestrator/:id/workers/:key/transcript": {
    summary: "What was said and done in a session; `after` is the `n` of an entry.",
    query: PageQuery,
    response: z.array(TranscriptEntry),
    errors: ["run_not_found", "worker_not_found"],
  },
  "POST /api/orchestrator/:id/workers/:key/pause": {
    summary: "Pauses a worker; its time stands still.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/resume": {
    summary: "Lets a paused worker go on.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/cancel": {
    summary: "Ends a worker; its task counts as cancelled.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/retry": {
    summary: "Tries the worker's task again.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
} as const satisfies RouteTable;
