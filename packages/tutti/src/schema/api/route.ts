// A route of the server as data. What a request may hold and what it is answered stands here once: the server decodes by
// it, the description and its page are made from it, and the functions of the client are typed by it.
import type { z } from "zod";
import { ERRORS, type ErrorCode } from "../error.ts";
import type { TokenRole } from "../token-role.ts";

export interface Route {
  /** One sentence for the description. */
  summary: string;
  /** Values of the address after the `?`. Each member reads a string. */
  query?: z.ZodObject;
  body?: z.ZodType;
  /** What the body is, if it is not JSON: a text that is taken as it comes. */
  bodyType?: "text/plain";
  /** How long a body may be, where 1 MiB is not enough. */
  maxBytes?: number;
  response: z.ZodType;
  /** The status of a good answer; 200 unless given. */
  status?: 201 | 202;
  /** What a 200 means where a good answer has another status. */
  repeated?: string;
  /** What the answer is, if it is not JSON. */
  type?: "text/html" | "text/plain" | "text/event-stream" | "application/x-ndjson";
  /** Headers of the request that have a meaning here, with that meaning. */
  headers?: Readonly<Record<string, string>>;
  /** What this route in particular may be refused with; what any route may be is not repeated. */
  errors: readonly ErrorCode[];
  /** Codes that here say that what the address names is not there, and are therefore a 404, whatever they are elsewhere. */
  absent?: readonly ErrorCode[];
  /** Whether it is answered without a token. */
  open?: true;
  /** Whether a signature stands in the place of the token; the route itself looks at it. */
  signed?: true;
  /** What the token must allow; unless given, view for what only reads and operate for everything else. */
  role?: TokenRole;
}

/** Routes by `METHOD /path`, with `:name` for the parts of the path that vary. */
export type RouteTable = Record<string, Route>;

/** What any route may be refused with, besides its own. */
export const COMMON_ERRORS = ["unauthorized", "forbidden", "rate_limited", "internal"] as const satisfies ErrorCode[];

export interface RouteAddress {
  method: string;
  path: string;
  /** The names of the parts of the path that vary, in their order. */
  params: string[];
}

export function readRouteKey(key: string): RouteAddress {
  const [method = "", path = ""] = key.split(" ");
  return { method, path, params: [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!) };
}

export const statusOfError = ({ absent }: Pick<Route, "absent">, code: ErrorCode): number =>
  absent?.includes(code) ? 404 : ERRORS[code].status;

/** What a token must allow for a route; null where none is asked for. */
export function roleOf(key: string, { open, signed, role }: Route): TokenRole | null {
  if (open || signed) return null;
  return role ?? (readRouteKey(key).method === "GET" ? "view" : "operate");
}

/** Every code that a route may be refused with; a request that holds something may hold something wrong. */
export function errorsOf(key: string, route: Route): ErrorCode[] {
  const input: ErrorCode[] = route.query || route.body || route.headers ? ["invalid_input"] : [];
  const size: ErrorCode[] = route.body ? ["payload_too_large"] : [];
  const role = roleOf(key, route);
  // Whoever has a token may look.
  const who: ErrorCode[] = role === null || role === "view" ? [] : ["needs_role"];
  const common = COMMON_ERRORS.filter((code) => code !== "unauthorized" || !route.open);
  return [...new Set<ErrorCode>([...input, ...size, ...route.errors, ...common, ...who])];
}

/** Whether a sound request may come at the wrong moment. */
export const dependsOnState = ({ errors, absent = [] }: Route): boolean =>
  errors.some((code) => ERRORS[code].status === 409 && !absent.includes(code));

/** Whether a request to it can be wrong at all: one without anything that varies cannot. */
export const takesInput = (key: string, { query, body }: Route): boolean =>
  query !== undefined || body !== undefined || readRouteKey(key).params.length > 0;
