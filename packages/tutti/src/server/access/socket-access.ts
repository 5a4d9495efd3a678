import { OWNER, type AccessRequest, type RequestAccess } from "./access.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { TuttiError } from "../../schema/error.ts";

/** Browsers cannot open a Unix socket. A request with an `Origin` was forwarded. */
export function checkSocketOrigin({ headers }: AccessRequest): void {
  if (headers.origin === undefined) return;
  throw new TuttiError("forbidden", 'Requests of web pages are rejected here. Start "tutti serve" for a browser.');
}

/**
 * Access through a Unix socket. The mode of its file admits only its owner, so a request needs no token and has all
 * rights. One with a named token has the rights of that token, because a command may act for its holder.
 */
export const socketAccess = (tokens: NamedTokens): RequestAccess => ({
  checkOrigin: checkSocketOrigin,
  checkToken: ({ headers: { authorization } }) => {
    if (authorization === undefined) return OWNER;
    const holder = tokens.find(authorization.replace(/^Bearer +/i, ""));
    if (holder) return holder;
    throw new TuttiError("unauthorized", "The token is wrong, expired or revoked. Send none, or a valid named token.");
  },
  holderOf: () => null,
  setCookie: () => "",
});
