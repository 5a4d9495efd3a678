// Who asks, as far as the server knows: whoever holds a token.
import { TuttiError } from "../schema/error.ts";
import { allows, type TokenRole } from "../schema/token-role.ts";

export interface Holder {
  /** Null for the server's own token. */
  name: string | null;
  role: TokenRole;
  /** Another one for each token, also for the next of the same name. */
  id: string;
}

/** Refuses who may not do what needs the role. Nobody may do anything, so that a way around the door leads nowhere. */
export function mustAllow(holder: Holder | undefined, needed: TokenRole): void {
  if (holder === undefined) throw new TuttiError("unauthorized", "a token is needed");
  if (allows(holder.role, needed)) return;
  const { name, role } = holder;
  throw new TuttiError("needs_role", `this needs a token with the role ${needed}, and ${name} has ${role}`, {
    details: { needed, role },
  });
}
