// Access control (contract section 7) for every route and every relevant header.
import type { OutgoingHttpHeaders } from "node:http";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRouteKey, roleOf, type Route } from "../../src/schema/api/route.ts";
import { addressesOf, ROUTES } from "../../src/schema/api/routes.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { Access } from "../../src/server/access/access.ts";
import { allowedFolders } from "../../src/server/access/allowed-folders.ts";
import { createApp } from "../../src/server/app.ts";
import { Feed } from "../../src/server/live/feed.ts";
import { LiveHolders } from "../../src/server/live/live-holders.ts";
import { startServer } from "../../src/server/start-server.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { ServerLab } from "./server-lab.ts";

/** Every route with a path that matches it. */
type Address = [method: string, pattern: string, path: string];
const addresses = (isClosed: boolean): Address[] =>
  Object.entries<Route>(ROUTES)
    .filter(([key, route]) => (roleOf(key, route) !== null) === isClosed)
    .flatMap(([key]) => addressesOf(key))
    .map((key) => {
      const { method, path } = readRouteKey(key);
      return [method, path, path.replaceAll(/:\w+/g, "x")];
    });
const CLOSED: Address[] = [...addresses(true), ["GET", "/*", "/some/page"]];
/** Includes the routes that need a signature instead of a token. */
const OPEN: Address[] = addresses(false);

let lab: ServerLab;
let cookie: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  const { headers } = await lab.ask(`/?token=${lab.token}`);
  [cookie] = headers["set-cookie"]![0]!.split(";") as [string];
});
afterAll(() => lab.tearDown());

const origin = (host = lab.host) => `http://${host}`;
const status = async (path: string, headers: OutgoingHttpHeaders, method = "GET") =>
  (await lab.ask(path, { method, headers })).status;

describe("the token", () => {
  it("is tested on every route of the app", () => {
    const { engine, templates } = lab.local;
    const access = new Access({ token: "t", tokens: lab.tokens, host: "127.0.0.1", port: 1 });
    const feed = new Feed(engine);
    const { tokens } = lab;
    const live = new LiveHolders(tokens);
    const parts = { engine, templates, feed, access, tokens, live, folders: allowedFolders(undefined), limiter: null };
    const metrics = createMetrics({ engine, version: "1", now: Date.now, live: () => feed.numbers });
    const rest = { version: "1", webRoot: null, onlyNamedAgents: false, metrics, answered: () => {} };
    const app = createApp({ ...parts, ...rest });
    feed.close();
    metrics.close();
    live.close();
    const routes = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
    expect(routes.toSorted()).toEqual([...OPEN, ...CLOSED].map(([method, path]) => `${method} ${path}`).toSorted());
  });

  it.each(CLOSED)("%s %s returns 401 if it is missing or wrong", async (method, _, path) => {
    const wrong = [
      {},
      { authorization: "Bearer wrong" },
      { authorization: `Bearer ${lab.token}x` },
      { authorization: "Bearer " },
      { authorization: `Basic ${lab.token}` },
      { authorization: lab.token },
      { cookie: `tutti_${lab.server.port}=${lab.token}` },
      { cookie: cookie.replace(/=.*/, "=") },
      // The cookie of a server on another port of this machine.
      { cookie: cookie.replace(/^tutti_\d+/, "tutti_1") },
      { cookie, authorization: "Bearer wrong" },
    ];
    for (const headers of wrong) {
      const { status, json, headers: answered } = await lab.ask(path, { method, headers });
      expect([status, headers]).toEqual([401, headers]);
      if (path.startsWith("/api")) expect(json.error.code).toBe("unauthorized");
      expect(answered).not.toHaveProperty("access-control-allow-origin");
    }
    const accepted = await lab.ask(path, { method, headers: { ...lab.bearer } });
    expect([401, 403]).not.toContain(accepted.status);
  });

  it("in the printed URL becomes a cookie and leaves the address bar; other URLs do not accept it", async () => {
    const { status: redirect, headers } = await lab.ask(`/?token=${lab.token}`);
    expect([redirect, headers.location]).toEqual([303, "/"]);
    expect(headers["set-cookie"]).toEqual([`${cookie}; Path=/; HttpOnly; SameSite=Strict`]);
    expect(cookie).toMatch(new RegExp(`^tutti_${lab.server.port}=`));
    expect(cookie).not.toContain(lab.token);
    expect(await status("/", { cookie })).toBe(200);
    for (const path of [
      "/?token=wrong",
      "/?token=",
      `/other?token=${lab.token}`,
      `/api/orchestrator?token=${lab.token}`,
    ]) {
      const answer = await lab.ask(path);
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([401, undefined]);
    }
  });

  it("is requested by a page that explains how to get in", async () => {
    const { status, text, headers } = await lab.ask("/");
    expect([status, headers["content-type"]]).toEqual([401, "text/html; charset=UTF-8"]);
    expect(text).toMatch(/Open the URL that <code>tutti serve<\/code> printed[\s\S]*<input id="token" name="token"/);
    expect(text).not.toContain("This token is wrong");
    expect((await lab.ask("/?token=nonsense")).text).toContain("This token is wrong, expired or revoked.");
    // The policy allows exactly the style of the page, and its form.
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(text) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(headers["content-security-policy"]).toMatch(/form-action 'self'/);
    expect(headers["content-security-policy"]).toContain(`style-src 'sha256-${digest}'`);
  });
});

describe("a foreign Host", () => {
  it.each([...OPEN, ...CLOSED])("is refused with 403 on %s %s, with the token too", async (method, _, path) => {
    const { port } = lab.server;
    const foreign = [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
    ];
    for (const host of [...foreign, `10.0.0.1:${port}`, `localhost.:${port}`, `[::2]:${port}`, `localhost:${port}0`]) {
      const answer = await lab.ask(path, { method, headers: { ...lab.bearer, host } });
      expect([answer.status, host]).toEqual([403, host]);
      expect(answer.json.error.code).toBe("forbidden");
    }
  });

  it("is any name but the loopback names of this machine", async () => {
    for (const name of ["127.0.0.1", "localhost", "LocalHost", "[::1]"]) {
      const host = `${name}:${lab.server.port}`;
      expect(await status("/api/orchestrator", { ...lab.bearer, host })).toBe(200);
      expect(await status("/api/orchestrator", { ...lab.bearer, host, origin: origin(host) })).toBe(200);
    }
  });

  it("is rejected in every form of a request", async () => {
    const raw = async (text: string) => {
      const connection = connect(lab.server.port, "127.0.0.1").setEncoding("utf8");
      connection.end(text);
      let answer = "";
      for await (const chunk of connection) answer += chunk as string;
      return answer.slice(9, 12);
    };
    const end = `Authorization: Bearer ${lab.token}\r\nConnection: close\r\n\r\n`;
    expect(await raw(`GET /api/inbox HTTP/1.1\r\n${end}`)).toBe("400");
    expect(await raw(`GET /api/inbox HTTP/1.0\r\n${end}`)).toMatch(/40[03]/);
    expect(await raw(`GET /api/inbox HTTP/1.1\r\nHost: a b\r\n${end}`)).toMatch(/40[03]/);
    expect(await raw(`GET http://${lab.host}/api/inbox HTTP/1.1\r\nHost: evil.example\r\n${end}`)).toBe("403");
    expect(await raw(`GET /api/inbox HTTP/1.1\r\nHost: evil.example\r\nHost: ${lab.host}\r\n${end}`)).toMatch(/40[03]/);
    expect(await raw(`GET /api/inbox HTTP/1.1\r\nHost: ${lab.host}\r\nhost: evil.example\r\n${end}`)).toBe("400");
    expect(await raw(`GET http://evil.example/api/inbox HTTP/1.1\r\nHost: ${lab.host}\r\n${end}`)).toBe("403");
    expect(await raw(`GET http://${lab.host}/api/inbox HTTP/1.1\r\nHost: ${lab.host}\r\n${end}`)).toBe("200");
    expect(await raw(`TRACE /api/inbox HTTP/1.1\r\nHost: ${lab.host}\r\n${end}`)).toMatch(/40[0-9]/);
    expect(await raw(`GET /api/inbox HTTP/1.1\r\nHost: ${lab.host}\r\n${end}`)).toBe("200");
  });
});

describe("a foreign Origin", () => {
  it.each([...OPEN, ...CLOSED])("is refused with 403 on %s %s, with the token too", async (method, _, path) => {
    const other = ["null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", `https://${lab.host}`];
    for (const foreign of [
      ...other,
      `http://localhost:${lab.server.port}`,
      `${origin()}.evil.example`,
      `${origin()}/`,
    ]) {
      const answer = await lab.ask(path, { method, headers: { ...lab.bearer, origin: foreign } });
      expect([answer.status, foreign]).toEqual([403, foreign]);
    }
  });
});

describe("the cookie", () => {
  it("allows reads unless the browser reports another site", async () => {
    for (const site of ["same-origin", "none"]) {
      expect(await status("/api/orchestrator", { cookie, "sec-fetch-site": site })).toBe(200);
    }
    expect(await status("/api/orchestrator", { cookie })).toBe(200);
    expect(await status("/api/orchestrator", { cookie: `a=b; ${cookie}; c=d`, origin: origin() })).toBe(200);
    // A server on another port can set a cookie of the same name, which must not lock the user out.
    expect(await status("/api/orchestrator", { cookie: `${cookie.replace(/=.*/, "=junk")}; ${cookie}` })).toBe(200);
  });

  it("is rejected if another site makes the browser send a form, load an image or open a page", async () => {
    for (const site of ["cross-site", "same-site", "nonsense"]) {
      for (const path of ["/", "/api/orchestrator", "/assets/x.js"]) {
        expect(await status(path, { cookie, "sec-fetch-site": site })).toBe(403);
      }
      expect(await status("/api/orchestrator", { cookie, origin: origin(), "sec-fetch-site": site }, "POST")).toBe(403);
    }
    const form = { cookie, origin: "null", "content-type": "text/plain", "sec-fetch-site": "cross-site" };
    expect(await status("/api/orchestrator", form, "POST")).toBe(403);
  });

  it("allows writes and upgrades only with the Origin of our own page", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      expect(await status("/api/orchestrator/x/start", { cookie }, method)).toBe(403);
    }
    expect(await status("/api/orchestrator/x/start", { cookie, origin: origin() }, "POST")).toBe(404);
    expect((await lab.refusedSocket("/api/events", { cookie })).status).toBe(403);
    const follower = await lab.socket("", { cookie, origin: origin() });
    follower.leave();
  });
});

describe("an upgrade", () => {
  const refused = async (headers: OutgoingHttpHeaders, path = "/api/events") => {
    const { status, text } = await lab.refusedSocket(path, headers);
    return [status, JSON.parse(text).error.code];
  };

  it("passes the same access checks as any other request", async () => {
    expect(await refused({})).toEqual([401, "unauthorized"]);
    expect(await refused({ authorization: "Bearer wrong" })).toEqual([401, "unauthorized"]);
    expect(await refused({ ...lab.bearer, host: "evil.example" })).toEqual([403, "forbidden"]);
    for (const foreign of ["null", "http://evil.example", "http://127.0.0.1:1"]) {
      expect(await refused({ ...lab.bearer, origin: foreign })).toEqual([403, "forbidden"]);
      expect(await refused({ cookie, origin: foreign })).toEqual([403, "forbidden"]);
    }
    expect(await refused({ cookie, origin: origin(), "sec-fetch-site": "same-site" })).toEqual([403, "forbidden"]);
    expect(await refused({ ...lab.bearer, origin: origin() }, "/api/orchestrator")).toEqual([404, "not_found"]);
    expect(await refused({ ...lab.bearer }, "/api/events?after=x")).toEqual([400, "invalid_input"]);
    expect(await refused({ ...lab.bearer }, "/api/events?run=orch_nobody")).toEqual([404, "run_not_found"]);
  });

  it("to another protocol than WebSocket is ignored", async () => {
    const headers = { ...lab.bearer, connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "" };
    expect(await status("/api/orchestrator", headers)).toBe(200);
  });

  it("with a broken handshake returns 400", async () => {
    const headers = { ...lab.bearer, connection: "Upgrade", upgrade: "websocket" };
    const { status, json } = await lab.ask("/api/events", { headers });
    expect([status, json.error.code]).toEqual([400, "invalid_input"]);
  });
});

describe("every response", () => {
  it("restricts our own pages to what they need and grants other origins nothing", async () => {
    for (const path of ["/", "/api/health", "/api/orchestrator", "/api/nowhere", "/api/events"]) {
      for (const headers of [{}, lab.bearer, { ...lab.bearer, accept: "text/event-stream" }]) {
        const response = await lab.open(path, { headers });
        const { headers: answered } = response;
        response.destroy();
        expect(answered["content-security-policy"]).toContain("default-src 'self'");
        expect(answered["content-security-policy"]).toContain("frame-ancestors 'none'");
        expect(answered["x-content-type-options"]).toBe("nosniff");
        expect(answered["referrer-policy"]).toBe("no-referrer");
        if (path.startsWith("/api")) expect(answered["cache-control"]).toBe("no-store");
        expect(Object.keys(answered).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
  });
});

describe("beyond loopback", () => {
  const start = (host: string, explicitToken: boolean) => {
    const { engine, templates } = lab.local;
    const { token, tokens } = lab;
    return startServer({ engine, templates, token, tokens, explicitToken, host, port: 0, version: "1", webRoot: null });
  };

  it("a server needs a token that the user chose", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.org"]) {
      await expect(start(host, false)).rejects.toMatchObject({ code: "usage" });
    }
  });

  it("requests may use any IP address but no foreign name, and may not name a program to run", async () => {
    const server = await start("0.0.0.0", true);
    const ask = async (host: string, path = "/api/health", body?: object | string) => {
      const request = { method: body ? "POST" : "GET", headers: { ...lab.bearer, host }, body };
      return lab.ask(path, { ...request, port: server.port });
    };
    expect((await ask(`192.0.2.7:${server.port}`)).status).toBe(200);
    expect((await ask(`evil.example:${server.port}`)).status).toBe(403);
    const run = { templateId: "documentation", cwd: lab.lab.repo, message: "x", agent: "command:rm -rf /" };
    const refused: [string, object][] = [
      ["/api/orchestrator", run],
      ["/api/orchestrator", { ...run, agent: "local", config: { agent: "text:sh" } }],
      ["/api/orchestrator", { ...run, agent: "local", trust: "0".repeat(64) }],
      ["/api/templates", { id: "a", name: "A", extends: "_default", config: { agent: "command:sh" } }],
      ["/api/orchestrator", { ...run, agent: "local", config: { permissions: { mode: "all" } } }],
      ["/api/templates", { id: "a", name: "A", extends: "_default", config: { permissions: { mode: "all" } } }],
      ["/api/templates", { id: "a", name: "A", extends: "_default", config: { permissions: { allow: ["Bash"] } } }],
      ["/api/templates", { id: "a", name: "A", extends: "_default", phases: { analysis: { agent: "text:sh" } } }],
      ["/api/templates/import", { id: "a", name: "A", extends: "_default", hooks: { onError: "command:sh" } }],
      ...[
        { workspace: { setup: [{ name: "a", run: "sh" }] } },
        { workspace: { link: [".env"] } },
        { phases: { workerExecution: { agents: { a: { agent: "command:sh" } } } } },
        { roles: { WRITER: { agent: "command:sh" } } },
        { workspace: { copy: [".env"] } },
        { config: { permissions: { mode: "all" } }, phases: {} },
        { phases: { verification: { commands: "auto" } } },
        { phases: { aggregation: { commands: [{ name: "a", run: "sh" }] } } },
      ].map((part): [string, object] => ["/api/templates", { id: "a", name: "A", extends: "_default", ...part }]),
      ["/api/templates/import", { id: "a", name: "A", extends: "_default", hooks: { onError: { run: "command:sh" } } }],
    ];
    const countBefore = lab.local.templates.list().length;
    for (const [path, body] of refused) {
      const { status, json } = await ask(`127.0.0.1:${server.port}`, path, body);
      expect([status, json.error.code], JSON.stringify(body)).toEqual([403, "forbidden"]);
    }
    const template = { id: "a", name: "A", extends: "_default", config: { agent: "command:sh" } };
    // The text of a file that contains the text of a template.
    const twice = JSON.stringify(JSON.stringify(template));
    const { json } = await ask(`127.0.0.1:${server.port}`, "/api/templates/import", JSON.stringify(twice));
    expect(json.error.code).toBe("invalid_template");
    expect(lab.local.templates.list().length).toBe(countBefore);
    await server.close();
  });

  it("a port in use is reported with the address", async () => {
    const { engine, templates } = lab.local;
    const { token, tokens } = lab;
    const { port } = lab.server;
    const second = startServer({ engine, templates, token, tokens, port, version: "1", webRoot: null });
    await expect(second).rejects.toThrow(TuttiError);
    await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`);
  });
});
