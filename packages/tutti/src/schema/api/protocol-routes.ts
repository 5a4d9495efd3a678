// The routes of the four message protocols.
import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";

const profile = z
  .enum(["strict", "lenient"])
  .default("strict")
  .describe("strict: what we write; lenient: what we also accept.");

const ProtocolRow = z.object({
  name: z.string(),
  title: z.string(),
  messages: z.array(z.string()).describe("The kinds of messages that have a schema."),
  schema: z.string().describe("Where the JSON Schema of all of them is."),
});

const CheckedMessages = z.object({
  valid: z.boolean(),
  messages: z.number().describe("How many were found."),
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
    summary: "The message protocols.",
    query: IdPageQuery,
    response: z.array(ProtocolRow),
    errors: [],
  },
  "GET /api/protocols/:name/schema.json": {
    summary: "The JSON Schema of a protocol's messages.",
    query: z.object({ profile }),
    response: z.looseObject({ $schema: z.string(), $id: z.string() }),
    errors: ["not_found"],
  },
  "POST /api/protocols/:name/validate": {
    summary: "Checks a message, a list of messages, or the text of an agent's answer, and tells every problem.",
    query: z.object({ profile }),
    body: z.unknown().refine((value) => value !== undefined, "a message"),
    response: CheckedMessages,
    errors: ["not_found"],
    role: "view",
  },
} as const satisfies RouteTable;
