import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tuttiJson } from "../cli/in-process.ts";
import { EngineLab } from "../engine/engine-lab.ts";
import { Lab, processesOf } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { startLocalServer, type LocalServer } from "../../src/main/local-server.ts";
import { openTokens } from "../../src/main/settings.ts";
import { createLog, errorMembers, type Log, type LogLevel } from "../../src/telemetry/log.ts";
import { FaultyStore } from "../store/faulty-store.ts";
import { logEngine } from "../../src/telemetry/log-engine.ts";
import { requestLogger } from "../../src/telemetry/request-report.ts";

type Line = Record<string, unknown> & { message: string; level: LogLevel };

describe("the log of a server", () => {
  let lab: Lab;
  let file: string;
  let server: LocalServer | null;
  beforeEach(() => {
    lab = new Lab();
    file = join(lab.folder, "server.log");
    server = null;
  });
  afterEach(async () => {
    await server?.close({ leaveRunning: false });
    lab.tearDown();
  });

  async function start(level: LogLevel, agentEnv: Record<string, string> = {}): Promise<LocalServer> {
    const where = { dataDir: lab.data, port: 0, host: "127.0.0.1", version: "1" };
    server = await startLocalServer({ ...where, agentEnv, log: { level, file } });
    return server;
  }
  const text = () => readFileSync(file, "utf8");
  const lines = (): Line[] =>
    text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  const find = (message: string): Line[] => lines().filter((line) => line.message === message);

  it("records its start, its end and the progress of runs as JSON, in a file that only the owner can read", async () => {
    const { engine, url } = await start("info");
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("one", { block: done({ status: "failed", error: "no luck" }) }),
      worker("two", { write: { "a.md": "a" }, block: done({}) }),
    ]);
    const { id: run } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent });
    await engine.order(run, "start");
    await engine.until(run, ({ status }) => status === "confirming");
    await engine.order(run, "confirm");
    await engine.until(run, ({ released }) => released);
    await server!.close({ leaveRunning: false });
    server = null;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(lines().every(({ time }) => new Date(time as string).toISOString() === time)).toBe(true);
    expect(lines()).toMatchObject([
      { level: "info", message: "server started", url, version: "1" },
      { level: "info", message: "run created", run, template: "_default" },
      { level: "info", message: "run started", run },
      { level: "info", message: "inbox item added", run, kind: "plan" },
      {
        level: "warn",
        message: "worker failed",
        run,
        task: "one",
        error: "no luck",
      },
      ...lines().slice(5, -3),
      { level: "info", message: "run ended", run, outcome: "degraded" },
      { level: "info", message: "server stopping" },
      { level: "info", message: "server stopped" },
    ]);
  });

  it("records every request at level debug, without secrets, and refused requests at any level", async () => {
    const secret = "hunter2-hunter2-hunter2";
    const { url, openUrl } = await start("debug", { SOME_API_KEY: secret });
    const token = new URL(openUrl).searchParams.get("token")!;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(openUrl, { redirect: "manual" })).status).toBe(303);
    expect((await fetch(`${url}/api/orchestrator?after=${token}`, { headers })).status).toBe(400);
    for (const each of [token, secret, `sk-ant-api03-${"Ab3".repeat(30)}`]) {
      expect((await fetch(`${url}/api/${each}`, { headers })).status).toBe(404);
    }
    expect((await fetch(`${url}/api/orchestrator?token=${token}`)).status).toBe(401);
    expect((await fetch(`${url}/api/inbox`, { headers: { ...headers, origin: "http://elsewhere" } })).status).toBe(403);
    const { token: named } = openTokens(lab.data).create({ name: "grafana", role: "view" });
    const bearer = { authorization: `Bearer ${named}` };
    expect((await fetch(`${url}/api/inbox`, { headers: bearer })).status).toBe(200);
    expect(find("request").at(-1)).toMatchObject({ path: "/api/inbox", token: "grafana" });
    expect(find("request").slice(0, -1)).toMatchObject([
      { level: "debug", method: "GET", path: "/", status: 303 },
      { path: "/api/orchestrator", status: 400 },
      ...[token, secret, "the third"].map(() => ({ path: expect.stringMatching(/^\/api\/[\w-]*\*+$/), status: 404 })),
    ]);
    expect(find("request refused")).toMatchObject([
      { level: "warn", path: "/api/orchestrator", status: 401, address: "127.0.0.1" },
      {
        level: "warn",
        path: "/api/inbox",
        status: 403,
        reason: "Requests from other origins are rejected. Open the dashboard at the server's own address.",
      },
    ]);
    for (const each of [token, named, secret, "Ab3Ab3"]) expect(text()).not.toContain(each);
  });

  it("contains the stack of an internal error", async () => {
    const { engine, url, openUrl } = await start("error");
    const headers = { authorization: `Bearer ${new URL(openUrl).searchParams.get("token")}` };
    const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent: "local" });
    await engine.close();
    const path = `/api/orchestrator/${id}/events`;
    expect((await fetch(`${url}${path}`, { headers })).status).toBe(500);
    expect(lines()).toMatchObject([
      {
        level: "error",
        message: "request failed",
        path,
        status: 500,
        error: "database is not open",
        stack: expect.stringContaining("store/sqlite.ts"),
      },
    ]);
  });
});

describe("an engine", () => {
  it("that halts is logged, and one that is closed is not", async () => {
    const lab = new EngineLab();
    const written: Line[] = [];
    const write = (line: string) => written.push(JSON.parse(line) as Line);
    const log = createLog({ level: "info", write, now: () => 0, mask: (value) => value });
    try {
      logEngine(log, lab.open());
      await lab.engines[0]!.close();
      const store = new FaultyStore();
      const engine = lab.open(store);
      logEngine(log, engine);
      store.failNext("before");
      const request = { templateId: "_default", cwd: lab.repo, message: "x", agent: "local" };
      await expect(engine.create(request)).rejects.toMatchObject({ code: "storage_failed" });
      await expect(engine.halted).rejects.toThrow();
      const error = "Cannot write events: a fault was injected.";
      expect(written).toMatchObject([{ level: "error", message: "engine halted", code: "storage_failed", error }]);
      await engine.close();
    } finally {
      lab.tearDown();
    }
  });
});

describe("a log", () => {
  const collect = (level: LogLevel, write: (line: string) => void): Log =>
    createLog({ level, write, now: () => 0, mask: (value) => value });

  it("contains lines of its level and of more severe ones, and members cannot override time, level and message", () => {
    const written: string[] = [];
    const log = collect("warn", (line) => written.push(line));
    log.error("a", { level: "debug", message: "b", more: 1 });
    log.warn("c");
    log.info("d");
    log.debug("e");
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { time: "1970-01-01T00:00:00.000Z", level: "error", message: "a", more: 1 },
      { time: "1970-01-01T00:00:00.000Z", level: "warn", message: "c" },
    ]);
  });

  it("that cannot be written does not throw, and later reports the number of lost lines", () => {
    const written: string[] = [];
    let full = true;
    const log = collect("info", (line) => {
      if (full) throw new Error("ENOSPC");
      written.push(line);
    });
    log.info("lost");
    log.info("lost too");
    full = false;
    log.info("there again");
    log.info("and again");
    expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([{ missing: 2 }, {}]);
    expect(written[1]).not.toContain("missing");
  });

  it("limits the lines for a client that is refused again and again", () => {
    const written: Line[] = [];
    let now = 0;
    const log = createLog({
      level: "info",
      write: (line) => written.push(JSON.parse(line)),
      now: () => now,
      mask: (v) => v,
    });
    const tell = requestLogger(log, () => now);
    const knock = (path = "/") =>
      tell({
        method: "GET",
        route: "none",
        path,
        status: 401,
        ms: 1,
        address: "10.0.0.1",
        error: new Error("no"),
      });
    // Browsers request it by themselves.
    knock("/favicon.ico");
    expect(written).toEqual([]);
    for (let i = 0; i < 500; i++) knock();
    expect(written).toHaveLength(60);
    now += 60_000;
    knock();
    expect(written.slice(60)).toMatchObject([{ message: "more requests refused", count: 440 }, { status: 401 }]);
  });

  it("contains the stack of an error's cause too", () => {
    const members = errorMembers(new Error("outer", { cause: new TypeError("inner") }));
    expect(members).toMatchObject({
      error: "outer",
      stack: expect.stringMatching(/outer[\s\S]*caused by TypeError: inner/),
    });
  });
});

describe("the flags of the log", () => {
  it.each([
    [["--log-level", "loud"], 'Log level "loud" does not exist. Use one of error, warn, info, debug.'],
    [["--log-file", "/nowhere/at/all.log"], "Cannot write the log to /nowhere/at/all.log"],
    [["--retain-days", "0"], '"0" is not a valid value of --retain-days. Give a whole number from 1 to 36500.'],
  ])("%j are rejected before anything starts", async (flags, why) => {
    const lab = new Lab();
    try {
      const { code, last } = await tuttiJson(["--data-dir", lab.data, "serve", "--port", "0", ...flags]);
      expect({ code, last }).toMatchObject({
        code: 2,
        last: { error: { code: "usage", message: expect.stringContaining(why) } },
      });
      expect(processesOf(lab.folder)).toEqual([]);
    } finally {
      lab.tearDown();
    }
  });
});
