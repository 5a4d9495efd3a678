import { z } from "zod";
import { afterNumber, tailCount } from "./query.ts";
import type { RouteTable } from "./route.ts";

export const SERVER_ROUTES = {
  "GET /api/health": {
    summary: "Returns the health and the version of the server.",
    response: z.object({ status: z.literal("ok"), version: z.string() }),
    errors: [],
    open: true,
  },
  "GET /api/openapi.json": {
    summary: "Returns this OpenAPI description.",
    response: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
    errors: [],
  },
  "GET /api/docs": {
    summary: "Returns the description as an HTML page.",
    response: z.string(),
    type: "text/html",
    errors: [],
  },
  "GET /metrics": {
    summary: "Returns metrics of the server and its runs in the Prometheus text format.",
    response: z.string(),
    type: "text/plain",
    errors: [],
  },
  "GET /api/events": {
    summary: "Streams events as server-sent events or, if the request asks for an upgrade, over a WebSocket.",
    query: z.object({
      after: afterNumber
        .optional()
        .describe("Send events after this `seq`; 0 sends all. Default: only events from now on."),
      tail: tailCount
        .optional()
        .describe("Without `after`: send this many of the last stored events that match `run` and `types` first."),
      run: z.string().min(1).optional().describe("Send only events of this run."),
      types: z.string().optional().describe("Send only events of these types, separated by commas."),
    }),
    headers: { "Last-Event-ID": "Overrides `after`. Browsers send it when they reconnect." },
    response: z.string(),
    type: "text/event-stream",
    errors: ["run_not_found"],
  },
} as const satisfies RouteTable;
