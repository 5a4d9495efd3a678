import { HOST_ROUTES } from "./host-routes.ts";
import { INBOX_ROUTES } from "./inbox-routes.ts";
import { LOG_ROUTES } from "./log-routes.ts";
import { MACHINE_ROUTES } from "./machine-routes.ts";
import { PROTOCOL_ROUTES } from "./protocol-routes.ts";
import { RESULT_ROUTES } from "./result-routes.ts";
import { TEAM_ROUTES } from "./team-routes.ts";
import type { RouteTable } from "./route.ts";
import { RUN_ROUTES } from "./run-routes.ts";
import { SCHEDULE_ROUTES } from "./schedule-routes.ts";
import { SERVER_ROUTES } from "./server-routes.ts";
import { STEER_ROUTES } from "./steer-routes.ts";
import { SUB_SESSION_ROUTES } from "./sub-session-routes.ts";
import { TEMPLATE_ROUTES } from "./template-routes.ts";
import { TOKEN_ROUTES } from "./token-routes.ts";
import { WORKER_ROUTES } from "./worker-routes.ts";

export const ROUTES = {
  ...SERVER_ROUTES,
  ...TOKEN_ROUTES,
  ...MACHINE_ROUTES,
  ...HOST_ROUTES,
  ...RUN_ROUTES,
  ...RESULT_ROUTES,
  ...TEAM_ROUTES,
  ...LOG_ROUTES,
  ...STEER_ROUTES,
  ...WORKER_ROUTES,
  ...INBOX_ROUTES,
  ...SUB_SESSION_ROUTES,
  ...SCHEDULE_ROUTES,
  ...TEMPLATE_ROUTES,
  ...PROTOCOL_ROUTES,
} as const satisfies RouteTable;

/**
 * `API_VERSION` is independent of the program's. Raise the first number when a valid request or response becomes
 * invalid, the second when something is added, the third when only descriptions change. See docs/api.md.
 */
export const API_VERSION = "1.6.0";

export type RouteKey = keyof typeof ROUTES;

/** A route that document 004 has under `/api/orchestrator` is also served at its documented address. */
export function addressesOf(key: string): string[] {
  const short = key.replace("/api/orchestrator/templates", "/api/templates").replace("/api/orchestrator", "/api/runs");
  return short === key ? [key] : [key, short];
}

/** Literal path segments come before parameters, because `/:id` would also match `/templates`. */
export function inRoutingOrder(keys: readonly RouteKey[]): RouteKey[] {
  const rank = (key: string) => key.replaceAll(/:\w+/g, "\u{10FFFF}");
  return keys.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
