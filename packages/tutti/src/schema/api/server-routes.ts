// The routes of the server itself: how it is, what it can do, and what happens.
import { z } from "zod";
import { afterNumber, tailCount } from "./query.ts";
import type { RouteTable } from "./route.ts";

export const SERVER_ROUTES = {
  "GET /api/health": {
    summary: "Whether the server is there, and which version it is.",
    response: z.object({ status: z.literal("ok"), version: z.string() }),
    errors: [],
    open: true,
  },
  "GET /api/openapi.json": {
    summary: "This description.",
    response: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
    errors: [],
  },
  "GET /api/docs": { summary: "The description as a page.", response: z.string(), type: "text/html", errors: [] },
  "GET /metrics": {
    summary: "Figures of the server and its runs, in the text format of Prometheus.",
    response: z.string(),
    type: "text/plain",
    errors: [],
  },
  "GET /api/events": {
    summary: "Events as they happen, as server-sent events or, when the request asks to upgrade, over a WebSocket.",
    query: z.object({
      after: afterNumber.optional().describe("The last `seq` that was seen; 0 is everything, without it begins now."),
      tail: tailCount
        .optional()
        .describe(
          "Without `after`: first the last so many stored events that match `run` and `types`, then what comes.",
        ),
      run: z.string().min(1).optional().describe("Only this run's events."),
      types: z.string().optional().describe("Only events of these types, separated by commas."),
    }),
    headers: { "Last-Event-ID": "As `after`, and counts more: how far a client came that reconnects by itself." },
    response: z.string(),
    type: "text/event-stream",
    errors: ["run_not_found"],
  },
} as const satisfies RouteTable;
