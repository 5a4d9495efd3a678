// `createCall` types the calls of all routes. Only types come from `ROUTES`: a call needs just the method and the path
// at run time, and both are in the key of the route.
import type { z } from "zod";
import { readError, unreachable } from "./request-error.ts";
import type { ROUTES, RouteKey } from "../schema/api/routes.ts";

export interface ClientOptions {
  /** For example `http://127.0.0.1:4517`. */
  baseUrl: string;
  /** Omitted in the dashboard, which authenticates with its cookie. */
  token?: string;
  fetch?: typeof fetch;
}

type Table = typeof ROUTES;

type Names<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Key extends `${string}:${infer Name}`
    ? Name
    : never;

type ParamsPart<Key extends RouteKey> = [Names<Key>] extends [never] ? object : { params: Record<Names<Key>, string> };
type QueryPart<Key extends RouteKey> = Table[Key] extends { query: infer Q extends z.ZodType }
  ? { query?: Partial<z.output<Q>> }
  : object;
type BodyPart<Key extends RouteKey> = Table[Key] extends { body: infer B extends z.ZodType }
  ? undefined extends z.input<B>
    ? { body?: z.input<B> }
    : { body: z.input<B> }
  : object;

interface Extras {
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export type RouteInput<Key extends RouteKey> = ParamsPart<Key> & QueryPart<Key> & BodyPart<Key> & Extras;
export type Answered<Key extends RouteKey> = z.output<Table[Key]["response"]>;

/** The response of live events never ends; use `followEvents` for them. */
type CallableKey = Exclude<RouteKey, "GET /api/events">;

type TextKey = { [Key in RouteKey]: Table[Key] extends { bodyType: string } ? Key : never }[RouteKey];

/** The content types of routes with a text body; all others take JSON. */
const TEXT_BODIES: Record<TextKey, Table[TextKey]["bodyType"]> = { "POST /api/orchestrator/import": "text/plain" };

export type CallRoute = <Key extends CallableKey>(
  key: Key,
  ...asking: object extends RouteInput<Key> ? [RouteInput<Key>?] : [RouteInput<Key>]
) => Promise<Answered<Key>>;

interface AnyAsking extends Extras {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
}

export function createCall({ baseUrl, token, fetch: send = fetch }: ClientOptions): CallRoute {
  return async (key, ...[asking]) => {
    const { params = {}, query = {}, body, headers = {}, signal } = (asking ?? {}) as AnyAsking;
    const [method, path] = key.split(" ") as [string, string];
    const textType = Object.hasOwn(TEXT_BODIES, key) ? TEXT_BODIES[key as TextKey] : undefined;
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!));
    const url = new URL(filled, baseUrl);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const request = {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": textType ?? "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: textType === undefined ? JSON.stringify(body) : (body as string) }),
      ...(signal && { signal }),
    };
    const fail = (error: unknown): never => {
      throw signal?.aborted ? error : unreachable(baseUrl, error);
    };
    const response = await send(url, request)
      .catch((error: unknown) => {
        if (method !== "GET" || !isConnectionReset(error)) throw error;
        return send(url, request);
      })
      .catch(fail);
    if (!response.ok) throw await readError(response);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    const read: Promise<unknown> = isJson ? response.json() : response.text();
    // The connection may be lost before the end of the body. A whole body without JSON is no loss.
    return (await read.catch((error: unknown) => {
      if (error instanceof SyntaxError) throw error;
      return fail(error);
    })) as never;
  };
}

/**
 * A server closes an idle connection after some seconds, perhaps while a request is under way. `createCall` repeats
 * only a GET, since the server may have read the first request.
 */
function isConnectionReset(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  return code === "ECONNRESET" || code === "EPIPE" || code === "UND_ERR_SOCKET";
}
