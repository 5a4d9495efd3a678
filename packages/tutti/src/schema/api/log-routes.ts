// The routes of a run's log as a whole: taken along, taken in, folded again, and gone on from.
import { z } from "zod";
import { eventNumber } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { RunState, RunStatus } from "./run-values.ts";

/** Longer than the log of any run that was seen, and read in a few seconds. */
const MAX_IMPORT_BYTES = 32 * 1024 * 1024;

const ForkBody = z
  .strictObject({
    at: z.number().int().min(1).optional().describe("The event of the run to go on from; its last unless given."),
    fresh: z.boolean().default(false).describe("Do everything again that comes after it, also what was done since."),
  })
  .prefault({});

const Replayed = z.object({
  id: z.string(),
  events: z.number().describe("How many were folded."),
  status: RunStatus.describe("Where the run stood after the last of them."),
  problems: z.array(z.string()).describe("What about the whole log is not as it should be."),
});

export const LOG_ROUTES = {
  "POST /api/orchestrator/import": {
    summary: "Takes in a run that was exported, or an old orchestrators.json; one that was not over can be resumed.",
    query: z.object({
      trust: z.string().min(1).optional().describe("The hash of the programs that the person agreed to let it run."),
    }),
    body: z.string().min(1),
    bodyType: "text/plain",
    maxBytes: MAX_IMPORT_BYTES,
    response: z.array(RunState),
    status: 201,
    errors: ["wrong_state", "needs_trust"],
    // A log says what has been done and what is to be merged: whoever writes one is trusted with the machine.
    role: "admin",
  },
  "GET /api/orchestrator/:id/export": {
    summary: "The run's log as a text to take along: one line that says what it is, then one for each event.",
    response: z.string(),
    type: "application/x-ndjson",
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/replay": {
    summary: "Folds the run's log again, event by event, and checks it against the state in use.",
    query: z.object({ until: eventNumber.optional().describe("Tell how it stood after this event of the run.") }),
    response: Replayed,
    errors: ["run_not_found", "event_not_found"],
  },
  "POST /api/orchestrator/:id/fork": {
    summary: "Makes a new run with the past of this one; one that was not over can be resumed.",
    body: ForkBody,
    response: RunState,
    status: 201,
    errors: ["run_not_found", "event_not_found"],
  },
} as const satisfies RouteTable;
