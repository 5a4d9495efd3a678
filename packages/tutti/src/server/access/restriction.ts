import type { Context } from "hono";
import type { Bindings } from "../decode.ts";

/**
 * A server sets `RESTRICT_HEADER` to its own restriction on a request that it forwards, because the other server carries
 * it out with its own token. The header can only forbid more, so a client may send it, too.
 */
export const RESTRICT_HEADER = "tutti-restrict";

const BEYOND_LOOPBACK = "on a server that listens beyond loopback";
const LOWER_ROLE = "with a token that lacks the role admin";

/** `restrictionOf` completes "rejected …"; null if the request may name programs. */
export function restrictionOf(onlyNamedAgents: boolean, c: Context<Bindings>): string | null {
  const forwarded = c.req.header(RESTRICT_HEADER);
  if (onlyNamedAgents || forwarded === BEYOND_LOOPBACK) return BEYOND_LOOPBACK;
  return c.get("holder")?.role === "admin" && forwarded === undefined ? null : LOWER_ROLE;
}
