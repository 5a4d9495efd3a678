// What a token of the server allows. Each role may do all that the ones before it may.
import { z } from "zod";

export const TOKEN_ROLES = ["view", "operate", "admin"] as const;
export const TokenRole = z.enum(TOKEN_ROLES);
export type TokenRole = z.infer<typeof TokenRole>;

/** Whether who has the one role may do what needs the other. */
export const allows = (role: TokenRole, needed: TokenRole): boolean =>
  TOKEN_ROLES.indexOf(role) >= TOKEN_ROLES.indexOf(needed);

/** Ten years; what should last longer does not expire. */
export const MAX_TOKEN_DAYS = 3650;

/** Without capitals, because there are file systems that do not tell them apart; without `_`, which ends it in a token. */
export const TokenName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "1 to 40 of a-z, 0-9 and -, no - at the start");
