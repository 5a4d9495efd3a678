// Roles of server tokens, in ascending order: each role includes all rights of the roles before it.
import { z } from "zod";

export const TOKEN_ROLES = ["view", "operate", "admin"] as const;
export const TokenRole = z.enum(TOKEN_ROLES);
export type TokenRole = z.infer<typeof TokenRole>;

export const allows = (role: TokenRole, needed: TokenRole): boolean =>
  TOKEN_ROLES.indexOf(role) >= TOKEN_ROLES.indexOf(needed);

/** Ten years. A token without this setting does not expire. */
export const MAX_TOKEN_DAYS = 3650;

/** No capitals, because some file systems ignore case. No `_`, because it ends the name within a token. */
export const TokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "1 to 40 characters of a-z, 0-9 and -, without - at the start");
