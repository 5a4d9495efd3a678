// A `RequestReport` feeds the log and the metrics.
import { errorMembers, type Log } from "./log.ts";

export interface RequestReport {
  method: string;
  /** The route pattern, such as `/api/orchestrator/:id`, or `dashboard` or `none`. */
  route: string;
  /** Without the query, which may contain a token. */
  path: string;
  status: number;
  ms: number;
  address: string;
  /** Name of the client's token; undefined for the server's own token. */
  token?: string | undefined;
  error?: unknown;
}

const REFUSED = new Set([401, 403, 429]);
/** With `REFUSALS_PER_MINUTE` a client that keeps sending bad requests cannot fill the disk. */
const REFUSALS_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export function requestLogger(log: Log, now: () => number): (report: RequestReport) => void {
  let minute = 0;
  let refusals = 0;
  const logRefusal = (members: object) => {
    const at = Math.floor(now() / MINUTE_MS);
    if (at !== minute && refusals > REFUSALS_PER_MINUTE) {
      log.warn("more requests refused", { count: refusals - REFUSALS_PER_MINUTE });
    }
    if (at !== minute) refusals = 0;
    minute = at;
    refusals += 1;
    if (refusals <= REFUSALS_PER_MINUTE) log.warn("request refused", { ...members });
  };
  return ({ route: _route, error, ms, address, token, ...head }) => {
    const about = { ...head, ms: Math.round(ms * 10) / 10, ...(token !== undefined && { token }) };
    if (head.status >= 500) log.error("request failed", { ...about, ...errorMembers(error) });
    // A browser requests the icon by itself, without the token, when it shows a refusal.
    else if (REFUSED.has(head.status) && head.path !== "/favicon.ico")
      logRefusal({ ...about, address, reason: reasonOf(error) });
    else log.debug("request", about);
  };
}

const reasonOf = (error: unknown): string | undefined => (error instanceof Error ? error.message : undefined);
