import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { z } from "zod";
import type { Holder } from "./access/holder.ts";
import type { Route } from "../schema/api/route.ts";
import { parseBoundedJson } from "../schema/bounded-json.ts";
import { TuttiError } from "../schema/error.ts";

/** `holder` is undefined on routes that need no token. */
export type Bindings = { Bindings: HttpBindings; Variables: { holder: Holder | undefined } };
type RequestContext = Context<Bindings>;

export const MAX_BODY_BYTES = 1024 * 1024;
/** An invalid list of thousands of items has a problem each, so errors show `MAX_ISSUES` of them. */
const MAX_ISSUES = 20;

export function decode<S extends z.ZodType>(schema: S, value: unknown, part: "body" | "query"): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const details = issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path: path.join("."), message }));
  const sentence = details.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  const more = issues.length > MAX_ISSUES ? ` and ${issues.length - MAX_ISSUES} more problems` : "";
  throw new TuttiError("invalid_input", `The ${part} is invalid: ${sentence}${more}. See its schema at /api/docs.`, {
    details,
  });
}

/** Returns the items behind the one with the name `after`, or all items without `after`. */
export function itemsAfter<T>(items: readonly T[], after: string | undefined, nameOf: (item: T) => string): T[] {
  if (after === undefined) return [...items];
  const index = items.findIndex((item) => nameOf(item) === after);
  if (index === -1)
    throw new TuttiError("invalid_input", `The item "${after}" of "after" does not exist. List again from the start.`);
  return items.slice(index + 1);
}

export const pageOf = <T>(items: readonly T[], { after, limit }: IdPage, nameOf: (item: T) => string): T[] =>
  itemsAfter(items, after, nameOf).slice(0, limit);

interface IdPage {
  after?: string | undefined;
  limit: number;
}

/** Reads the body as JSON, or as text if the route sets `bodyType`. An empty body is undefined: some routes need none. */
export async function readBody(c: RequestContext, { body, bodyType, maxBytes }: Route): Promise<unknown> {
  const bytes = await readBytes(c.req.raw, maxBytes);
  const isText = bodyType !== undefined;
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = text.trim() === "" ? undefined : isText ? text : parseBoundedJson(text);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    const form = isText ? "UTF-8 text" : "JSON";
    throw new TuttiError("invalid_input", `The body is not valid ${form}. Send ${form}.`, { cause: error });
  }
  return decode(body!, value, "body");
}

/** `readBytes` counts as bytes arrive, because a chunked body has no Content-Length. */
export async function readBytes(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

export const tooLarge = (maxBytes: number): TuttiError =>
  new TuttiError("payload_too_large", `The body is larger than ${maxBytes / 1024 / 1024} MiB. Send a smaller one.`);
