// The WebSocket door: judges an upgrade like any other request, then hands the socket to the feed.
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData } from "ws";
import { z } from "zod";
import type { Access } from "./access.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import type { Feed } from "./feed.ts";
import { mustAllow } from "./holder.ts";
import type { LiveHolders } from "./live-holders.ts";
import type { Follower } from "./follower.ts";
import { encodeError } from "./encode-error.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { SocketOutlet } from "./socket-outlet.ts";
import { readWanted } from "./wanted.ts";
import type { RequestListener } from "./watch-requests.ts";
import type { Engine } from "../engine/engine.ts";
import { roleOf } from "../schema/api/route.ts";
import { SERVER_ROUTES } from "../schema/api/server-routes.ts";
import { TuttiError } from "../schema/error.ts";

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Longer than the name of any run. */
const MAX_RUN_NAME = 100;
const SWITCHING = 101;
const EVENTS_PATH = "/api/events";
const EVENTS_ROLE = roleOf("GET /api/events", SERVER_ROUTES["GET /api/events"])!;

const Message = z.object({
  type: z.enum(["subscribe", "unsubscribe"]),
  channel: z.literal("orchestrator"),
  // It is kept as long as the connection lasts, whether there is such a run or not.
  orchestratorId: z.string().max(MAX_RUN_NAME),
});

export interface UpgradeParts {
  access: Access;
  engine: Engine;
  feed: Feed;
  live: LiveHolders;
  limiter: RateLimiter | null;
  /** Told of every upgrade, also of one that is refused. */
  answered: RequestListener;
}

export class Upgrade {
  readonly #parts: UpgradeParts;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
    this.#sockets.on("wsClientError", (error, connection) =>
      refuse(connection, new TuttiError("invalid_input", `not a WebSocket handshake: ${error.message}`)),
    );
  }

  take(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    const { access, engine, feed, live, limiter } = this.#parts;
    // A client that goes away during the handshake is no fault.
    connection.on("error", () => {});
    const began = performance.now();
    let token: string | undefined;
    const tell = (status: number, error?: unknown) => {
      this.#parts.answered({
        method: request.method ?? "GET",
        route: status === SWITCHING ? EVENTS_PATH : "none",
        path: pathOf(request),
        status,
        ms: performance.now() - began,
        address: request.socket.remoteAddress ?? "",
        token,
        error,
      });
    };
    try {
      const asking = { method: request.method ?? "GET", upgrade: true, headers: request.headers };
      access.checkOrigin(asking);
      limiter?.take(request.socket.remoteAddress ?? "");
      const holder = access.checkToken(asking);
      token = holder.name ?? undefined;
      mustAllow(holder, EVENTS_ROLE);
      const url = new URL(request.url ?? "/", "http://host");
      if (url.pathname !== EVENTS_PATH)
        throw new TuttiError("not_found", `there is nothing to follow at ${url.pathname}`);
      const wanted = readWanted(engine, Object.fromEntries(url.searchParams), request.headers);
      this.#sockets.handleUpgrade(request, connection, head, (socket) => {
        const outlet = new SocketOutlet(socket, connection);
        const follower = feed.follow(outlet, wanted);
        live.add(holder, outlet);
        tell(SWITCHING);
        // What breaks the rules of the protocol closes its own socket, and `ws` has done that already.
        socket.on("error", () => {});
        socket.on("message", (data, isBinary) => hear(follower, data, isBinary));
      });
    } catch (error) {
      refuse(connection, error);
      tell(encodeError(error).status, error);
    }
  }

  /** Ends whoever has not answered the polite end. */
  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
  }
}

/** Without what comes after the `?`; an address that cannot be read is told as it is. */
const pathOf = ({ url = "/" }: IncomingMessage): string => url.split("?", 1)[0]!;

/** Anything that is not a message we know has no effect. */
function hear(follower: Follower, data: RawData, isBinary: boolean): void {
  const message = isBinary ? null : Message.safeParse(parseJson(data)).data;
  if (message) follower[message.type](message.orchestratorId);
}

function parseJson(data: RawData): unknown {
  try {
    // A text message arrives as one buffer unless the server asks for another form.
    return JSON.parse((data as Buffer).toString("utf8"));
  } catch {
    return null;
  }
}

/** The answer of the API, written by hand: an upgrade has a connection and no response object. */
function refuse(connection: Duplex, error: unknown): void {
  const { status, body } = encodeError(error);
  const text = JSON.stringify(body);
  const headers = {
    ...SECURITY_HEADERS,
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(text)),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  connection.once("finish", () => connection.destroy());
  connection.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", text].join("\r\n"));
}
