// The routes of named tokens, and of what the one that asks may do.
import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, time } from "./run-values.ts";
import { MAX_TOKEN_DAYS, TokenName, TokenRole } from "../token-role.ts";

/** What is known of a token once it is made; its secret is not. */
const TokenRow = z.object({
  name: z.string(),
  role: TokenRole,
  createdAt: time,
  expiresAt: time.nullable(),
  expired: z.boolean(),
});

const NewTokenBody = z.strictObject({
  name: TokenName,
  role: TokenRole,
  expiresInDays: z
    .number()
    .int()
    .min(1)
    .max(MAX_TOKEN_DAYS)
    .optional()
    .describe("Without it the token does not expire."),
});

export const TOKEN_ROUTES = {
  "GET /api/access": {
    summary: "Whose token the request carries, and what it allows.",
    response: z.object({
      name: z.string().nullable().describe("Null for the server's own token."),
      role: TokenRole,
    }),
    errors: [],
  },
  "GET /api/tokens": {
    summary: "All named tokens, without their secrets; `after` is the name of one.",
    query: IdPageQuery,
    response: z.array(TokenRow),
    errors: [],
    role: "admin",
  },
  "POST /api/tokens": {
    summary: "Makes a named token; its secret is in the answer, and is told only this once.",
    body: NewTokenBody,
    response: TokenRow.extend({ token: z.string() }),
    status: 201,
    errors: ["token_exists"],
    role: "admin",
  },
  "DELETE /api/tokens/:name": {
    summary: "Revokes a named token; whoever uses it is cut off.",
    response: Done,
    errors: ["token_not_found"],
    role: "admin",
  },
} as const satisfies RouteTable;
