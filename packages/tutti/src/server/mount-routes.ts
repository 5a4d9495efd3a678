// `mountRoutes` registers the handlers. A route's own error statuses take precedence over those of the error table.
import type { Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Bindings } from "./decode.ts";
import { encodeError } from "./encode-error.ts";
import { mustAllow } from "./access/holder.ts";
import { answer, type AnyHandler, type Handlers } from "./handler.ts";
import { HIDE_HEADER, hideFor, type Hide } from "./access/hide.ts";
import type { Engine } from "../engine/engine.ts";
import { readRouteKey, roleOf, statusOfError, type Route } from "../schema/api/route.ts";
import { asTuttiError } from "../schema/error.ts";
import { addressesOf, inRoutingOrder, ROUTES, type RouteKey } from "../schema/api/routes.ts";

/** A `RequestFilter` returns the answer to a request that another server carries out, or null. */
type RequestFilter = (c: Context<Bindings>, hide: Hide | null) => Promise<Response | null>;

export function mountRoutes(
  app: Hono<Bindings>,
  handlers: Handlers<RouteKey>,
  engine: Engine,
  forward: RequestFilter | null,
): void {
  for (const key of inRoutingOrder(Object.keys(ROUTES) as RouteKey[])) {
    const route: Route = ROUTES[key];
    const handle = handlers[key] as AnyHandler;
    const role = roleOf(key, route);
    for (const address of addressesOf(key)) {
      const { method, path } = readRouteKey(address);
      app.on(method, path, async (c) => {
        try {
          if (role !== null) mustAllow(c.get("holder"), role);
          const hide = hideFor(c.get("holder"), engine, c.req.header(HIDE_HEADER));
          return (await forward?.(c, hide)) ?? (await answer(c, route, handle, hide));
        } catch (error) {
          // `watchRequests` reports `c.error`.
          c.error = asTuttiError(error);
          const { body } = encodeError(error);
          return c.json(body, statusOfError(route, body.error.code) as ContentfulStatusCode);
        }
      });
    }
  }
}
