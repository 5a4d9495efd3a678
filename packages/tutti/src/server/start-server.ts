// Starts the server, which serves the API, the live events and the dashboard on one port.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Access, isLoopback, UNKNOWN_HOST } from "./access/access.ts";
import { allowedFolders } from "./access/allowed-folders.ts";
import { createApp } from "./app.ts";
import { Feed } from "./live/feed.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { encodeError } from "./encode-error.ts";
import { LiveHolders } from "./live/live-holders.ts";
import type { NamedTokens } from "./access/named-tokens.ts";
import { RateLimiter, type RateLimit } from "./access/rate-limit.ts";
import { Upgrade } from "./live/upgrade.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenAutomation } from "../schedule/automation.ts";
import { TuttiError } from "../schema/error.ts";
import { SILENT, type Log } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { requestLogger, type RequestReport } from "../telemetry/request-report.ts";
import type { TemplateLibrary } from "../template/files/library.ts";

export interface ServerOptions {
  engine: Engine;
  templates: TemplateLibrary;
  token: string;
  tokens: NamedTokens;
  /** True if the user set `token`. Otherwise a server beyond loopback needs at least one valid named token. */
  explicitToken?: boolean;
  host?: string;
  /** 0 picks a free port. */
  port: number;
  version: string;
  /** The folder with the built dashboard. */
  webRoot: string | null;
  /** Default: no limit on loopback, `LIMIT_BEYOND_LOOPBACK` elsewhere. */
  rateLimit?: RateLimit;
  /** Folders that runs may use, subfolders included. Default: any. */
  folders?: readonly string[];
  /** Without it the server has no schedules and no triggers. */
  automation?: OpenAutomation;
  /** Default: no log. */
  log?: Log;
}

export interface RunningServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Far above the requests of one user with a dashboard. */
const LIMIT_BEYOND_LOOPBACK: RateLimit = { perMinute: 600 };

/** Time that open requests get to finish when the server closes. */
const IDLE_AFTER_MS = 120_000;
const GRACE_MS = 1000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { engine, templates, token, tokens, host = "127.0.0.1", version, webRoot } = options;
  if (!isLoopback(host) && options.explicitToken !== true && tokens.list().every(({ expired }) => expired)) {
    const message = `The server cannot listen on ${host} without a token for other machines. Pass --token, or create one with "tutti tokens create NAME --role ROLE".`;
    throw new TuttiError("usage", message);
  }
  const server = createServer({
    // Offers of other protocols, such as HTTP/2, are ignored, and the request is answered over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  // Ends answers that the client does not read. Live events have heartbeats, and `ws` turns the limit off.
  server.setTimeout(IDLE_AFTER_MS);
  const port = await listen(server, host, options.port);
  const access = new Access({ token, tokens, host, port });
  const live = new LiveHolders(tokens);
  const feed = new Feed(engine);
  const metrics = createMetrics({ engine, version, now: Date.now, live: () => feed.numbers });
  const logRequest = requestLogger(options.log ?? SILENT, Date.now);
  const answered = (report: RequestReport) => {
    metrics.answered(report);
    logRequest(report);
  };
  const beyondLoopback = !isLoopback(host);
  const limit = options.rateLimit ?? (beyondLoopback ? LIMIT_BEYOND_LOOPBACK : null);
  const limiter = limit && new RateLimiter(limit);
  const folders = allowedFolders(options.folders);
  const upgrade = new Upgrade({ access, engine, feed, live, limiter, answered });
  const shared = { engine, templates, feed, access, tokens, live, folders, limiter, metrics, answered };
  const { automation } = options;
  const app = createApp({ ...shared, version, webRoot, automation, onlyNamedAgents: beyondLoopback });
  // `overrideGlobalObjects: false` keeps the global Request and Response of a program that embeds the server.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: answerUnreadable });
  server.on("request", (request, response) => void listener(request, response));
  server.on("upgrade", (request, connection, head) => upgrade.take(request, connection, head));
  let closing: Promise<void> | null = null;
  const close = async () => {
    feed.close();
    metrics.close();
    live.close();
    const closed = once(server, "close");
    server.close();
    server.closeIdleConnections();
    const forceClose = setTimeout(() => {
      upgrade.close();
      server.closeAllConnections();
    }, GRACE_MS);
    await closed;
    clearTimeout(forceClose);
  };
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port, close: () => (closing ??= close()) };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "port_in_use" : "usage";
    throw new TuttiError(
      code,
      `Cannot listen on ${host}:${port}: ${(error as Error).message}. Choose another --host or --port.`,
      { cause: error },
    );
  }
  return (server.address() as AddressInfo).port;
}

/** Answers requests that fail before Hono: a `RequestError` means that the Host cannot be part of a URL. */
function answerUnreadable(error: unknown): Response {
  const refusal = new TuttiError("forbidden", UNKNOWN_HOST);
  const { status, body } = encodeError(error instanceof RequestError ? refusal : error);
  return Response.json(body, { status, headers: { ...SECURITY_HEADERS, "Cache-Control": "no-store" } });
}
