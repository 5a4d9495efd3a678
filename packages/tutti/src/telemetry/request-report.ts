// What the server tells of a request that it has answered, for the log and for the figures.
import { errorMembers, type Log } from "./log.ts";

export interface RequestReport {
  method: string;
  /** The pattern of the route, such as `/api/orchestrator/:id`; what has none says what it is. */
  route: string;
  /** Without what comes after the `?`, where a token may stand. */
  path: string;
  status: number;
  ms: number;
  /** Where it came from. */
  address: string;
  /** The name of the token that it came with, if that has one. */
  token?: string | undefined;
  /** Why it was not answered as wanted. */
  error?: unknown;
}

const REFUSED = new Set([401, 403, 429]);
/** Whoever knocks again and again must not fill the disk. */
const REFUSALS_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export function requestLogger(log: Log, now: () => number): (report: RequestReport) => void {
  let minute = 0;
  let refusals = 0;
  const tellRefusal = (members: object) => {
    const at = Math.floor(now() / MINUTE_MS);
    if (at !== minute && refusals > REFUSALS_PER_MINUTE) {
      log.warn("more requests were refused", { count: refusals - REFUSALS_PER_MINUTE });
    }
    if (at !== minute) refusals = 0;
    minute = at;
    refusals += 1;
    if (refusals <= REFUSALS_PER_MINUTE) log.warn("request refused", { ...members });
  };
  return ({ route: _route, error, ms, address, token, ...head }) => {
    const about = { ...head, ms: Math.round(ms * 10) / 10, ...(token !== undefined && { token }) };
    if (head.status >= 500) log.error("request failed", { ...about, ...errorMembers(error) });
    else if (REFUSED.has(head.status)) tellRefusal({ ...about, address, reason: reasonOf(error) });
    else log.debug("request", about);
  };
}

const reasonOf = (error: unknown): string | undefined => (error instanceof Error ? error.message : undefined);
