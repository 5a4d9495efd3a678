// `checkedLookup` resolves a host name for a connection and rejects it if one of its addresses is internal. The socket
// connects to the addresses checked here, so DNS rebinding between the check and the connection has no effect.
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./address-rules.ts";

/** Thrown before a connection is made; a retry cannot succeed. */
export class RefusedAddress extends Error {}

export const internalAddress = (host: string): RefusedAddress =>
  new RefusedAddress(`${host} is an internal address. Set notifications.allowInternal to true to allow it.`);

/** Returns null if every address is public (`isPublicAddress`); one internal address is enough to refuse the name. */
export const whyRefused = (host: string, found: readonly LookupAddress[]): Error | null =>
  found.every(({ address }) => isPublicAddress(address)) ? null : internalAddress(host);

export const checkedLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    const first = found?.[0];
    if (error || first === undefined) return done(error ?? new Error(`${host} has no address`), "");
    const refusal = whyRefused(host, found);
    if (refusal !== null) return done(refusal, "");
    if (options.all) return done(null, found);
    return done(null, first.address, first.family);
  });
};
