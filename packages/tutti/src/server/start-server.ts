// The server: one port for the API, the live events and the dashboard.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Access, isLoopback } from "./access.ts";
import { allowedFolders } from "./allowed-folders.ts";
import { createApp } from "./app.ts";
import { Feed } from "./feed.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { encodeError } from "./encode-error.ts";
import { LiveHolders } from "./live-holders.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { RateLimiter, type RateLimit } from "./rate-limit.ts";
import { Upgrade } from "./upgrade.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenAutomation } from "../schedule/automation.ts";
import { TuttiError } from "../schema/error.ts";
import { SILENT, type Log } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { requestLogger, type RequestReport } from "../telemetry/request-report.ts";
import type { TemplateLibrary } from "../template/library.ts";

export interface ServerOptions {
  engine: Engine;
  templates: TemplateLibrary;
  token: string;
  tokens: NamedTokens;
  /** Whether the person gave the token; otherwise a server that others can reach needs a named one to be meant for them. */
  explicitToken?: boolean;
  host?: string;
  /** 0 takes any free one. */
  port: number;
  version: string;
  /** The folder with the built dashboard. */
  webRoot: string | null;
  /** How often one address may ask; without it as often as it likes on loopback, else ten times a second. */
  rateLimit?: RateLimit;
  /** The folders that runs may use, with all that lies in them; without it any. */
  folders?: readonly string[];
  /** Schedules and triggers; without it there are none. */
  automation?: OpenAutomation;
  /** Without it nothing is logged. */
  log?: Log;
}

export interface RunningServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** A person and a dashboard stay far below it. */
const LIMIT_BEYOND_LOOPBACK: RateLimit = { perMinute: 600 };

/** How long requests that are under way at the end may take. */
const GRACE_MS = 1000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { engine, templates, token, tokens, host = "127.0.0.1", version, webRoot } = options;
  if (!isLoopback(host) && options.explicitToken !== true && tokens.list().every(({ expired }) => expired)) {
    const message = `to listen on ${host}, where others can reach it, the server needs a --token, or a named one for them: tutti tokens create NAME --role ROLE`;
    throw new TuttiError("usage", message);
  }
  const server = createServer({
    // Programs that offer other protocols, such as HTTP/2, are answered as if they had not.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  const port = await listen(server, host, options.port);
  const access = new Access({ token, tokens, host, port });
  const live = new LiveHolders(tokens);
  const feed = new Feed(engine);
  const metrics = createMetrics({ engine, version, now: Date.now, live: () => feed.numbers });
  const logged = requestLogger(options.log ?? SILENT, Date.now);
  const answered = (report: RequestReport) => {
    metrics.answered(report);
    logged(report);
  };
  const beyondLoopback = !isLoopback(host);
  const limit = options.rateLimit ?? (beyondLoopback ? LIMIT_BEYOND_LOOPBACK : null);
  const limiter = limit && new RateLimiter(limit);
  const folders = allowedFolders(options.folders);
  const upgrade = new Upgrade({ access, engine, feed, live, limiter, answered });
  const shared = { engine, templates, feed, access, tokens, live, folders, limiter, metrics, answered };
  const { automation } = options;
  const app = createApp({ ...shared, version, webRoot, automation, onlyNamedAgents: beyondLoopback });
  // The listener leaves the global Request and Response alone, which belong to whoever embeds the server.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: answerUnread });
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
    const late = setTimeout(() => {
      upgrade.close();
      server.closeAllConnections();
    }, GRACE_MS);
    await closed;
    clearTimeout(late);
  };
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port, close: () => (closing ??= close()) };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "port_in_use" : "usage";
    throw new TuttiError(code, `cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error });
  }
  return (server.address() as AddressInfo).port;
}

/** For requests that no application sees. A Host that cannot be part of a URL is none of ours. */
function answerUnread(error: unknown): Response {
  const refusal = new TuttiError("forbidden", "this server does not answer to that Host");
  const { status, body } = encodeError(error instanceof RequestError ? refusal : error);
  return Response.json(body, { status, headers: { ...SECURITY_HEADERS, "Cache-Control": "no-store" } });
}
