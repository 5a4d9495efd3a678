// `readAddress` accepts only loopback: the DevTools Protocol has no authentication, and a remote debugger is not one
// that the user enabled on this machine.
import { TuttiError } from "../../../schema/error.ts";

export interface DebuggerAddress {
  /** With the port: `127.0.0.1:9222`. */
  host: string;
  /** The path of one target; null to search the debugger's list. */
  target: string | null;
  /** A part of the page's title or URL; "" for any page. */
  page: string;
}

export function readAddress(rest: string): DebuggerAddress {
  const hash = rest.indexOf("#");
  const written = hash < 0 ? rest : rest.slice(0, hash);
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "ws:"))
    throw new TuttiError("agent_unknown", `${show(rest)} is not the address of a debugger. ${EXAMPLE}`);
  if (!isLoopback(url.hostname)) {
    const problem = `The debugger ${show(written)} is on ${show(url.hostname)}, not on this machine.`;
    throw new TuttiError("agent_not_startable", `${problem} Use one on localhost.`);
  }
  if (url.username !== "" || url.password !== "")
    throw new TuttiError("agent_unknown", `The address of a debugger has no user name and no password. ${EXAMPLE}`);
  const path = `${url.pathname}${url.search}`;
  if (url.protocol === "http:" && path !== "/")
    throw new TuttiError("agent_unknown", `${show(written)} is the address of a page, not of a debugger. ${EXAMPLE}`);
  return {
    host: url.host,
    target: url.protocol === "ws:" && path !== "/" ? path : null,
    page: hash < 0 ? "" : rest.slice(hash + 1).trim(),
  };
}

const EXAMPLE = "Use cdp:http://127.0.0.1:9222, or cdp:http://127.0.0.1:9222#TITLE with a part of the page's title.";

const show = (text: string): string => JSON.stringify(text);

/** `isLoopback` gets a host from `URL`, which normalises every notation of an IPv4 address. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
