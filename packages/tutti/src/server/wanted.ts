// What a client of the live events asks for, from its URL and its headers.
import type { IncomingHttpHeaders } from "node:http";
import { decode } from "./decode.ts";
import type { Wanted } from "./follower.ts";
import type { Engine } from "../engine/engine.ts";
import { SERVER_ROUTES } from "../schema/api/server-routes.ts";
import { TuttiError } from "../schema/error.ts";

const EventsQuery = SERVER_ROUTES["GET /api/events"].query;

/** A browser that reconnects repeats its URL and says in Last-Event-ID how far it came, so the header counts more. */
export function readWanted(engine: Engine, query: Record<string, string>, headers: IncomingHttpHeaders): Wanted {
  const lastSeen = headers["last-event-id"];
  const asked = lastSeen === undefined || lastSeen === "" ? query : { ...query, after: String(lastSeen) };
  const { after, run, types } = decode(EventsQuery, asked, "the query");
  if (run !== undefined && engine.get(run) === null) throw new TuttiError("run_not_found", `there is no run ${run}`);
  return { after: after ?? null, run: run ?? null, types: types === undefined ? null : new Set(types.split(",")) };
}
