import { z } from "zod";
import { eventNumber } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { RunState, RunStatus } from "./run-values.ts";

/** `MAX_IMPORT_BYTES` is larger than any log seen so far, and small enough to import within seconds. */
const MAX_IMPORT_BYTES = 32 * 1024 * 1024;

const ForkBody = z
  .strictObject({
    at: z.number().int().min(1).optional().describe("`runSeq` of the last event to copy. Default: the last event."),
    fresh: z.boolean().default(false).describe("Do not reuse results that the original run produced after `at`."),
  })
  .prefault({});

const Replayed = z.object({
  id: z.string(),
  events: z.number().describe("Number of folded events."),
  status: RunStatus.describe("Status of the run after the last folded event."),
  problems: z.array(z.string()).describe("Problems found in the whole log."),
});

export const LOG_ROUTES = {
  "POST /api/orchestrator/import": {
    summary:
      "Imports an exported run, or an old orchestrators.json. A run that had not ended is paused until you resume it.",
    query: z.object({
      trust: z.string().min(1).optional().describe("Hash of the programs that the user allowed the run to start."),
    }),
    body: z.string().min(1),
    bodyType: "text/plain",
    maxBytes: MAX_IMPORT_BYTES,
    response: z.array(RunState),
    status: 201,
    errors: ["wrong_state", "needs_trust"],
    // An imported log decides which commits are merged, so importing needs full trust.
    role: "admin",
  },
  "GET /api/orchestrator/:id/export": {
    summary: "Exports the log of a run as JSON lines: a header line, then one line per event.",
    response: z.string(),
    type: "application/x-ndjson",
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/replay": {
    summary: "Replays the log of a run and compares the result with the state in use.",
    query: z.object({
      until: eventNumber.optional().describe("Return the status after the event with this `runSeq`."),
    }),
    response: Replayed,
    errors: ["run_not_found", "event_not_found"],
  },
  "POST /api/orchestrator/:id/fork": {
    summary:
      "Creates a new run from the events of this one. If it had not ended, the new run is paused until you resume it.",
    body: ForkBody,
    response: RunState,
    status: 201,
    errors: ["run_not_found", "event_not_found"],
  },
} as const satisfies RouteTable;
