import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";

const profile = z
  .enum(["strict", "lenient"])
  .default("strict")
  .describe("strict: the form that Tutti writes; lenient: every form that Tutti accepts.");

const ProtocolRow = z.object({
  name: z.string(),
  title: z.string(),
  messages: z.array(z.string()).describe("Message kinds that have a schema."),
  schema: z.string().describe("Path of the JSON Schema for all of them."),
});

const CheckedMessages = z.object({
  valid: z.boolean(),
  messages: z.number().describe("Number of messages found."),
  problems: z.array(
    z.object({
      path: z.string(),
      severity: z.enum(["error", "warning"]),
      code: z.string(),
      sentence: z.string(),
    }),
  ),
});

export const PROTOCOL_ROUTES = {
  "GET /api/protocols": {
    summary: "Lists the message protocols.",
    query: IdPageQuery,
    response: z.array(ProtocolRow),
    errors: [],
  },
  "GET /api/protocols/:name/schema.json": {
    summary: "Returns the JSON Schema of a protocol's messages.",
    query: z.object({ profile }),
    response: z.looseObject({ $schema: z.string(), $id: z.string() }),
    errors: ["not_found"],
  },
  "POST /api/protocols/:name/validate": {
    summary: "Validates a message, a list of messages or the text of an agent's answer, and lists every problem.",
    query: z.object({ profile }),
    body: z.unknown().refine((value) => value !== undefined, "must be a message"),
    response: CheckedMessages,
    errors: ["not_found"],
    role: "view",
  },
} as const satisfies RouteTable;
