// The rights of a token's role: on every route, for live events, and in a browser.
import { readFileSync, writeFileSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRouteKey, roleOf, type Route } from "../../src/schema/api/route.ts";
import { addressesOf, ROUTES } from "../../src/schema/api/routes.ts";
import { TOKEN_ROLES, type TokenRole } from "../../src/schema/token-role.ts";
import { describeApi } from "../../src/server/describe-api.ts";
import { mustAllow } from "../../src/server/access/holder.ts";
import { startServer } from "../../src/server/start-server.ts";
import { ServerLab } from "./server-lab.ts";
import { lastingPort } from "../lab/lasting-port.ts";

/** Every route except those that need a signature instead. */
const TABLE = Object.entries<Route>(ROUTES).flatMap(([key, route]) => {
  const role = roleOf(key, route);
  return route.signed ? [] : addressesOf(key).map((address) => ({ address, role }));
});

let lab: ServerLab;
const bearers = {} as Record<TokenRole, OutgoingHttpHeaders>;
const cookies = {} as Record<TokenRole, OutgoingHttpHeaders>;
beforeAll(async () => {
  lab = await ServerLab.open({ port: await lastingPort() });
  for (const role of TOKEN_ROLES) {
    const { token } = lab.tokens.create({ name: `a-${role}`, role });
    bearers[role] = bearing(token);
    cookies[role] = { cookie: await cookieFor(token), origin: `http://${lab.host}` };
  }
});
afterAll(() => lab.tearDown());

const bearing = (token: string) => ({ authorization: `Bearer ${token}` });

async function cookieFor(token: string): Promise<string> {
  const { headers } = await lab.ask(`/?token=${token}`);
  return headers["set-cookie"]![0]!.split(";")[0]!;
}

async function statusOf(address: string, headers: OutgoingHttpHeaders) {
  const { method, path } = readRouteKey(address);
  const response = await lab.open(path.replaceAll(/:\w+/g, "nobody"), { method, headers });
  if (response.headers["content-type"]?.startsWith("text/event-stream")) {
    response.destroy();
    return [response.statusCode, null];
  }
  const text = (await response.toArray()).join("");
  const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
  return [response.statusCode, isJson ? ((JSON.parse(text) as Refusal).error?.code ?? null) : null];
}
type Refusal = { error?: { code: string } };

describe("a role", () => {
  it.each(TABLE)(
    "$role may call $address, and a lower role gets 403, by token and by cookie",
    async ({ address, role }) => {
      for (const [rank, tokenRole] of TOKEN_ROLES.entries()) {
        const isEnough = role === null || rank >= TOKEN_ROLES.indexOf(role);
        for (const headers of [bearers[tokenRole], cookies[tokenRole]]) {
          const [status, code] = await statusOf(address, headers);
          if (isEnough) expect([tokenRole, [401, 403].includes(status as number)]).toEqual([tokenRole, false]);
          else expect([tokenRole, status, code]).toEqual([tokenRole, 403, "needs_role"]);
        }
      }
    },
  );

  it("is view for reads, operate for steering runs, and admin for lasting changes and trust", () => {
    const needs = (wanted: TokenRole) => TABLE.filter(({ role }) => role === wanted).map(({ address }) => address);
    expect(needs("view")).toEqual(
      expect.arrayContaining(["GET /api/events", "GET /api/orchestrator/:id", "POST /api/templates/validate"]),
    );
    expect(needs("operate")).toEqual(
      expect.arrayContaining([
        "POST /api/orchestrator",
        "POST /api/orchestrator/:id/confirm-tasks",
        "POST /api/orchestrator/:id/workers/:key/retry",
        "POST /api/inbox/:itemId",
      ]),
    );
    expect(needs("admin")).toEqual(
      expect.arrayContaining([
        "DELETE /api/orchestrator/:id",
        "GET /api/tokens",
        "POST /api/tokens",
        "DELETE /api/tokens/:name",
        "POST /api/templates",
        "PUT /api/templates/:id",
      ]),
    );
    const changing = TABLE.filter(({ address }) => !address.startsWith("GET "));
    const harmless = /\/(validate|preview)$/;
    for (const { address, role } of changing) if (role === "view") expect(address).toMatch(harmless);
  });

  it("that is too low gets the needed role in the error, and nothing changes", async () => {
    const id = await lab.create("local");
    const stateBefore = [lab.engine.lastSeq(), lab.tokens.list(), lab.local.templates.list().length];
    const ask = (role: TokenRole, method: string, path: string, body?: object) =>
      lab.ask(path, { method, headers: bearers[role], body });
    const refused = [
      await ask("view", "POST", "/api/orchestrator", { templateId: "documentation", cwd: lab.lab.repo, message: "x" }),
      await ask("view", "POST", `/api/orchestrator/${id}/start`),
      await ask("operate", "DELETE", `/api/orchestrator/${id}`),
      await ask("operate", "POST", "/api/tokens", { name: "more", role: "admin" }),
      await ask("operate", "DELETE", "/api/tokens/a-admin"),
      await ask("operate", "POST", "/api/templates", { id: "x", name: "X", extends: "documentation" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(refused[2]!.json.error).toEqual({
      code: "needs_role",
      message: 'The token "a-operate" has the role operate, and this request needs admin. Use another token.',
      details: { needed: "admin", role: "operate" },
    });
    expect([lab.engine.lastSeq(), lab.tokens.list(), lab.local.templates.list().length]).toEqual(stateBefore);
    expect((await ask("operate", "POST", `/api/orchestrator/${id}/message`, { text: "be brief" })).status).toBe(200);
    expect((await ask("admin", "DELETE", `/api/orchestrator/${id}`)).status).toBe(200);
  });

  it("is denied to a request without a holder", () => {
    expect(() => mustAllow(undefined, "view")).toThrow(expect.objectContaining({ code: "unauthorized" }));
  });

  it("is returned to the holder by GET /api/access", async () => {
    for (const role of TOKEN_ROLES) {
      const { json } = await lab.ask("/api/access", { headers: bearers[role] });
      expect(json).toEqual({ name: `a-${role}`, role });
    }
    expect((await lab.api("/api/access")).json).toEqual({ name: null, role: "admin" });
  });

  it("is in the description of each route, with the error needs_role", () => {
    const { paths } = describeApi();
    for (const { address, role } of TABLE) {
      const { method, path } = readRouteKey(address);
      const { security, responses } = paths[path.replaceAll(/:(\w+)/g, "{$1}")]![method.toLowerCase()]!;
      expect([address, security]).toEqual([address, role === null ? [] : [{ token: [role] }, { cookie: [role] }]]);
      const mayBeTooSmall = role !== null && role !== "view";
      expect([address, responses["403"]!.description.includes("needs_role")]).toEqual([address, mayBeTooSmall]);
    }
  });

  it("of operate may not name or trust a program to run; admin may", async () => {
    const run = { templateId: "documentation", cwd: lab.lab.repo, message: "x" };
    const create = async (role: TokenRole, more: object) => {
      const request = { method: "POST", headers: bearers[role], body: { ...run, ...more } };
      const { status, json } = await lab.ask("/api/orchestrator", request);
      return [status, json.error?.code];
    };
    const program = `command:${process.execPath} -e 0`;
    for (const more of [
      { agent: program },
      { config: { agent: program } },
      { agent: "local", roles: { workerExecution: program } },
      { agent: "local", trust: "0".repeat(64) },
      { agent: "local", config: { permissions: { mode: "all" } } },
      { agent: "local", config: { permissions: { allow: ["Bash"] } } },
      { agent: "local", sandbox: "off" },
      { agent: "local", sandbox: "auto" },
    ]) {
      expect(await create("operate", more)).toEqual([403, "forbidden"]);
    }
    expect(await create("operate", { agent: "local" })).toEqual([201, undefined]);
    expect(await create("operate", { agent: "local", roles: { workerExecution: "local" } })).toEqual([201, undefined]);
    const narrow = { permissions: { mode: "ask", refuse: ["Bash"] } };
    expect(await create("operate", { agent: "local", config: narrow })).toEqual([201, undefined]);
    expect(await create("admin", { agent: program })).toEqual([201, undefined]);
    const id = await lab.create("local");
    const confirm = async (role: TokenRole, agent: string) => {
      const body = { modifications: { a: { agent } } };
      const { json } = await lab.ask(`/api/orchestrator/${id}/confirm-tasks`, {
        method: "POST",
        headers: bearers[role],
        body,
      });
      return json.error.code;
    };
    // The run has no plan yet, so an allowed agent is rejected by the state of the run.
    expect([await confirm("operate", program), await confirm("operate", "local")]).toEqual([
      "forbidden",
      "wrong_state",
    ]);
    expect(await confirm("admin", program)).toBe("wrong_state");
  });
});

describe("the role operate", () => {
  const narrow = { mode: "listed", allow: ["Read"], refuse: ["Bash"] };
  const create = async (role: TokenRole, templateId: string, config: object) => {
    const body = { templateId, cwd: lab.lab.repo, message: "x", agent: "local", config };
    const { status, json } = await lab.ask("/api/orchestrator", { method: "POST", headers: bearers[role], body });
    return status === 201 ? lab.engine.get(json.orchestratorId)!.template.config : [status, json.error];
  };

  it.each([
    ["another mode", { permissions: { mode: "edits" } }, "config.permissions.mode"],
    ["a question instead of a refusal", { permissions: { mode: "ask" } }, "config.permissions.mode"],
    ["a further tool", { permissions: { allow: ["Read", "Write"] } }, "config.permissions.allow"],
    ["fewer refused tools", { permissions: { refuse: [] } }, "config.permissions.refuse"],
    ["a network", { sandbox: { network: true } }, "config.sandbox.network"],
  ])("cannot give agents %s that the template denies them; admin can", async (_, config, named) => {
    const id = `narrow-${named.split(".").at(-1)!}`;
    if (!lab.local.templates.list().some((template) => template.id === id))
      lab.local.templates.create({
        id,
        name: id,
        extends: "documentation",
        config: { permissions: narrow, sandbox: { network: false } },
      });
    expect(await create("operate", id, config)).toEqual([
      403,
      { code: "forbidden", message: expect.stringContaining(`Leave out ${named}.`) as string },
    ]);
    expect(await create("admin", id, config)).toMatchObject(config);
  });

  it("can narrow a template, and keeps the members that it does not set", async () => {
    lab.local.templates.create({ id: "open", name: "O", extends: "documentation", config: { permissions: narrow } });
    expect(await create("operate", "open", { permissions: {}, sandbox: { network: false } })).toMatchObject({
      permissions: narrow,
      sandbox: { network: false },
    });
    expect(await create("operate", "open", { permissions: { allow: [], refuse: ["Bash", "Edit"] } })).toMatchObject({
      permissions: { mode: "listed", allow: [], refuse: ["Bash", "Edit"] },
    });
  });
});

describe("a token that is revoked", () => {
  const follow = async (name: string) => {
    const { token } = lab.tokens.create({ name, role: "view" });
    const headers = bearing(token);
    const cookie = await cookieFor(token);
    const socket = await lab.socket("", headers);
    const browser = await lab.socket("", { cookie, origin: `http://${lab.host}` });
    const stream = await lab.stream("", headers);
    const statuses = async () => [
      (await lab.ask("/api/orchestrator", { headers })).status,
      (await lab.ask("/api/orchestrator", { headers: { cookie } })).status,
      (await lab.ask("/", { headers: { cookie } })).status,
      (await lab.ask(`/?token=${token}`)).status,
    ];
    const allClosed = () => Promise.all([socket.closed, browser.closed, stream.closed]);
    return { token, headers, statuses, allClosed };
  };

  it("over the API loses its cookies and live connections, and other tokens do not", async () => {
    const one = await follow("one");
    const other = await lab.socket("", bearers.view);
    const owner = await lab.stream();
    expect(await one.statuses()).toEqual([200, 200, 200, 303]);
    const revoked = await lab.ask("/api/tokens/one", { method: "DELETE", headers: bearers.admin });
    expect([revoked.status, revoked.json]).toEqual([200, { success: true }]);
    expect(await one.statuses()).toEqual([401, 401, 401, 401]);
    await one.allClosed();
    expect((await lab.refusedSocket("/api/events", one.headers)).status).toBe(401);
    const id = await lab.create("local");
    for (const follower of [other, owner]) await follower.until((frames) => frames.some(({ run }) => run === id));
  });

  it("by another process is cut off too, also if a new token has its name", async () => {
    const one = await follow("two");
    lab.tokens.revoke("two");
    lab.tokens.create({ name: "two", role: "admin" });
    expect(await one.statuses()).toEqual([401, 401, 401, 401]);
    await one.allClosed();
  });

  it("is cut off like an expired one", async () => {
    const one = await follow("three");
    const file = join(lab.lab.data, "tokens", "three.json");
    const content = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...content, expiresAt: new Date().toISOString() }));
    expect(await one.statuses()).toEqual([401, 401, 401, 401]);
    await one.allClosed();
    const { json } = await lab.api("/api/tokens");
    expect(json.find(({ name }: { name: string }) => name === "three").expired).toBe(true);
  });
});

describe("a token that is created", () => {
  it("over the API is returned once and is valid at once", async () => {
    const request = {
      method: "POST",
      headers: bearers.admin,
      body: { name: "made", role: "operate", expiresInDays: 7 },
    };
    const { status, json } = await lab.ask("/api/tokens", request);
    expect([status, json.name, json.role, json.expired]).toEqual([201, "made", "operate", false]);
    expect(Date.parse(json.expiresAt) - Date.parse(json.createdAt)).toBe(7 * 24 * 60 * 60 * 1000);
    expect((await lab.ask("/api/access", { headers: bearing(json.token) })).json.name).toBe("made");
    const listed = await lab.ask("/api/tokens", { headers: bearers.admin });
    expect(listed.json.map(({ name }: { name: string }) => name)).toContain("made");
    const kept = readFileSync(join(lab.lab.data, "tokens", "made.json"), "utf8");
    for (const text of [listed.text, kept]) expect(text).not.toContain(json.token.slice(-43));
  });

  it("logs a browser in by URL, with a cookie that differs from the token and survives a restart", async () => {
    const { token } = lab.tokens.create({ name: "screen", role: "view" });
    const { status, headers } = await lab.ask(`/?token=${token}`);
    expect([status, headers.location]).toEqual([303, "/"]);
    const [given] = headers["set-cookie"]!;
    expect(given).toMatch(
      new RegExp(`^tutti_${lab.server.port}=screen\\.[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(given).not.toContain(token.slice(-43));
    const { port } = lab.server;
    await lab.stop();
    await lab.start({ port });
    const cookie = given!.split(";")[0]!;
    expect((await lab.ask("/api/access", { headers: { cookie } })).json).toEqual({ name: "screen", role: "view" });
  });
});

describe("beyond loopback", () => {
  it("a server may listen if there is a named token that has not expired", async () => {
    const bare = await ServerLab.open();
    const { engine, templates } = bare.local;
    const { token, tokens } = bare;
    const open = () =>
      startServer({ engine, templates, token, tokens, host: "0.0.0.0", port: 0, version: "1", webRoot: null });
    try {
      await expect(open()).rejects.toThrow(/Pass --token, or create one with "tutti tokens create/);
      tokens.create({ name: "old", role: "admin", expiresInDays: 1 }, 0);
      await expect(open()).rejects.toMatchObject({ code: "usage" });
      const { token: guest } = tokens.create({ name: "guest", role: "view" });
      const server = await open();
      const { json } = await bare.ask("/api/access", { port: server.port, headers: hostOf(server.port, guest) });
      expect(json).toEqual({ name: "guest", role: "view" });
      await server.close();
    } finally {
      await bare.tearDown();
    }
  });

  const hostOf = (port: number, token: string) => ({ ...bearing(token), host: `192.0.2.7:${port}` });
});
