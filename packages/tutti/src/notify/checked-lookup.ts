// Finds the addresses of a name for a connection, and refuses if one of them is internal. The connection goes to what was
// checked here, so a name that changes its address between a check and the use of it gains nothing.
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./address-rules.ts";

/** Why a connection was refused before it was made; trying again cannot help. */
export class RefusedAddress extends Error {}

export const internalAddress = (host: string): RefusedAddress =>
  new RefusedAddress(`${host} is an address of this machine or its networks, and allowInternal is not set`);

/** Null if all that a name stands for may be connected to; one that may not is enough to refuse the name. */
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
