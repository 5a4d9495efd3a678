import { TuttiError } from "../../schema/error.ts";
import { allows, type TokenRole } from "../../schema/token-role.ts";

export interface Holder {
  /** `name` is null for the server's own token. */
  name: string | null;
  role: TokenRole;
  /** `id` is unique per token, also among tokens that reuse a `name`. */
  id: string;
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
