// Types of route handlers, derived from `ROUTES`: requests are parsed with the route's schemas, and the compiler checks
// responses against them. A route without a handler, or a handler without a route, does not compile.
import type { Context } from "hono";
import type { z } from "zod";
import { decode, readBody, type Bindings } from "./decode.ts";
import type { Hide } from "./access/hide.ts";
import { LargeAnswers } from "./large-answers.ts";
import { streamArray } from "./stream-array.ts";
import type { Route } from "../schema/api/route.ts";
import type { ROUTES, RouteKey } from "../schema/api/routes.ts";

type ParamsOf<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Key extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

type Read<R, Part extends string> = R extends Record<Part, infer S extends z.ZodType> ? z.output<S> : never;

/** `query` and `body` parse on call, so a handler can return 404 for an unknown id before 400 for a bad body. */
interface RouteRequest<Key extends RouteKey> {
  params: ParamsOf<Key>;
  query: () => Read<(typeof ROUTES)[Key], "query">;
  body: () => Promise<Read<(typeof ROUTES)[Key], "body">>;
  context: Context<Bindings>;
  /** A handler that returns a `Response` applies `hide` itself. */
  hide: Hide | null;
}

type Value<Key extends RouteKey> = z.input<(typeof ROUTES)[Key]["response"]>;

/** A `Response` is sent unchanged, a generator is streamed as an array, any other value is sent as JSON. */
type Answer<Key extends RouteKey> =
  | Value<Key>
  | Response
  | (Value<Key> extends readonly (infer Item)[] ? Generator<Item> : never);

export type Handlers<Keys extends RouteKey> = {
  [Key in Keys]: (request: RouteRequest<Key>) => Answer<Key> | Promise<Answer<Key>>;
};

/** `AnyHandler` is a handler without the types of its route. */
export type AnyHandler = (request: {
  params: Record<string, string>;
  query: () => unknown;
  body: () => Promise<unknown>;
  context: Context<Bindings>;
  hide: Hide | null;
}) => unknown;

export async function answer(
  c: Context<Bindings>,
  route: Route,
  handle: AnyHandler,
  hide: Hide | null,
): Promise<Response> {
  const respond = async (count?: (bytes: number) => void): Promise<Response> => {
    const value = await handle({
      params: c.req.param(),
      query: () => decode(route.query!, c.req.query(), "query"),
      body: () => readBody(c, route),
      context: c,
      hide,
    });
    if (value instanceof Response) return value;
    const status = route.status ?? 200;
    if (isGenerator(value)) return await streamArray(encodeItems(value, hide), status);
    const text = JSON.stringify(hide ? hide(value) : value);
    count?.(text.length);
    return c.body(text, status, { "Content-Type": "application/json" });
  };
  if (!route.large) return respond();
  return (await largeAnswersOf(route).build(respond, c.req.raw.signal)) ?? c.body(null, CLIENT_GONE);
}

/** No client receives this status. */
const CLIENT_GONE = 503;

/** A slow answer of one route does not delay those of another. */
const largeAnswers = new Map<Route, LargeAnswers>();
const largeAnswersOf = (route: Route): LargeAnswers => {
  const known = largeAnswers.get(route) ?? new LargeAnswers();
  largeAnswers.set(route, known);
  return known;
};

const isGenerator = (value: unknown): value is Generator =>
  typeof value === "object" && value !== null && "next" in value && Symbol.iterator in value;

function* encodeItems(items: Iterable<unknown>, hide: Hide | null): Generator<string> {
  for (const item of items) yield JSON.stringify(hide ? hide(item) : item);
}
