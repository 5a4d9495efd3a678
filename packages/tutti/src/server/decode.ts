// From a request to values: the query and the body, each checked by a schema, with every problem named by its path.
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { z } from "zod";
import type { Holder } from "./holder.ts";
import type { Route } from "../schema/api/route.ts";
import { TuttiError } from "../schema/error.ts";

/** The holder is known unless the route is open to everybody. */
export type Bindings = { Bindings: HttpBindings; Variables: { holder: Holder | undefined } };
type Asked = Context<Bindings>;

export const MAX_BODY_BYTES = 1024 * 1024;

export function decode<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const sentence = details.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new TuttiError("invalid_input", `${what} is not as expected: ${sentence}`, { details });
}

/** The part of a list that comes after the one named last time; `nameOf` says what each is called. */
export function itemsAfter<T>(items: readonly T[], after: string | undefined, nameOf: (item: T) => string): T[] {
  if (after === undefined) return [...items];
  const place = items.findIndex((item) => nameOf(item) === after);
  if (place === -1) throw new TuttiError("invalid_input", `there is no ${after} to go on after`);
  return items.slice(place + 1);
}

/** The same, and at most so many. */
export const pageOf = <T>(items: readonly T[], { after, limit }: IdPage, nameOf: (item: T) => string): T[] =>
  itemsAfter(items, after, nameOf).slice(0, limit);

export interface IdPage {
  after?: string | undefined;
  limit: number;
}

/** The body as JSON, or as a text where the route says so. An empty one is undefined, for routes that need none. */
export async function readBody(c: Asked, { body, bodyType, maxBytes }: Route): Promise<unknown> {
  const bytes = await readBytes(c, maxBytes);
  const isText = bodyType !== undefined;
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = text.trim() === "" ? undefined : isText ? text : JSON.parse(text);
  } catch (error) {
    throw new TuttiError("invalid_input", `the body is not ${isText ? "text in UTF-8" : "JSON"}`, { cause: error });
  }
  return decode(body!, value, "the body");
}

/** Counted while it arrives, because a body sent in chunks does not say its length. */
export async function readBytes(c: Asked, most = MAX_BODY_BYTES): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = (c.req.raw.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.length;
    if (size > most) throw tooLarge(most);
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

export const tooLarge = (most: number): TuttiError =>
  new TuttiError("payload_too_large", `the body is larger than ${most / 1024 / 1024} MiB`);
