// What stands behind a route: from what was asked, checked by the route's schemas, to what is answered, held to them by
// the compiler. A route without a handler, or a handler without a route, does not compile.
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

/** Query and body are read when a handler asks for them: whether what the address names is there comes first. */
export interface Asked<Key extends RouteKey> {
  params: ParamsOf<Key>;
  query: () => Read<(typeof ROUTES)[Key], "query">;
  body: () => Promise<Read<(typeof ROUTES)[Key], "body">>;
  context: Context<Bindings>;
}

/** A Response is sent as it is; anything else as JSON, with the route's status. */
type Answer<Key extends RouteKey> = z.input<(typeof ROUTES)[Key]["response"]> | Response;

export type Handlers<Keys extends RouteKey> = {
  [Key in Keys]: (asked: Asked<Key>) => Answer<Key> | Promise<Answer<Key>>;
};

/** A handler as the router sees it. */
export type AnyHandler = (asked: {
  params: Record<string, string>;
  query: () => unknown;
  body: () => Promise<unknown>;
  context: Context<Bindings>;
}) => unknown;

export async function answer(c: Context<Bindings>, route: Route, handle: AnyHandler): Promise<Response> {
  const value = await handle({
    params: c.req.param(),
    query: () => decode(route.query!, c.req.query(), "the query"),
    body: () => readBody(c, route),
    context: c,
  });
  return value instanceof Response ? value : c.json(value as object, route.status ?? 200);
}
