// A `Route` defines the input, response and errors of one server route. The server decodes requests with it, the OpenAPI
// description is generated from it, and the client derives its types from it.
import type { z } from "zod";
import { ERRORS, type ErrorCode } from "../error.ts";
import type { TokenRole } from "../token-role.ts";

export interface Route {
  /** One sentence for the OpenAPI description. */
  summary: string;
  /** Query parameters. They arrive as strings, which the members of this `ZodObject` parse. */
  query?: z.ZodObject;
  body?: z.ZodType;
  bodyType?: "text/plain";
  /** Defaults to 1 MiB. */
  maxBytes?: number;
  response: z.ZodType;
  status?: 201 | 202;
  /** Meaning of a 200 response, if `status` is another. */
  repeated?: string;
  type?: "text/html" | "text/plain" | "text/event-stream" | "application/x-ndjson";
  /** Descriptions of the request headers that the route reads. */
  headers?: Readonly<Record<string, string>>;
  /** Error codes of this route, without `COMMON_ERRORS`. */
  errors: readonly ErrorCode[];
  /** Codes that mean here that the path names nothing. They get the status 404 instead of that in `ERRORS`. */
  absent?: readonly ErrorCode[];
  /** True for an answer of any size that is sent as a whole. The server builds one of these at a time. */
  large?: true;
  open?: true;
  /** True if the route verifies a signature instead of a token. */
  signed?: true;
  /** Role that the token needs. Default: `view` for GET, `operate` for other methods. */
  role?: TokenRole;
}

/** Routes by `METHOD /path`, where `:name` is a path parameter. */
export type RouteTable = Record<string, Route>;

const COMMON_ERRORS = ["unauthorized", "forbidden", "rate_limited", "internal"] as const satisfies ErrorCode[];

interface RouteAddress {
  method: string;
  path: string;
  params: string[];
}

export function readRouteKey(key: string): RouteAddress {
  const [method = "", path = ""] = key.split(" ");
  return { method, path, params: [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!) };
}

export const statusOfError = ({ absent }: Pick<Route, "absent">, code: ErrorCode): number =>
  absent?.includes(code) ? 404 : ERRORS[code].status;

/** Returns null for routes that are `open` or `signed`. */
export function roleOf(key: string, { open, signed, role }: Route): TokenRole | null {
  if (open || signed) return null;
  return role ?? (readRouteKey(key).method === "GET" ? "view" : "operate");
}

export function errorsOf(key: string, route: Route): ErrorCode[] {
  const input: ErrorCode[] = route.query || route.body || route.headers ? ["invalid_input"] : [];
  const size: ErrorCode[] = route.body ? ["payload_too_large"] : [];
  const role = roleOf(key, route);
  // Every token has at least the role `view`.
  const access: ErrorCode[] = role === null || role === "view" ? [] : ["needs_role"];
  const common = COMMON_ERRORS.filter((code) => code !== "unauthorized" || !route.open);
  return [...new Set<ErrorCode>([...input, ...size, ...route.errors, ...common, ...access])];
}
