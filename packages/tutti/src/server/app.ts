// All of HTTP but the upgrades: headers, access, the API, the dashboard, and errors in their one shape.
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Access } from "./access.ts";
import { MAX_BODY_BYTES, tooLarge, type Bindings } from "./decode.ts";
import { EventStream } from "./event-stream.ts";
import type { Feed } from "./feed.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { inboxRoutes } from "./inbox-routes.ts";
import { NOT_BUILT_PAGE, TOKEN_NEEDED_PAGE } from "./pages.ts";
import { encodeError } from "./encode-error.ts";
import { runRoutes } from "./run-routes.ts";
import { findStaticFile } from "./static-files.ts";
import { steerRoutes } from "./steer-routes.ts";
import { templateRoutes } from "./template-routes.ts";
import { readWanted } from "./wanted.ts";
import { workerRoutes } from "./worker-routes.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { TemplateLibrary } from "../template/library.ts";

export interface AppParts {
  engine: Engine;
  templates: TemplateLibrary;
  feed: Feed;
  access: Access;
  version: string;
  webRoot: string | null;
  onlyNamedAgents: boolean;
}

const HEALTH = "/api/health";

export function createApp(parts: AppParts): Hono<Bindings> {
  const { engine, access, version, webRoot } = parts;
  const app = new Hono<Bindings>();

  app.use(async (c, next) => {
    await next();
    if (c.env.outgoing.headersSent) return;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.res.headers.set(name, value);
    if (isApi(c.req.path)) c.res.headers.set("Cache-Control", "no-store");
  });
  app.use(async (c, next) => {
    const asking = { method: c.req.method, upgrade: false, headers: c.env.incoming.headers };
    access.checkOrigin(asking);
    if (c.req.path !== HEALTH && !handsOverToken(c, access)) access.checkToken(asking);
    if (Number(c.req.header("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
    await next();
  });

  app.get(HEALTH, (c) => c.json({ status: "ok", version }));
  app.get("/api/events", (c) => streamEvents(c, parts));
  // Before the routes of runs, which would take `templates` for the name of one.
  for (const base of ["/api/orchestrator/templates", "/api/templates"]) {
    app.route(base, templateRoutes(parts.templates, parts.onlyNamedAgents));
  }
  app.route("/api/orchestrator", runRoutes(engine, parts.onlyNamedAgents));
  app.route("/api/orchestrator", steerRoutes(engine));
  app.route("/api/orchestrator", workerRoutes(engine));
  app.route("/api/inbox", inboxRoutes(engine));
  app.get("*", async (c) => {
    if (isApi(c.req.path)) throw nothingAt(c);
    if (handsOverToken(c, access)) return c.body(null, 303, { Location: "/", "Set-Cookie": access.setCookie });
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
    if (status === 401 && !isApi(c.req.path)) return c.html(TOKEN_NEEDED_PAGE, 401);
    return c.json(body, status as ContentfulStatusCode);
  });
  return app;
}

const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/");

const nothingAt = (c: Context): TuttiError => new TuttiError("not_found", `there is no ${c.req.method} ${c.req.path}`);

/** The printed URL: its token becomes a cookie, and leaves the address bar. */
function handsOverToken(c: Context, access: Access): boolean {
  const token = c.req.query("token");
  return c.req.method === "GET" && c.req.path === "/" && token !== undefined && access.isToken(token);
}

function streamEvents(c: Context<Bindings>, { engine, feed }: AppParts): Response {
  const { incoming, outgoing } = c.env;
  const accepted = c.req.header("accept") ?? "";
  if (incoming.method !== "GET" || !/text\/event-stream|\*\/\*/.test(accepted)) {
    throw new TuttiError(
      "invalid_input",
      "events come over a WebSocket or, with Accept: text/event-stream, as a stream",
    );
  }
  const wanted = readWanted(engine, c.req.query(), incoming.headers);
  const headers = { ...SECURITY_HEADERS, "Cache-Control": "no-store" };
  feed.follow(new EventStream(outgoing, headers), wanted);
  return RESPONSE_ALREADY_SENT;
}
