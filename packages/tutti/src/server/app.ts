// All of HTTP but the upgrades: headers, access, the API, the dashboard, and errors in their one shape.
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Access } from "./access.ts";
import type { AllowedFolders } from "./allowed-folders.ts";
import { MAX_BODY_BYTES, tooLarge, type Bindings } from "./decode.ts";
import { encodeError } from "./encode-error.ts";
import type { Feed } from "./feed.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { inboxHandlers } from "./inbox-routes.ts";
import { logHandlers } from "./log-routes.ts";
import { mountRoutes } from "./mount-routes.ts";
import { NOT_BUILT_PAGE, TOKEN_NEEDED_PAGE } from "./pages.ts";
import type { LiveHolders } from "./live-holders.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { protocolHandlers } from "./protocol-routes.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { runHandlers } from "./run-routes.ts";
import { scheduleHandlers } from "./schedule-routes.ts";
import { serverHandlers } from "./server-routes.ts";
import { findStaticFile } from "./static-files.ts";
import { steerHandlers } from "./steer-routes.ts";
import { subSessionHandlers } from "./sub-session-routes.ts";
import { templateHandlers } from "./template-routes.ts";
import { watchRequests, type RequestListener } from "./watch-requests.ts";
import { tokenHandlers } from "./token-routes.ts";
import { workerHandlers } from "./worker-routes.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenAutomation } from "../schedule/automation.ts";
import { readRouteKey, type Route } from "../schema/api/route.ts";
import { ROUTES } from "../schema/api/routes.ts";
import { TuttiError } from "../schema/error.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { TemplateLibrary } from "../template/library.ts";

export interface AppParts {
  engine: Engine;
  templates: TemplateLibrary;
  feed: Feed;
  access: Access;
  tokens: NamedTokens;
  live: LiveHolders;
  folders: AllowedFolders;
  /** Null for as many requests as anybody likes. */
  limiter: RateLimiter | null;
  version: string;
  webRoot: string | null;
  onlyNamedAgents: boolean;
  metrics: Metrics;
  /** Schedules and triggers; without it there are none. */
  automation?: OpenAutomation | undefined;
  /** Told of every request. */
  answered: RequestListener;
}

/** What is answered without a token, by path: these routes only read. */
const OPEN_PATHS = new Set(
  Object.entries<Route>(ROUTES).flatMap(([key, { open }]) => (open ? [readRouteKey(key).path] : [])),
);

/** How long the bodies may be of routes that take longer ones than the others. */
const LONG_BODIES = new Map(
  Object.entries<Route>(ROUTES).flatMap(([key, { maxBytes }]) => (maxBytes === undefined ? [] : [[key, maxBytes]])),
);

/** What a signature opens instead; these routes look at it themselves. */
const SIGNED = Object.entries<Route>(ROUTES).flatMap(([key, { signed }]) => {
  const { method, path } = readRouteKey(key);
  return signed ? [{ method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`) }] : [];
});

const needsToken = ({ req }: Context): boolean =>
  !OPEN_PATHS.has(req.path) && !SIGNED.some(({ method, pattern }) => method === req.method && pattern.test(req.path));

export function createApp(parts: AppParts): Hono<Bindings> {
  const { engine, access, limiter, webRoot } = parts;
  const app = new Hono<Bindings>();

  app.use(watchRequests(parts.answered));
  app.use(async (c, next) => {
    await next();
    if (c.env.outgoing.headersSent) return;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.res.headers.set(name, value);
    if (isApi(c.req.path)) c.res.headers.set("Cache-Control", "no-store");
  });
  app.use(async (c, next) => {
    const asking = { method: c.req.method, upgrade: false, headers: c.env.incoming.headers };
    access.checkOrigin(asking);
    // Pages too: they are opened by the same tokens, which nobody is to find by trying.
    limiter?.take(c.env.incoming.socket.remoteAddress ?? "");
    if (needsToken(c) && tokenHandedOver(c, access) === null) c.set("holder", access.checkToken(asking));
    const most = LONG_BODIES.get(`${c.req.method} ${c.req.path}`) ?? MAX_BODY_BYTES;
    if (Number(c.req.header("content-length") ?? 0) > most) throw tooLarge(most);
    await next();
  });

  mountRoutes(app, {
    ...serverHandlers(parts),
    ...tokenHandlers(parts),
    ...runHandlers(parts),
    ...logHandlers(parts),
    ...steerHandlers(engine),
    ...workerHandlers(engine),
    ...inboxHandlers(engine),
    ...subSessionHandlers(engine),
    ...scheduleHandlers(parts.automation),
    ...templateHandlers({ ...parts, harmlessOnly: parts.onlyNamedAgents }),
    ...protocolHandlers(),
  });
  app.get("*", async (c) => {
    if (isApi(c.req.path)) throw nothingAt(c);
    const token = tokenHandedOver(c, access);
    if (token !== null) return c.body(null, 303, { Location: "/", "Set-Cookie": access.setCookie(token) });
    if (webRoot === null) return c.html(NOT_BUILT_PAGE);
    const file = await findStaticFile(webRoot, new URL(c.req.url).pathname);
    if (file === null) throw nothingAt(c);
    return c.body(new Uint8Array(file.content), 200, file.headers);
  });

  app.notFound((c) => {
    throw nothingAt(c);
  });
  app.onError((error, c) => {
    const { status, body } = encodeError(error);
    if (status === 429) c.header("Retry-After", String((body.error.details as RetryAfter).retryAfterSeconds));
    if (status === 401 && !isApi(c.req.path)) return c.html(TOKEN_NEEDED_PAGE, 401);
    return c.json(body, status as ContentfulStatusCode);
  });
  return app;
}

type RetryAfter = { retryAfterSeconds: number };

const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/") || path === "/metrics";

const nothingAt = (c: Context): TuttiError => new TuttiError("not_found", `there is no ${c.req.method} ${c.req.path}`);

/** The printed URL: its token becomes a cookie, and leaves the address bar. */
function tokenHandedOver(c: Context, access: Access): string | null {
  const token = c.req.query("token");
  if (c.req.method !== "GET" || c.req.path !== "/" || token === undefined) return null;
  return access.holderOf(token) && token;
}
