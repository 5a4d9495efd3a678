import { OWNER, type AccessRequest, type RequestAccess } from "./access.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { TuttiError } from "../../schema/error.ts";

/** Browsers cannot open a Unix socket, so `checkSocketOrigin` rejects a forwarded request. */
export function checkSocketOrigin({ headers }: AccessRequest): void {
  if (headers.origin === undefined) return;
  throw new TuttiError("forbidden", 'Requests of web pages are rejected here. Start "tutti serve" for a browser.');
}

/**
 * The mode of the Unix socket admits only its owner, so a request needs no token and has all rights. With
 * `authorization` it has the rights of that named token, because a command may act for its holder.
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
