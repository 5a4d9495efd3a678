import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Bindings } from "./decode.ts";
import type { RequestReport } from "../telemetry/request-report.ts";

export type RequestListener = (report: RequestReport) => void;

/** `watchRequests` must be the first middleware, so that it sees rejected requests too. */
export const watchRequests =
  (report: RequestListener): MiddlewareHandler<Bindings> =>
  async (c, next) => {
    const startedAt = performance.now();
    await next();
    report({
      method: c.req.method,
      route: routeOf(c),
      path: c.req.path,
      status: c.res.status,
      ms: performance.now() - startedAt,
      address: c.env.incoming.socket.remoteAddress ?? "",
      token: c.get("holder")?.name ?? undefined,
      error: c.error,
    });
  };

/** Unknown paths share one name, so that clients cannot create metric labels with `routeOf`. */
function routeOf(c: Context<Bindings>): string {
  const pattern = matchedRoutes(c).find(({ path }) => path !== "*" && path !== "/*")?.path;
  return pattern ?? (c.res.status < 400 ? "dashboard" : "none");
}
