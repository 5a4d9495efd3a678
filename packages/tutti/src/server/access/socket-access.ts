import { OWNER, type RequestAccess } from "./access.ts";
import { TuttiError } from "../../schema/error.ts";

/**
 * Access through a Unix socket. The mode of its file admits only its owner, so a request needs no token and has all
 * rights. Browsers cannot open a Unix socket; a request with an `Origin` was forwarded, and is rejected.
 */
export const SOCKET_ACCESS: RequestAccess = {
  checkOrigin: ({ headers }) => {
    if (headers.origin === undefined) return;
    throw new TuttiError("forbidden", 'Requests of web pages are rejected here. Start "tutti serve" for a browser.');
  },
  checkToken: () => OWNER,
  holderOf: () => null,
  setCookie: () => "",
};
