import type { IncomingHttpHeaders } from "node:http";
import { decode } from "../decode.ts";
import type { FeedRequest } from "../live/follower.ts";
import { findRun } from "./run-routes.ts";
import type { Engine } from "../../engine/engine.ts";
import { SERVER_ROUTES } from "../../schema/api/server-routes.ts";
import { TuttiError } from "../../schema/error.ts";

const EventsQuery = SERVER_ROUTES["GET /api/events"].query;

/** `Last-Event-ID` overrides `after` and `tail`: a browser that reconnects repeats its URL and adds this header. */
export function readWanted(engine: Engine, query: Record<string, string>, headers: IncomingHttpHeaders): FeedRequest {
  const lastSeen = headers["last-event-id"];
  const { tail: _tail, ...others } = query;
  const values = lastSeen === undefined || lastSeen === "" ? query : { ...others, after: String(lastSeen) };
  const { after, tail, run, types } = decode(EventsQuery, values, "query");
  if (after !== undefined && tail !== undefined) {
    throw new TuttiError(
      "invalid_input",
      "The query has both after and tail. Use after to continue, or tail to start with the last events.",
    );
  }
  if (run !== undefined) findRun(engine, run);
  return {
    after: after ?? null,
    tail,
    run: run ?? null,
    process: headers["tutti-process"]?.toString(),
    types: types === undefined ? null : new Set(types.split(",")),
  };
}
