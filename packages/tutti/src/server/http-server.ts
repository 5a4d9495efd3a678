// `serveRequests` answers on a TCP port (`startServer`) or a Unix socket (`startSocketServer`): the API, the live
// events and the dashboard.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { RequestAccess } from "./access/access.ts";
import { allowedFolders } from "./access/allowed-folders.ts";
import type { HttpListener } from "./app.ts";
import type { NamedTokens } from "./access/named-tokens.ts";
import { PipelinedRequests } from "./access/pipelined-requests.ts";
import type { RateLimiter } from "./access/rate-limit.ts";
import { encodeError } from "./encode-error.ts";
import type { Forwarder } from "./forward.ts";
import type { Machine } from "./machine.ts";
import type { Hosts } from "./hosts.ts";
import { Feed } from "./live/feed.ts";
import { LiveHolders } from "./live/live-holders.ts";
import type { Upgrade } from "./live/upgrade.ts";
import { unreadAnswers } from "./unread-answers.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenAutomation } from "../schedule/automation.ts";
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
  /** Null means no rate limit. */
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
  const { engine, tokens, version, access, limiter } = options;
  const live = new LiveHolders(tokens);
  const feed = new Feed(engine);
  const metrics = createMetrics({ engine, version, now: Date.now, live: () => feed.numbers });
  const logRequest = requestLogger(options.log ?? SILENT, Date.now);
  const answered = (report: RequestReport) => {
    metrics.answered(report);
    logRequest(report);
  };
  const folders = allowedFolders(options.folders);
  const shared = { engine, feed, access, live, limiter, answered };
  // The routes and the WebSockets are loaded at the first use: that takes longer than everything else before the server
  // listens, and most engines of a command answer no request.
  let listener: Promise<HttpListener> | null = null;
  const loadListener = () =>
    (listener ??= import("./app.ts").then(({ createRequestListener }) =>
      createRequestListener({ ...options, ...shared, folders, metrics }),
    ));
  let upgrade: Promise<Upgrade> | null = null;
  const loadUpgrade = () => (upgrade ??= import("./live/upgrade.ts").then(({ Upgrade }) => new Upgrade(shared)));
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (options.answerFirst?.(request, response) === true) return;
    loadListener()
      .then((listen) => listen(request, response))
      .catch((error: unknown) => answerUnloadable(response, error));
  };
  const pipelined = new PipelinedRequests();
  server.on("request", (request, response) => pipelined.take(request, response, () => answer(request, response)));
  server.on("upgrade", (request, connection, head) => {
    // A client may disconnect at any time.
    connection.on("error", () => {});
    // The answers to earlier requests would end up between the frames of the WebSocket.
    if (pipelined.isBusy(connection)) {
      connection.destroy();
      return;
    }
    loadUpgrade()
      .then((upgrades) => upgrades.take(request, connection, head))
      .catch(() => connection.destroy());
  });
  let closing: Promise<void> | null = null;
  const close = async () => {
    feed.close();
    metrics.close();
    live.close();
    const closed = once(server, "close");
    server.close();
    server.closeIdleConnections();
    const forceClose = setTimeout(() => {
      void upgrade?.then((upgrades) => upgrades.close());
      server.closeAllConnections();
    }, GRACE_MS);
    await closed;
    clearTimeout(forceClose);
  };
  return { followedRuns: () => feed.followedRuns, close: () => (closing ??= close()) };
}

/** For example after the files of the package have been replaced by those of another version. */
function answerUnloadable(response: ServerResponse, error: unknown): void {
  const { status, body } = encodeError(error);
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}
