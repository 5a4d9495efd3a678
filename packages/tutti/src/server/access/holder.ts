import { TokenName } from "../../schema/api/token-routes.ts";
import { TuttiError } from "../../schema/error.ts";
import { allows, type TokenRole } from "../../schema/token-role.ts";

export interface Holder {
  /** `name` is null for the server's own token. */
  name: string | null;
  role: TokenRole;
  /** `id` is unique per token, also among tokens that reuse a `name`. */
  id: string;
}

/**
 * A server sets `TOKEN_NAME_HEADER` to the name of the client's token on a request that it forwards, because the other
 * server carries it out with its own token.
 */
export const TOKEN_NAME_HEADER = "tutti-token-name";

/**
 * The name of the token behind a request; null for the server's own. A named token cannot pass for another one: the
 * header counts only for the server's own token, whose holder may do everything anyway.
 */
export function tokenNameOf(holder: Holder | undefined, header: string | undefined): string | null {
  return holder?.name ?? TokenName.safeParse(header).data ?? null;
}

/** Throws unless `holder` has the role `needed`. `mustAllow` fails closed: a request without a holder has no rights. */
export function mustAllow(holder: Holder | undefined, needed: TokenRole): void {
  if (holder === undefined)
    throw new TuttiError("unauthorized", "The request has no token. Send one as a bearer token.");
  if (allows(holder.role, needed)) return;
  const { name, role } = holder;
  const message = `The token "${name}" has the role ${role}, and this request needs ${needed}. Use another token.`;
  throw new TuttiError("needs_role", message, { details: { needed, role } });
}
