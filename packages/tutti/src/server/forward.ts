// `forwardRequest` forwards a request about a run to the server that owns the run. Access and role are checked before,
// so the other server carries the request out as its own, within the limits of `RESTRICT_HEADER`. `HIDE_HEADER` makes it hide secrets before a search, which would
// reveal them piece by piece; this server hides them again, because a server of an older version ignores the header.
import type { Context } from "hono";
import { readBytes, type Bindings } from "./decode.ts";
import { HIDE_HEADER, type Hide } from "./access/hide.ts";
import { RESTRICT_HEADER } from "./access/restriction.ts";
import type { Engine } from "../engine/engine.ts";

export interface ForwardedRequest {
  method: string;
  /** `path` includes the query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface ForwardedAnswer {
  status: number;
  type: string;
  body: string;
}

/** A `Forwarder` returns null if this server owns the run by now. */
export type Forwarder = (run: string, request: ForwardedRequest) => Promise<ForwardedAnswer | null>;

/** Reads that need the sessions or the repository of the other server. All servers have the log. */
const NEEDS_ITS_FILES = /\/(?:transcript|diff|result)$/;
const HEADERS = ["content-type", "idempotency-key", "accept"];

/** `forwardRequest` returns null for a request that this server answers itself. `restriction` is that of the request here. */
export async function forwardRequest(
  c: Context<Bindings>,
  engine: Pick<Engine, "isForeign" | "runOfItem">,
  forward: Forwarder,
  hide: Hide | null,
  restriction: string | null,
): Promise<Response | null> {
  if (c.req.method === "GET" && !NEEDS_ITS_FILES.test(c.req.path)) return null;
  const { id, itemId } = c.req.param() as { id?: string; itemId?: string };
  const run = itemId === undefined ? id : engine.runOfItem(itemId);
  if (run === undefined || run === null || !engine.isForeign(run)) return null;
  const { pathname, search } = new URL(c.req.url);
  const answer = await forward(run, {
    method: c.req.method,
    path: `${pathname}${search}`,
    headers: {
      ...Object.fromEntries(HEADERS.flatMap((name) => (c.req.header(name) ? [[name, c.req.header(name)!]] : []))),
      ...(hide && { [HIDE_HEADER]: "1" }),
      ...(restriction !== null && { [RESTRICT_HEADER]: restriction }),
    },
    body: (await readBytes(c.req.raw.clone())).toString("utf8"),
  });
  if (answer === null) return null;
  const body = hide ? JSON.stringify(hide(JSON.parse(answer.body))) : answer.body;
  return new Response(body, { status: answer.status, headers: { "Content-Type": answer.type } });
}
