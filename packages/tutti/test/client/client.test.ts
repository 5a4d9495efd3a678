// The client with a real server and a real engine.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { followEvents, type Connection } from "../../src/client/follow-events.ts";
import { toStoredEvent, type Frame } from "../../src/client/frame.ts";
import { RequestError } from "../../src/client/request-error.ts";
import { openLocalEngine, type LocalEngine } from "../../src/main/local-engine.ts";
import { openTokens } from "../../src/main/settings.ts";
import { fold } from "../../src/run/apply.ts";
import { startServer, type RunningServer } from "../../src/server/start-server.ts";
import { Lab } from "../lab/lab.ts";
import { lastingPort } from "../lab/lasting-port.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

const token = "secret";
let lab: Lab;
let local: LocalEngine;
let server: RunningServer;

async function serve(port = 0): Promise<void> {
  const { engine, templates } = local;
  const tokens = openTokens(lab.data);
  server = await startServer({ engine, templates, token, tokens, port, version: "0.0.0", webRoot: null });
}

beforeEach(async () => {
  lab = new Lab();
  local = openLocalEngine({ dataDir: lab.data });
  await serve();
});

afterEach(async () => {
  await server.close();
  await local.close();
  lab.tearDown();
});

async function createRun(): Promise<string> {
  const agent = lab.scenario([...mainSession([{ id: "a" }, { id: "b", dependencies: ["a"] }]), goodWorker]);
  const run = await local.engine.create({ templateId: "documentation", cwd: lab.repo, message: "do it", agent });
  return run.id;
}

async function until(reached: () => boolean): Promise<void> {
  await expect.poll(reached, { interval: 20 }).toBe(true);
}

describe("the client", () => {
  test("runs the example of docs/api.md", async () => {
    const page = readFileSync(new URL("../../../../docs/api.md", import.meta.url), "utf8");
    const [, example] = /```ts\n([\s\S]*?)```/.exec(page)!;
    const file = join(lab.folder, "example.mts");
    writeFileSync(
      file,
      example!.replace('"tutti"', JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)),
    );
    const env = { ...process.env, TUTTI_URL: server.url, TUTTI_TOKEN: token };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: lab.repo, env });
    expect(stdout).toMatch(/^success: (\d+) of \1 tasks\n$/);
  });

  test("starts, confirms and follows a run to its result", async () => {
    const client = createClient({ baseUrl: server.url, token });
    expect(await client.list()).toEqual([]);
    const id = await createRun();
    await client.order(id, "start");
    await local.engine.until(id, ({ status }) => status === "confirming");
    expect((await client.inbox()).map(({ kind, run }) => [kind, run])).toEqual([["plan", id]]);
    await client.order(id, "confirm");
    await local.engine.until(id, ({ status }) => status === "completed");

    expect(await client.list()).toMatchObject([{ id, status: "completed", taskCount: 2, completedTasks: 2 }]);
    expect(await client.get(id)).toMatchObject({ id, status: "completed" });
    expect(await client.result(id)).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
    const frames = await client.events(id);
    expect(fold(null, frames.map(toStoredEvent))).toEqual(local.engine.get(id));
    const seq = frames[4]!.seq;
    expect(await client.events(id, { after: seq, limit: 2 })).toEqual(frames.slice(5, 7));
    const transcript = await client.transcript(id, local.engine.get(id)!.workers["a"]!.sessionId);
    expect(transcript.map(({ type }) => type)).toEqual(["prompt", "tool", "tool", "text", "usage", "turnOver"]);
  });

  test("approves a plan and cancels a run", async () => {
    const client = createClient({ baseUrl: server.url, token });
    const id = await createRun();
    await client.order(id, "start");
    await local.engine.until(id, ({ status }) => status === "confirming");
    const [item] = await client.inbox();
    await client.answer(item!.id, { approve: true });
    expect(local.engine.get(id)!.status).not.toBe("confirming");
    const other = await createRun();
    await client.order(other, "cancel");
    expect((await client.result(other)).outcome).toBe("cancelled");
  });

  test("pauses and resumes a run, requests another plan, skips a task, and steers a worker", async () => {
    const client = createClient({ baseUrl: server.url, token });
    const hanging = { match: { role: "worker", task: "a", attempt: 1 }, turns: [{ say: "hm", then: "hang" }] };
    const agent = lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), hanging, goodWorker]);
    const { engine } = local;
    const { id } = await engine.create({ templateId: "documentation", cwd: lab.repo, message: "do it", agent });
    await client.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    await client.order(id, "requestChanges", { text: "shorter" });
    await engine.until(id, ({ status }) => status === "confirming");
    await client.order(id, "pause");
    expect((await client.get(id)).status).toBe("paused");
    await client.order(id, "resume");
    const confirmed = await client.order(id, "confirm", { modifications: { b: { skip: true } } });
    expect([confirmed.skipped, confirmed.workersCreated + confirmed.tasksQueued]).toEqual([1, 1]);
    const { workers } = await engine.until(id, (run) => run.workers["a"]?.session.turn != null);
    const { sessionId } = workers["a"]!;
    await client.pauseWorker(id, sessionId);
    expect(engine.get(id)!.workers["a"]!.status).toBe("paused");
    await client.resumeWorker(id, sessionId);
    await client.cancelWorker(id, sessionId);
    await engine.until(id, ({ released }) => released);
    await client.order(id, "retry", { taskId: "a" });
    expect((await engine.until(id, ({ outcome }) => outcome === "success")).workers["a"]!.attempt).toBe(2);
    await engine.until(id, ({ released }) => released);
    await expect(client.order(id, "decide", { decisions: [{ index: 0, option: 0 }] })).rejects.toMatchObject({
      code: "wrong_state",
    });
  });

  test("creates one run per idempotency key, and deletes it", async () => {
    const client = createClient({ baseUrl: server.url, token });
    const body = { templateId: "documentation", cwd: lab.repo, message: "do it", agent: "local" };
    const first = await client.create(body, "a name");
    expect(first.status).toBe("created");
    expect(await client.create(body, "a name")).toEqual(first);
    expect((await client.list()).map(({ id }) => id)).toEqual([first.orchestratorId]);
    const params = { id: first.orchestratorId };
    await client.order(params.id, "message", { text: "be brief" });
    expect(local.engine.get(params.id)!.messages).toMatchObject([{ text: "be brief", taskId: null }]);
    const query = { removeState: true };
    expect(await client.call("DELETE /api/orchestrator/:id", { params, query })).toEqual({ success: true });
    expect(await client.list()).toEqual([]);
  });

  test("exports, imports, replays and forks a run", async () => {
    const client = createClient({ baseUrl: server.url, token });
    const { id } = await local.engine.create({
      templateId: "documentation",
      cwd: lab.repo,
      message: "x",
      agent: "local",
    });
    const text = await client.export(id);
    expect(text).toBe(local.engine.export(id));
    await expect(client.import(text)).rejects.toMatchObject({ code: "wrong_state", status: 409 });
    const copy = "orch_takenalong00";
    expect(await client.import(text.replaceAll(id, copy))).toMatchObject([{ id: copy, status: "created" }]);
    const named = text.replaceAll(id, "orch_withprogram0").replace('"agent":"local"', '"agent":"command:x"');
    const refused = await client.import(named).catch((error: unknown) => error as RequestError);
    expect(refused).toMatchObject({ code: "needs_trust", status: 403 });
    const { hash } = (refused as RequestError).details as { hash: string };
    expect(await client.import(named, hash)).toMatchObject([{ agent: "command:x" }]);
    await client.order(id, "message", { text: "be brief" });
    expect(await client.replay(id)).toEqual({ id, events: 2, status: "created", problems: [] });
    expect(await client.replay(id, 1)).toMatchObject({ events: 1 });
    const forked = await client.fork(id, { at: 1, fresh: true });
    expect(forked).toMatchObject({ status: "created", messages: [] });
    expect((await client.fork(id)).runSeq).toBe(forked.runSeq + 1);
    expect(await client.call("GET /metrics")).toContain("# TYPE");
  });

  test("calls every route by its key, with types from the route table", async () => {
    const client = createClient({ baseUrl: server.url, token });
    expect(await client.call("GET /api/health")).toEqual({ status: "ok", version: "0.0.0" });
    const id = await createRun();
    const { nodes } = await client.call("GET /api/orchestrator/:id/graph", { params: { id } });
    expect(nodes).toEqual([]);
    const [protocol] = await client.call("GET /api/protocols");
    expect(protocol!.name).toBe("response");
    const unknown = client.call("GET /api/orchestrator/:id/usage", { params: { id: "a/../b?c" } });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      message: 'Run "a/../b?c" does not exist. List runs with "tutti list".',
    });
    // @ts-expect-error -- a route that is not in the table.
    await expect(client.call("GET /api/nowhere")).rejects.toMatchObject({ status: 404 });
    // @ts-expect-error -- the path parameters are required.
    await expect(client.call("GET /api/orchestrator/:id/usage")).rejects.toMatchObject({ status: 404 });
    const stop = new AbortController();
    stop.abort(new Error("never mind"));
    await expect(client.list({}, stop.signal)).rejects.toThrow("never mind");
  });

  test("rejects with RequestError, which has the code and the message of the server", async () => {
    const client = createClient({ baseUrl: server.url, token });
    const failure = async (doing: Promise<unknown>) =>
      doing.then(
        () => null,
        (error: unknown) => error,
      );
    expect(await failure(client.get("orch_000000000000"))).toMatchObject({
      name: "RequestError",
      code: "run_not_found",
      status: 404,
      message: 'Run "orch_000000000000" does not exist. List runs with "tutti list".',
    });
    const id = await createRun();
    expect(await failure(client.order(id, "confirm"))).toMatchObject({ code: "wrong_state", status: 409 });
    const stranger = createClient({ baseUrl: server.url, token: "wrong" });
    expect(await failure(stranger.list())).toMatchObject({ code: "unauthorized", status: 401 });
    const offline = createClient({ baseUrl: "http://127.0.0.1:9" });
    const unreachable = await failure(offline.list());
    expect(unreachable).toBeInstanceOf(RequestError);
    expect(unreachable).toMatchObject({ code: "unreachable", status: 0 });
    const odd = createClient({
      baseUrl: server.url,
      fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    });
    expect(await failure(odd.list())).toMatchObject({ code: "internal", status: 502 });
  });
});

describe("followEvents", () => {
  test("delivers every event once and in order, however often the server restarts", async () => {
    await server.close();
    await serve(await lastingPort());
    const frames: Frame[] = [];
    const connections: Connection[] = [];
    const leave = followEvents({
      baseUrl: server.url,
      token,
      after: 0,
      onFrame: (frame) => frames.push(frame),
      onConnection: (connection) => connections.push(connection),
      backOffMs: () => 20,
    });
    const ids = [await createRun(), await createRun()];
    for (const id of ids) await local.engine.order(id, "start");
    for (let i = 0; i < 4; i++) {
      const { port } = server;
      await server.close();
      await serve(port);
      const id = ids[i % 2]!;
      await local.engine.until(id, ({ status }) => status === "confirming" || status === "completed");
      if (local.engine.get(id)!.status === "confirming") await local.engine.order(id, "confirm");
    }
    for (const id of ids) await local.engine.until(id, ({ released }) => released);
    const stored = local.engine.events({ after: 0, limit: 10_000 });
    await until(() => frames.length >= stored.length);
    leave();
    expect(frames.map(toStoredEvent)).toEqual(stored);
    expect(connections.filter((connection) => connection === "live").length).toBeGreaterThan(1);
  });

  test("delivers only new events without `after`, and only events of one run with `run`", async () => {
    const first = await createRun();
    const all: Frame[] = [];
    const one: Frame[] = [];
    let live = 0;
    const onConnection = (connection: Connection) => void (connection === "live" && live++);
    const leaveAll = followEvents({ baseUrl: server.url, token, onFrame: (frame) => all.push(frame), onConnection });
    const leaveOne = followEvents({
      baseUrl: server.url,
      token,
      run: first,
      after: 0,
      onFrame: (frame) => one.push(frame),
      onConnection,
    });
    await until(() => live === 2);
    const second = await createRun();
    await local.engine.order(first, "cancel");
    await until(() => one.some(({ type }) => type === "orchestrator:cancelled") && all.length >= 2);
    leaveAll();
    leaveOne();
    expect(all[0]).toMatchObject({ type: "orchestrator:created", run: second });
    expect(new Set(one.map(({ run }) => run))).toEqual(new Set([first]));
    expect(one[0]).toMatchObject({ type: "orchestrator:created", runSeq: 1 });
  });

  test("with `tail` starts with the last matching events, and with `types` delivers only those types", async () => {
    const id = await createRun();
    for (const text of ["one", "two", "three"]) await local.engine.order(id, "message", { text });
    const frames: Frame[] = [];
    const onFrame = (frame: Frame) => void frames.push(frame);
    const leave = followEvents({ baseUrl: server.url, token, tail: 2, types: ["message:sent"], onFrame });
    await until(() => frames.length === 2);
    await local.engine.order(await createRun(), "cancel");
    await local.engine.order(id, "message", { text: "four" });
    await until(() => frames.length >= 3);
    leave();
    expect(frames.map(({ data }) => (data as { text: string }).text)).toEqual(["two", "three", "four"]);
  });

  test("reconnects while there is no server, counts its tries, and stops when the caller stops it", async () => {
    const waits: number[] = [];
    const connections: Connection[] = [];
    const leave = followEvents({
      baseUrl: "http://127.0.0.1:9",
      onFrame: () => {},
      onConnection: (connection) => connections.push(connection),
      backOffMs: (tries) => {
        waits.push(tries);
        return 10;
      },
    });
    await until(() => waits.length >= 3);
    leave();
    const count = connections.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(waits.slice(0, 3)).toEqual([1, 2, 3]);
    expect(connections.length).toBe(count);
    expect(connections).not.toContain("live");
  });
});
