// Where a debugger listens, as the person wrote it. Only on this machine: a debugger elsewhere is nothing that the person
// has switched on here, and its protocol knows no password.
import { TuttiError } from "../../../schema/error.ts";

export interface DebuggerAddress {
  /** `127.0.0.1:9222` */
  host: string;
  /** The path of one target, or null if it is to be found in the debugger's list. */
  target: string | null;
  /** A part of the title or of the address of the page; empty if any page will do. */
  page: string;
}

export function readAddress(rest: string): DebuggerAddress {
  const hash = rest.indexOf("#");
  const written = hash < 0 ? rest : rest.slice(0, hash);
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "ws:"))
    throw new TuttiError("agent_unknown", `${show(rest)} is no address of a debugger, ${EXAMPLE}`);
  if (!isLoopback(url.hostname)) {
    const reason = "only a debugger on this machine can be used";
    throw new TuttiError("agent_not_startable", `the debugger ${show(written)} is on ${url.hostname}; ${reason}`);
  }
  if (url.username !== "" || url.password !== "")
    throw new TuttiError("agent_unknown", `a debugger takes no name and no password, ${EXAMPLE}`);
  const path = `${url.pathname}${url.search}`;
  if (url.protocol === "http:" && path !== "/")
    throw new TuttiError(
      "agent_unknown",
      `${show(written)} is the address of a page and not of a debugger, ${EXAMPLE}`,
    );
  return {
    host: url.host,
    target: url.protocol === "ws:" && path !== "/" ? path : null,
    page: hash < 0 ? "" : rest.slice(hash + 1).trim(),
  };
}

const EXAMPLE = "e.g. cdp:http://127.0.0.1:9222 or cdp:http://127.0.0.1:9222#part of the page's title";

const show = (text: string): string => JSON.stringify(text);

/** The names have been through the parser of URLs, which writes every form of an IPv4 address in the same way. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
