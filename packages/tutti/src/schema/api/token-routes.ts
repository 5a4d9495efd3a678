import { z } from "zod";
import { IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, time } from "./run-values.ts";
import { MAX_TOKEN_DAYS, TOKEN_ROLES } from "../token-role.ts";

export const TokenRoleName = z.enum(TOKEN_ROLES);

/**
 * `TokenName` has no capitals, because some file systems ignore case, and no `_`, because it ends the name within a
 * token.
 */
export const TokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "1 to 40 characters of a-z, 0-9 and -, without - at the start");

/** `TokenRow` has no secret, because secrets are not stored. */
const TokenRow = z.object({
  name: z.string(),
  role: TokenRoleName,
  createdAt: time,
  expiresAt: time.nullable(),
  expired: z.boolean(),
});

const NewTokenBody = z.strictObject({
  name: TokenName,
  role: TokenRoleName,
  expiresInDays: z.number().int().min(1).max(MAX_TOKEN_DAYS).optional().describe("Default: the token does not expire."),
});

export const TOKEN_ROUTES = {
  "GET /api/access": {
    summary: "Returns the name and the role of the request's token.",
    response: z.object({
      name: z.string().nullable().describe("Null for the server's own token."),
      role: TokenRoleName,
    }),
    errors: [],
  },
  "GET /api/tokens": {
    summary: "Lists all named tokens without their secrets. `after` is a name.",
    query: IdPageQuery,
    response: z.array(TokenRow),
    errors: [],
    role: "admin",
  },
  "POST /api/tokens": {
    summary: "Creates a named token. Only this response contains its secret.",
    body: NewTokenBody,
    response: TokenRow.extend({ token: z.string() }),
    status: 201,
    errors: ["token_exists"],
    role: "admin",
  },
  "DELETE /api/tokens/:name": {
    summary: "Revokes a named token and closes the connections that use it.",
    response: Done,
    errors: ["token_not_found"],
    role: "admin",
  },
} as const satisfies RouteTable;
