import type { Holder } from "./holder.ts";
import type { Engine } from "../../engine/engine.ts";

/** `Hide` replaces the secrets in a value. */
export type Hide = <T>(value: T) => T;

/**
 * A server sets `HIDE_HEADER` on a request of the role view that it forwards, because the other server carries it out with
 * its own token. The header can only hide more, so a client may send it, too.
 */
export const HIDE_HEADER = "tutti-hide";

/**
 * The role view must not see a secret, and other roles read everything as it is stored. Templates contain secrets, and
 * so do logs and transcripts that earlier versions stored.
 */
export const hideFor = (
  holder: Holder | undefined,
  engine: Pick<Engine, "hideSecrets">,
  header?: string,
): Hide | null => (holder?.role === "view" || header !== undefined ? (value) => engine.hideSecrets(value) : null);
