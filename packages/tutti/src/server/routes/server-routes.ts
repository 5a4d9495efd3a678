import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { describeApi } from "../describe-api.ts";
import { docsPage } from "../docs-page.ts";
import { EventStream } from "../live/event-stream.ts";
import type { Feed } from "../live/feed.ts";
import type { Handlers } from "../handler.ts";
import { SECURITY_HEADERS } from "../headers.ts";
import type { LiveHolders } from "../live/live-holders.ts";
import { readWanted } from "./wanted.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SERVER_ROUTES } from "../../schema/api/server-routes.ts";
import { TuttiError } from "../../schema/error.ts";
import { METRICS_TYPE } from "../../telemetry/metric.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

interface ServerRouteOptions {
  engine: Engine;
  feed: Feed;
  live: LiveHolders;
  version: string;
  metrics: Metrics;
}

export function serverHandlers(options: ServerRouteOptions): Handlers<keyof typeof SERVER_ROUTES> {
  const { engine, feed, live, version, metrics } = options;
  return {
    "GET /metrics": ({ context }) => context.body(metrics.page(), 200, { "Content-Type": METRICS_TYPE }),
    "GET /api/health": () => ({ status: "ok", version }),
    "GET /api/openapi.json": () => describeApi(),
    "GET /api/docs": ({ context }) => context.html(docsPage(describeApi())),
    "GET /api/events": ({ context, hide }) => {
      const { incoming, outgoing } = context.env;
      const accepted = context.req.header("accept") ?? "";
      if (incoming.method !== "GET" || !/text\/event-stream|\*\/\*/.test(accepted)) {
        throw new TuttiError(
          "invalid_input",
          "This request does not accept live events. Open a WebSocket, or send Accept: text/event-stream with GET.",
        );
      }
      // `Upgrade` parses the same query with `readWanted`, outside of Hono.
      const wanted = readWanted(engine, context.req.query(), incoming.headers);
      const headers = { ...SECURITY_HEADERS, "Cache-Control": "no-store" };
      const outlet = new EventStream(outgoing, headers);
      feed.follow(outlet, { ...wanted, hide });
      live.add(context.get("holder")!, outlet);
      return RESPONSE_ALREADY_SENT;
    },
  };
}
