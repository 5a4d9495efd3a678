// What the routes of the server itself do: how it is, what it can do, and what happens.
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { describeApi } from "./describe-api.ts";
import { docsPage } from "./docs-page.ts";
import { EventStream } from "./event-stream.ts";
import type { Feed } from "./feed.ts";
import type { Handlers } from "./handler.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { readWanted } from "./wanted.ts";
import type { Engine } from "../engine/engine.ts";
import type { SERVER_ROUTES } from "../schema/api/server-routes.ts";
import { TuttiError } from "../schema/error.ts";

export interface ServerRouteOptions {
  engine: Engine;
  feed: Feed;
  version: string;
}

export function serverHandlers({ engine, feed, version }: ServerRouteOptions): Handlers<keyof typeof SERVER_ROUTES> {
  return {
    "GET /api/health": () => ({ status: "ok", version }),
    "GET /api/openapi.json": () => describeApi(),
    "GET /api/docs": ({ context }) => context.html(docsPage(describeApi())),
    "GET /api/events": ({ context }) => {
      const { incoming, outgoing } = context.env;
      const accepted = context.req.header("accept") ?? "";
      if (incoming.method !== "GET" || !/text\/event-stream|\*\/\*/.test(accepted)) {
        throw new TuttiError(
          "invalid_input",
          "events come over a WebSocket or, with Accept: text/event-stream, as a stream",
        );
      }
      // Read by hand, because a WebSocket asks for the same without ever coming by here.
      const wanted = readWanted(engine, context.req.query(), incoming.headers);
      const headers = { ...SECURITY_HEADERS, "Cache-Control": "no-store" };
      feed.follow(new EventStream(outgoing, headers), wanted);
      return RESPONSE_ALREADY_SENT;
    },
  };
}
