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
  const { tail: _tail, ...others } = query;
  const asked = lastSeen === undefined || lastSeen === "" ? query : { ...others, after: String(lastSeen) };
  const { after, tail, run, types } = decode(EventsQuery, asked, "the query");
  if (after !== undefined && tail !== undefined) {
    throw new TuttiError(
      "invalid_input",
      "a client begins after an event or with the last ones: after or tail, not both",
    );
  }
  if (run !== undefined && engine.get(run) === null) throw new TuttiError("run_not_found", `there is no run ${run}`);
  return {
    after: after ?? null,
    tail,
    run: run ?? null,
    types: types === undefined ? null : new Set(types.split(",")),
  };
}
