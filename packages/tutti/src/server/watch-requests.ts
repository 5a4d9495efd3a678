// Tells of every request once it is answered, whatever became of it.
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Bindings } from "./decode.ts";
import type { RequestReport } from "../telemetry/request-report.ts";

export type RequestListener = (report: RequestReport) => void;

/** To be the first one asked, so that it also sees what the others refuse. */
export const watchRequests =
  (tell: RequestListener): MiddlewareHandler<Bindings> =>
  async (c, next) => {
    const began = performance.now();
    await next();
    tell({
      method: c.req.method,
      route: routeOf(c),
      path: c.req.path,
      status: c.res.status,
      ms: performance.now() - began,
      address: c.env.incoming.socket.remoteAddress ?? "",
      token: c.get("holder")?.name ?? undefined,
      error: c.error,
    });
  };

/** The pattern that the request was for; addresses that anybody may invent are not told apart. */
function routeOf(c: Context<Bindings>): string {
  const pattern = matchedRoutes(c).find(({ path }) => path !== "*" && path !== "/*")?.path;
  return pattern ?? (c.res.status < 400 ? "dashboard" : "none");
}
