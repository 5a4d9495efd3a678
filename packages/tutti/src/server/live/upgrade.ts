// Handles WebSocket upgrades: applies the same access checks as HTTP, then subscribes the socket to the `Feed`.
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData } from "ws";
import { z } from "zod";
import { accessRequest, type RequestAccess } from "../access/access.ts";
import { SECURITY_HEADERS } from "../headers.ts";
import type { Feed } from "./feed.ts";
import { mustAllow } from "../access/holder.ts";
import { hideFor } from "../access/hide.ts";
import type { LiveHolders } from "./live-holders.ts";
import type { Follower } from "./follower.ts";
import { encodeError } from "../encode-error.ts";
import type { RateLimiter } from "../access/rate-limit.ts";
import { SocketOutlet } from "./socket-outlet.ts";
import { readWanted } from "../routes/wanted.ts";
import type { RequestListener } from "../watch-requests.ts";
import type { Engine } from "../../engine/engine.ts";
import { roleOf } from "../../schema/api/route.ts";
import { SERVER_ROUTES } from "../../schema/api/server-routes.ts";
import { TuttiError } from "../../schema/error.ts";

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** `MAX_RUN_NAME` is longer than any run id. */
const MAX_RUN_NAME = 100;
/** Far more runs than a client can show. Without a limit, a client could fill the memory with subscriptions. */
const MAX_SUBSCRIPTIONS = 10_000;
const POLICY_VIOLATION = 1008;
const SWITCHING = 101;
const EVENTS_PATH = "/api/events";
const EVENTS_ROLE = roleOf("GET /api/events", SERVER_ROUTES["GET /api/events"])!;

const Message = z.object({
  type: z.enum(["subscribe", "unsubscribe"]),
  channel: z.literal("orchestrator"),
  // Unknown ids are stored for the life of the connection too, so `MAX_RUN_NAME` limits their length.
  orchestratorId: z.string().max(MAX_RUN_NAME),
});

interface UpgradeParts {
  access: RequestAccess;
  engine: Engine;
  feed: Feed;
  live: LiveHolders;
  limiter: RateLimiter | null;
  /** `answered` is called once for every upgrade, also for a rejected one. */
  answered: RequestListener;
}

export class Upgrade {
  readonly #parts: UpgradeParts;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // `SocketOutlet` answers pings.
    autoPong: false,
  });

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
    this.#sockets.on("wsClientError", (error, connection) =>
      refuse(
        connection,
        new TuttiError(
          "invalid_input",
          `The WebSocket handshake is invalid: ${error.message}. Connect with a WebSocket client.`,
        ),
      ),
    );
  }

  take(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    const { access, engine, feed, live, limiter } = this.#parts;
    // A client may disconnect during the handshake.
    connection.on("error", () => {});
    const startedAt = performance.now();
    let token: string | undefined;
    const report = (status: number, error?: unknown) => {
      this.#parts.answered({
        method: request.method ?? "GET",
        route: status === SWITCHING ? EVENTS_PATH : "none",
        path: pathOf(request),
        status,
        ms: performance.now() - startedAt,
        address: request.socket.remoteAddress ?? "",
        token,
        error,
      });
    };
    try {
      const requestHead = accessRequest(request, true);
      access.checkOrigin(requestHead);
      limiter?.take(request.socket.remoteAddress ?? "");
      const holder = access.checkToken(requestHead);
      token = holder.name ?? undefined;
      mustAllow(holder, EVENTS_ROLE);
      const url = new URL(request.url ?? "/", "http://host");
      if (url.pathname !== EVENTS_PATH)
        throw new TuttiError("not_found", `No WebSocket is served at ${url.pathname}. Connect to ${EVENTS_PATH}.`);
      const wanted = readWanted(engine, Object.fromEntries(url.searchParams), request.headers);
      this.#sockets.handleUpgrade(request, connection, head, (socket) => {
        const outlet = new SocketOutlet(socket, connection);
        const follower = feed.follow(outlet, { ...wanted, hide: hideFor(holder, engine) });
        live.add(holder, outlet);
        report(SWITCHING);
        // `ws` has already closed a socket that violates the protocol.
        socket.on("error", () => {});
        socket.on("message", (data, isBinary) => {
          handleMessage(follower, data, isBinary);
          if (follower.subscriptions > MAX_SUBSCRIPTIONS)
            socket.close(POLICY_VIOLATION, `More than ${MAX_SUBSCRIPTIONS} subscriptions.`);
        });
      });
    } catch (error) {
      refuse(connection, error);
      report(encodeError(error).status, error);
    }
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
  }
}

/** `pathOf` drops the query, which may contain a token, and works on malformed URLs too. */
const pathOf = ({ url = "/" }: IncomingMessage): string => url.split("?", 1)[0]!;

/** Ignores messages that do not match `Message`. */
function handleMessage(follower: Follower, data: RawData, isBinary: boolean): void {
  const message = isBinary ? null : Message.safeParse(parseJson(data)).data;
  if (message) follower[message.type](message.orchestratorId);
}

function parseJson(data: RawData): unknown {
  try {
    // With the default `binaryType` of `ws` a text message is one `Buffer`.
    return JSON.parse((data as Buffer).toString("utf8"));
  } catch {
    return null;
  }
}

/** `refuse` writes to the raw connection: an upgrade has no response object. */
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
