// `:key` of `WORKER_ROUTES` is a session id.
import { z } from "zod";
import { IdPageQuery, PageQuery, tailCount, words } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { AggregatedStats, Done, TranscriptEntry, WorkerState } from "./run-values.ts";

export const WORKER_ROUTES = {
  "GET /api/orchestrator/:id/workers": {
    summary: "Lists the newest attempt at each started task. `after` is a `sessionId`.",
    query: IdPageQuery,
    response: z.array(WorkerState),
    errors: ["run_not_found"],
    large: true,
  },
  "GET /api/orchestrator/:id/workers/stats": {
    summary: "Returns totals over all workers of the run.",
    response: AggregatedStats,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/workers/:key": {
    summary: "Returns one attempt, the newest or an older one.",
    response: WorkerState,
    errors: ["run_not_found", "worker_not_found"],
  },
  "GET /api/orchestrator/:id/workers/:key/transcript": {
    summary: "Returns the transcript of a session. `after` is the `n` of an entry.",
    query: PageQuery.extend({
      tail: tailCount.optional().describe("Return this many of the last entries instead, in order."),
      find: words.optional().describe("Return only the entries that contain these words, whatever the case."),
    }),
    response: z.array(TranscriptEntry),
    errors: ["run_not_found", "worker_not_found"],
  },
  "GET /api/orchestrator/:id/workers/:key/transcript/export": {
    summary: "Exports the whole transcript of a session as JSON lines.",
    response: z.string(),
    type: "application/x-ndjson",
    errors: ["run_not_found", "worker_not_found"],
  },
  "POST /api/orchestrator/:id/workers/:key/pause": {
    summary: "Pauses a worker. The pause does not count against its timeout.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/resume": {
    summary: "Resumes a paused worker.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/cancel": {
    summary: "Cancels a worker and its task.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state"],
  },
  "POST /api/orchestrator/:id/workers/:key/retry": {
    summary: "Retries the worker's task. The key may also be the id of a task.",
    response: Done,
    errors: ["run_not_found", "worker_not_found", "wrong_state", "gate_closed"],
  },
} as const satisfies RouteTable;
