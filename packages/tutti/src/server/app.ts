// `createApp` is the HTTP application: security headers, access, API routes, dashboard files and error responses.
// `createRequestListener` connects it to Node's HTTP server, and `Upgrade` handles WebSockets.
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { accessRequest, UNKNOWN_HOST, type RequestAccess } from "./access/access.ts";
import type { AllowedFolders } from "./access/allowed-folders.ts";
import { MAX_BODY_BYTES, tooLarge, type Bindings } from "./decode.ts";
import { encodeError } from "./encode-error.ts";
import { forwardRequest } from "./forward.ts";
import type { Feed } from "./live/feed.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { hostHandlers } from "./hosts.ts";
import type { ServingOptions } from "./http-server.ts";
import { inboxHandlers } from "./routes/inbox-routes.ts";
import { teamHandlers } from "./routes/team-routes.ts";
import { resultHandlers } from "./routes/result-routes.ts";
import { logHandlers } from "./routes/log-routes.ts";
import { machineHandlers } from "./routes/machine-routes.ts";
import { mountRoutes } from "./mount-routes.ts";
import { NOT_BUILT_PAGE, pageLanguage, SIGN_IN_POLICY, signInPage } from "./pages.ts";
import type { LiveHolders } from "./live/live-holders.ts";
import { protocolHandlers } from "./routes/protocol-routes.ts";
import { restrictionOf } from "./access/restriction.ts";
import { runHandlers } from "./routes/run-routes.ts";
import { scheduleHandlers } from "./routes/schedule-routes.ts";
import { serverHandlers } from "./routes/server-routes.ts";
import { findStaticFile } from "./static-files.ts";
import { steerHandlers } from "./routes/steer-routes.ts";
import { subSessionHandlers } from "./routes/sub-session-routes.ts";
import { templateHandlers } from "./routes/template-routes.ts";
import type { Hide } from "./access/hide.ts";
import { watchRequests, type RequestListener } from "./watch-requests.ts";
import { tokenHandlers } from "./routes/token-routes.ts";
import { workerHandlers } from "./routes/worker-routes.ts";
import { readRouteKey, type Route } from "../schema/api/route.ts";
import { addressesOf, ROUTES } from "../schema/api/routes.ts";
import { TuttiError } from "../schema/error.ts";
import type { Metrics } from "../telemetry/metrics.ts";

interface AppParts extends Omit<ServingOptions, "folders" | "log" | "answerFirst"> {
  feed: Feed;
  live: LiveHolders;
  folders: AllowedFolders;
  metrics: Metrics;
  /** `answered` is called once for every request. */
  answered: RequestListener;
}

/** Routes in `OPEN_PATHS` need no token. They only read. */
const OPEN_PATHS = new Set(
  Object.entries<Route>(ROUTES).flatMap(([key, { open }]) => (open ? [readRouteKey(key).path] : [])),
);

/** Body limits in bytes of the routes that have `maxBytes` of their own instead of `MAX_BODY_BYTES`. */
const BODY_LIMITS = new Map(
  Object.entries<Route>(ROUTES).flatMap(([key, { maxBytes }]) =>
    maxBytes === undefined ? [] : addressesOf(key).map((address) => [address, maxBytes] as const),
  ),
);

/** `SIGNED_ROUTES` need a signature instead of a token. Their handlers verify it. */
const SIGNED_ROUTES = Object.entries<Route>(ROUTES).flatMap(([key, { signed }]) => {
  const { method, path } = readRouteKey(key);
  return signed ? [{ method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`) }] : [];
});

const needsToken = ({ req }: Context): boolean =>
  !OPEN_PATHS.has(req.path) &&
  !SIGNED_ROUTES.some(({ method, pattern }) => method === req.method && pattern.test(req.path));

export function createApp(parts: AppParts): Hono<Bindings> {
  const { engine, access, limiter, webRoot } = parts;
  const app = new Hono<Bindings>();

  app.use(watchRequests(parts.answered));
  app.use(async (c, next) => {
    await next();
    if (c.env.outgoing.headersSent) return;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
    if (isApi(c.req.path)) c.res.headers.set("Cache-Control", "no-store");
  });
  app.use(async (c, next) => {
    const requestHead = accessRequest(c.env.incoming, false);
    access.checkOrigin(requestHead);
    // `limiter` covers pages too: they accept the same tokens, so they could be used to guess one.
    limiter?.take(c.env.incoming.socket.remoteAddress ?? "");
    if (needsToken(c) && tokenInUrl(c, access) === null) c.set("holder", access.checkToken(requestHead));
    const maxBytes = BODY_LIMITS.get(`${c.req.method} ${c.req.path}`) ?? MAX_BODY_BYTES;
    if (Number(c.req.header("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
    await next();
  });

  const handlers = {
    ...serverHandlers(parts),
    ...tokenHandlers(parts),
    ...machineHandlers(parts),
    ...hostHandlers(parts.hosts),
    ...runHandlers(parts),
    ...resultHandlers(parts),
    ...teamHandlers(parts),
    ...logHandlers(parts),
    ...steerHandlers(parts),
    ...workerHandlers(engine),
    ...inboxHandlers(engine),
    ...subSessionHandlers(engine),
    ...scheduleHandlers(parts.automation),
    ...templateHandlers({ ...parts, harmlessOnly: parts.onlyNamedAgents, hide: (text) => engine.hideSecrets(text) }),
    ...protocolHandlers(),
  };
  const { forward } = parts;
  const filter = forward
    ? (c: Context<Bindings>, hide: Hide | null) =>
        forwardRequest(c, engine, forward, hide, restrictionOf(parts.onlyNamedAgents, c))
    : null;
  mountRoutes(app, handlers, engine, filter);
  app.get("*", async (c) => {
    if (isApi(c.req.path)) throw routeNotFound(c);
    const token = tokenInUrl(c, access);
    if (token !== null) return c.body(null, 303, { Location: "/", "Set-Cookie": access.setCookie(token) });
    if (webRoot === null) return c.html(NOT_BUILT_PAGE, 200, { "Content-Security-Policy": SIGN_IN_POLICY });
    const file = await findStaticFile(webRoot, new URL(c.req.url).pathname, c.req.header("accept-encoding"));
    if (file === null) throw routeNotFound(c);
    return c.body(new Uint8Array(file.content), 200, file.headers);
  });

  app.notFound((c) => {
    throw routeNotFound(c);
  });
  app.onError((error, c) => {
    const { status, body } = encodeError(error);
    if (status === 429) c.header("Retry-After", String((body.error.details as RetryAfter).retryAfterSeconds));
    if (status === 401 && !isApi(c.req.path)) {
      const page = signInPage(c.req.query("token") !== undefined, pageLanguage(c.req.header("accept-language")));
      return c.html(page, 401, { "Content-Security-Policy": SIGN_IN_POLICY });
    }
    return c.json(body, status as ContentfulStatusCode);
  });
  return app;
}

export type HttpListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

// `overrideGlobalObjects: false` keeps the global Request and Response of a program that embeds the server.
export const createRequestListener = (parts: AppParts): HttpListener =>
  getRequestListener(createApp(parts).fetch, { overrideGlobalObjects: false, errorHandler: answerUnreadable });

/** Answers requests that fail before Hono: a `RequestError` means that the Host cannot be part of a URL. */
function answerUnreadable(error: unknown): Response {
  const refusal = new TuttiError("forbidden", UNKNOWN_HOST);
  const { status, body } = encodeError(error instanceof RequestError ? refusal : error);
  return Response.json(body, { status, headers: { ...SECURITY_HEADERS, "Cache-Control": "no-store" } });
}

type RetryAfter = { retryAfterSeconds: number };

const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/") || path === "/metrics";

const routeNotFound = (c: Context): TuttiError =>
  new TuttiError("not_found", `The route ${c.req.method} ${c.req.path} does not exist. See all routes at /api/docs.`);

/** `tokenInUrl` is a valid token from `/?token=…`, the URL printed at start; `GET *` then exchanges it for a cookie. */
function tokenInUrl(c: Context, access: RequestAccess): string | null {
  const token = c.req.query("token");
  if (c.req.method !== "GET" || c.req.path !== "/" || token === undefined) return null;
  return access.holderOf(token) && token;
}
