// Types of route handlers, derived from `ROUTES`: requests are parsed with the route's schemas, and the compiler checks
// responses against them. A route without a handler, or a handler without a route, does not compile.
import type { Context } from "hono";
import type { z } from "zod";
import { decode, readBody, type Bindings } from "./decode.ts";
import type { Route } from "../schema/api/route.ts";
import type { ROUTES, RouteKey } from "../schema/api/routes.ts";

type ParamsOf<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Key extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

type Read<R, Part extends string> = R extends Record<Part, infer S extends z.ZodType> ? z.output<S> : never;

/** `query` and `body` are parsed on call, so a handler can return 404 for an unknown id before 400 for a bad body. */
export interface RouteRequest<Key extends RouteKey> {
  params: ParamsOf<Key>;
  query: () => Read<(typeof ROUTES)[Key], "query">;
  body: () => Promise<Read<(typeof ROUTES)[Key], "body">>;
  context: Context<Bindings>;
}

/** A `Response` is sent unchanged; any other value as JSON with the route's status. */
type Answer<Key extends RouteKey> = z.input<(typeof ROUTES)[Key]["response"]> | Response;

export type Handlers<Keys extends RouteKey> = {
  [Key in Keys]: (request: RouteRequest<Key>) => Answer<Key> | Promise<Answer<Key>>;
};

/** A handler without the types of its route. */
export type AnyHandler = (request: {
  params: Record<string, string>;
  query: () => unknown;
  body: () => Promise<unknown>;
  context: Context<Bindings>;
}) => unknown;

export async function answer(c: Context<Bindings>, route: Route, handle: AnyHandler): Promise<Response> {
  const value = await handle({
    params: c.req.param(),
    query: () => decode(route.query!, c.req.query(), "query"),
    body: () => readBody(c, route),
    context: c,
  });
  return value instanceof Response ? value : c.json(value as object, route.status ?? 200);
}
