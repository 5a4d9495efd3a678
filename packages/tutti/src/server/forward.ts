// `forwardRequest` forwards a request about a run to the server that owns the run. Access and role are checked before,
// so the other server carries the request out as its own, within the limits of `RESTRICT_HEADER`. `HIDE_HEADER` makes it hide secrets before a search, which would
// reveal them piece by piece; this server hides them again, because a server of an older version ignores the header.
import type { Context } from "hono";
import { readBytes, type Bindings } from "./decode.ts";
import { HIDE_HEADER, type Hide } from "./access/hide.ts";
import { TOKEN_NAME_HEADER, tokenNameOf } from "./access/holder.ts";
import { RESTRICT_HEADER } from "./access/restriction.ts";
import { exportTranscript, PAGE_ENTRIES } from "./stream-array.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

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
const NEEDS_ITS_FILES = /\/(?:transcript(?:\/export)?|diff|result)$/;
const EXPORT = /\/export$/;
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
  const name = tokenNameOf(c.get("holder"), c.req.header(TOKEN_NAME_HEADER));
  const request: ForwardedRequest = {
    method: c.req.method,
    path: `${pathname}${search}`,
    headers: {
      ...Object.fromEntries(
        HEADERS.flatMap((header) => (c.req.header(header) ? [[header, c.req.header(header)!]] : [])),
      ),
      ...(hide && { [HIDE_HEADER]: "1" }),
      ...(restriction !== null && { [RESTRICT_HEADER]: restriction }),
      ...(name !== null && { [TOKEN_NAME_HEADER]: name }),
    },
    body: (await readBytes(c.req.raw.clone())).toString("utf8"),
  };
  const send = (path: string): Promise<ForwardedAnswer | null> => forward(run, { ...request, path });
  const answer = EXPORT.test(pathname) ? await exportInPages(pathname, send, hide) : await send(request.path);
  if (answer === null || answer instanceof Response) return answer;
  const body = hide ? JSON.stringify(hide(JSON.parse(answer.body))) : answer.body;
  return new Response(body, { status: answer.status, headers: { "Content-Type": answer.type } });
}

/** A whole transcript does not fit into one answer, so it is read page by page. An error is returned as it is. */
async function exportInPages(
  pathname: string,
  send: (path: string) => Promise<ForwardedAnswer | null>,
  hide: Hide | null,
): Promise<Response | ForwardedAnswer | null> {
  const page = (after: number) => send(`${pathname.replace(EXPORT, "")}?after=${after}&limit=${PAGE_ENTRIES}`);
  const first = await page(0);
  if (first?.status !== OK) return first;
  async function* pages(): AsyncGenerator<TranscriptEntry[]> {
    for (let next: ForwardedAnswer | null = first; ;) {
      if (next?.status !== OK)
        throw new TuttiError("wrong_state", "The other server no longer has the transcript. Export it again.");
      const entries = JSON.parse(next.body) as TranscriptEntry[];
      if (entries.length === 0) return;
      yield hide ? hide(entries) : entries;
      next = await page(entries.at(-1)!.n);
    }
  }
  return exportTranscript(decodeURIComponent(pathname.split("/").at(-3)!), pages());
}

const OK = 200;
