import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startLocalServer } from "../../src/main/local-server.ts";
import { allowedFolders } from "../../src/server/access/allowed-folders.ts";
import { RateLimiter } from "../../src/server/access/rate-limit.ts";
import { startServer, type RunningServer, type ServerOptions } from "../../src/server/start-server.ts";
import { ServerLab, VERSION } from "./server-lab.ts";

let lab: ServerLab;
const servers: RunningServer[] = [];
beforeEach(async () => {
  lab = await ServerLab.open();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await lab.tearDown();
});

/** A second server on the same engine with other options. */
async function serve(options: Partial<ServerOptions>): Promise<number> {
  const { engine, templates } = lab.local;
  const { token, tokens } = lab;
  const serverOptions = { engine, templates, token, tokens, port: 0, version: VERSION, webRoot: null };
  const server = await startServer({ ...serverOptions, ...options });
  servers.push(server);
  return server.port;
}

describe("a rate limit", () => {
  it("returns 429 with the time to wait after the requests of a minute, also for guessed tokens", async () => {
    const port = await serve({ rateLimit: { perMinute: 3 } });
    const headers = { authorization: "Bearer wrong" };
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await lab.ask("/api/inbox", { port, headers })).status);
    expect(statuses).toEqual([401, 401, 401]);
    const refused = await lab.api("/api/inbox", { port });
    expect([refused.status, refused.json.error.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.json.error.details).toEqual({ retryAfterSeconds: Number(refused.headers["retry-after"]) });
  });

  it("counts pages too, with a token in the URL and with a cookie", async () => {
    const port = await serve({ rateLimit: { perMinute: 2 } });
    expect((await lab.ask("/?token=wrong", { port })).status).toBe(401);
    expect((await lab.ask("/", { port, headers: { cookie: `tutti_${port}=wrong` } })).status).toBe(401);
    const refused = await lab.ask(`/?token=${lab.token}`, { port });
    expect([refused.status, refused.headers["set-cookie"]]).toEqual([429, undefined]);
  });

  it("counts upgrades too", async () => {
    const port = await serve({ rateLimit: { perMinute: 1 } });
    expect((await lab.api("/api/inbox", { port })).status).toBe(200);
    const upgrade = {
      ...lab.bearer,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    };
    expect((await lab.ask("/api/events", { port, headers: upgrade })).status).toBe(429);
  });

  it("is off on loopback by default", async () => {
    const requests = Array.from({ length: 700 }, () => lab.ask("/api/health"));
    expect(new Set((await Promise.all(requests)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("must allow at least one request per minute", () => {
    for (const perMinute of [0, -1, Number.NaN]) expect(() => new RateLimiter({ perMinute })).toThrow(/at least/);
  });

  it("refills evenly per address and tolerates a clock that is set back", () => {
    const limiter = new RateLimiter({ perMinute: 2 });
    const may = (address: string, now: number) => {
      try {
        limiter.take(address, now);
        return true;
      } catch {
        return false;
      }
    };
    expect([may("a", 0), may("a", 0), may("a", 0), may("b", 0)]).toEqual([true, true, false, true]);
    expect([may("a", 29_000), may("a", 30_000), may("a", 30_000)]).toEqual([false, true, false]);
    expect([may("a", 10_000), may("a", 3_600_000), may("a", 3_600_000), may("a", 3_600_000)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe("a list of folders", () => {
  const create = (port: number, cwd: string) => {
    const body = { templateId: "documentation", cwd, message: "write", agent: "local" };
    return lab.api("/api/orchestrator", { port, method: "POST", body });
  };

  it("allows runs inside of it and returns 403 for other folders, whether they exist or not", async () => {
    const port = await serve({ folders: [lab.lab.repo] });
    mkdirSync(join(lab.lab.repo, "docs"), { recursive: true });
    expect((await create(port, lab.lab.repo)).status).toBe(201);
    expect((await create(port, join(lab.lab.repo, "docs"))).status).toBe(201);
    expect((await create(port, join(lab.lab.repo, "nowhere"))).status).toBe(422);
    for (const cwd of [lab.lab.folder, `${lab.lab.repo}-other`, join(lab.lab.repo, ".."), "/", "/nowhere"]) {
      const seqBefore = lab.engine.lastSeq();
      const { status, json } = await create(port, cwd);
      expect([cwd, status, json.error.code, lab.engine.lastSeq()]).toEqual([cwd, 403, "forbidden", seqBefore]);
    }
  });

  it("resolves links in the request and in the list before the check", async () => {
    const inside = join(lab.lab.folder, "inside");
    mkdirSync(inside);
    symlinkSync(lab.lab.repo, join(inside, "out"));
    const port = await serve({ folders: [inside] });
    expect((await create(port, join(inside, "out"))).status).toBe(403);
    // The repository is checked after the folder, so the answer does not show which check rejects the link.
    expect(() => allowedFolders([inside]).check(join(inside, "out"))).toThrow(/is not allowed on this server/);
    const link = join(lab.lab.folder, "link");
    symlinkSync(lab.lab.repo, link);
    expect((await create(await serve({ folders: [link] }), lab.lab.repo)).status).toBe(201);
  });

  it("rejects a folder inside of it whose repository starts outside", async () => {
    const docs = join(lab.lab.repo, "docs");
    mkdirSync(docs, { recursive: true });
    const { status, json } = await create(await serve({ folders: [docs] }), docs);
    expect([status, json.error.code]).toEqual([403, "forbidden"]);
  });

  it("still applies when a run starts in a folder that was swapped for a link", async () => {
    const inside = join(lab.lab.folder, "inside");
    mkdirSync(inside);
    lab.lab.git("clone", "--quiet", lab.lab.repo, join(inside, "mine"));
    const options = { host: "127.0.0.1", port: 0, version: VERSION, folders: [inside] };
    const local = await startLocalServer({ dataDir: join(lab.lab.folder, "other-data"), ...options });
    const body = { templateId: "documentation", cwd: join(inside, "mine"), message: "write", agent: "local" };
    try {
      const { id } = await local.engine.create(body);
      renameSync(join(inside, "mine"), join(inside, "away"));
      symlinkSync(lab.lab.repo, join(inside, "mine"));
      await expect(local.engine.order(id, "start")).rejects.toMatchObject({ code: "forbidden" });
    } finally {
      await local.close({ leaveRunning: false });
    }
  });

  it("applies to the projects of templates too", async () => {
    const port = await serve({ folders: [lab.lab.repo] });
    const get = (project: string) => lab.api(`/api/templates?project=${encodeURIComponent(project)}`, { port });
    expect((await get(lab.lab.repo)).status).toBe(200);
    expect((await get(lab.lab.folder)).status).toBe(403);
  });

  it("is optional: without a list any folder is allowed, and with an empty list none", () => {
    expect(() => allowedFolders(undefined).check("/")).not.toThrow();
    expect(() => allowedFolders([]).check("/")).toThrow(/is not allowed on this server/);
    expect(() => allowedFolders(["/"]).check("/anything/at/all")).not.toThrow();
  });
});
