// `serveRequests` answers on a TCP port (`startServer`) or a Unix socket (`startSocketServer`): the API, the live
// events and the dashboard.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { UNKNOWN_HOST, type RequestAccess } from "./access/access.ts";
import { allowedFolders } from "./access/allowed-folders.ts";
import type { NamedTokens } from "./access/named-tokens.ts";
import type { RateLimiter } from "./access/rate-limit.ts";
import { createApp } from "./app.ts";
import { encodeError } from "./encode-error.ts";
import type { Forwarder } from "./forward.ts";
import type { Machine } from "./machine.ts";
import type { Hosts } from "./hosts.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { Feed } from "./live/feed.ts";
import { LiveHolders } from "./live/live-holders.ts";
import { Upgrade } from "./live/upgrade.ts";
import { unreadAnswers } from "./unread-answers.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenAutomation } from "../schedule/automation.ts";
import { TuttiError } from "../schema/error.ts";
import { SILENT, type Log } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { requestLogger, type RequestReport } from "../telemetry/request-report.ts";
import type { TemplateLibrary } from "../template/files/library.ts";

export interface ServedParts {
  engine: Engine;
  templates: TemplateLibrary;
  tokens: NamedTokens;
  version: string;
  webRoot: string | null;
  /** Folders that runs may use, subfolders included. Without `folders`, any. */
  folders?: readonly string[];
  /** Without `automation` the server has no schedules and no triggers. */
  automation?: OpenAutomation;
  /** Without `machine` the routes about the machine answer 404. */
  machine?: Machine;
  /** Without `forward` there are no other servers. */
  forward?: Forwarder;
  /** Without `hosts` the server has no worker hosts. */
  hosts?: Hosts;
  log?: Log;
}

export interface ServingOptions extends ServedParts {
  access: RequestAccess;
  /** `answerFirst` answers requests that are not part of the API and returns false for all others. */
  answerFirst?: (request: IncomingMessage, response: ServerResponse) => boolean;
  limiter: RateLimiter | null;
  onlyNamedAgents: boolean;
}

export interface ServedRequests {
  followedRuns: () => Set<string>;
  close: () => Promise<void>;
}

const IDLE_AFTER_MS = 120_000;
/** Time that open requests get to finish when the server closes. */
const GRACE_MS = 1000;

export function createHttpServer(): Server {
  const server = createServer({
    // Offers of other protocols, such as HTTP/2, are ignored, and the request is answered over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  // `setTimeout` ends answers that the client does not read. Live events have heartbeats, and `ws` turns the limit off.
  server.setTimeout(IDLE_AFTER_MS);
  unreadAnswers.watch(server);
  return server;
}

/** Call `serveRequests` in the same step in which `server` starts to listen, so that no request is missed. */
export function serveRequests(server: Server, options: ServingOptions): ServedRequests {
  const { engine, templates, tokens, version, webRoot, automation, machine, hosts, access, limiter } = options;
  const { onlyNamedAgents } = options;
  const live = new LiveHolders(tokens);
  const feed = new Feed(engine);
  const metrics = createMetrics({ engine, version, now: Date.now, live: () => feed.numbers });
  const logRequest = requestLogger(options.log ?? SILENT, Date.now);
  const answered = (report: RequestReport) => {
    metrics.answered(report);
    logRequest(report);
  };
  const folders = allowedFolders(options.folders);
  const upgrade = new Upgrade({ access, engine, feed, live, limiter, answered });
  const shared = { engine, templates, feed, access, tokens, live, folders, limiter, metrics, answered };
  const app = createApp({
    ...shared,
    version,
    webRoot,
    automation,
    machine,
    hosts,
    forward: options.forward,
    onlyNamedAgents,
  });
  // `overrideGlobalObjects: false` keeps the global Request and Response of a program that embeds the server.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: answerUnreadable });
  server.on("request", (request, response) => {
    if (options.answerFirst?.(request, response) !== true) void listener(request, response);
  });
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
  return { followedRuns: () => feed.followedRuns, close: () => (closing ??= close()) };
}

/** Answers requests that fail before Hono: a `RequestError` means that the Host cannot be part of a URL. */
function answerUnreadable(error: unknown): Response {
  const refusal = new TuttiError("forbidden", UNKNOWN_HOST);
  const { status, body } = encodeError(error instanceof RequestError ? refusal : error);
  return Response.json(body, { status, headers: { ...SECURITY_HEADERS, "Cache-Control": "no-store" } });
}
