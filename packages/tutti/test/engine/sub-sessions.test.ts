// Sub-sessions of a real engine: reported by real agents, stored in the server's log, across restarts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { agentOf } from "../lab/lab.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { SubSessionOptions } from "../../src/schema/options.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close().catch(() => {});
  lab.tearDown();
});

const QUICK = { settings: SubSessionOptions.parse({ pollInterval: 20 }), automatic: true };
const relation = (engine: Engine, child: string) => engine.subSessionLog.get(child);

async function until(engine: Engine, child: string, status: string): Promise<void> {
  await expect.poll(() => relation(engine, child)?.status, { interval: 20 }).toBe(status);
}

describe("an agent that starts sub-agents", () => {
  it("has them registered as KEY/ID and returned when they are done, without an effect on the run", async () => {
    const store = new MemoryStore();
    const go = join(lab.folder, "go");
    const engine = lab.open(store, { agentEnv: { GO: go, TASKS: "one" } });
    const id = await lab.begin(engine, agentOf("command", "delegating.ts"), { config: { autoSpawn: true } });
    await engine.until(id, ({ workers }) => workers["one"]?.session.turn != null);
    const key = engine.get(id)!.workers["one"]!.sessionId;
    await until(engine, `${key}/1`, "returned");
    expect(relation(engine, `${key}/1`)).toMatchObject({
      parentSessionId: key,
      orchestratorId: id,
      lastAssistantMessage: "there is nothing",
      taskToolId: "call-1",
    });
    expect(relation(engine, `${key}/2`)).toMatchObject({ status: "active" });
    writeFileSync(go, "");
    expect(await untilOver(engine, id)).toMatchObject({ status: "completed", outcome: "success" });
    expect(relation(engine, `${key}/2`)).toMatchObject({ status: "returned", lastAssistantMessage: null });
    const types = store.read({ run: null }).map(({ type }) => type);
    expect(types.filter((type) => type === "subsession:registered")).toHaveLength(2);
    expect(store.read({ run: id }).some(({ type }) => type.startsWith("subsession:"))).toBe(false);
  });

  it("repeats its reports when another engine adopts it, and nothing is registered or logged twice (E32)", async () => {
    const file = join(lab.folder, "tutti.db");
    const go = join(lab.folder, "go");
    const options = { agentEnv: { GO: go, TASKS: "one" } };
    const first = lab.open(openSqliteStore(file), options);
    const id = await lab.begin(first, agentOf("command", "delegating.ts"), { config: { autoSpawn: true } });
    await first.until(id, ({ workers }) => workers["one"]?.session.turn != null);
    const key = first.get(id)!.workers["one"]!.sessionId;
    await until(first, `${key}/1`, "returned");
    await first.close({ leaveRunning: true });
    const store = openSqliteStore(file);
    const next = lab.open(store, options);
    expect(relation(next, `${key}/1`)).toMatchObject({ status: "returned", lastAssistantMessage: "there is nothing" });
    expect(relation(next, `${key}/2`)).toMatchObject({ status: "active" });
    await next.activateAll();
    writeFileSync(go, "");
    await untilOver(next, id);
    const registered = store.read({ run: null }).filter(({ type }) => type === "subsession:registered");
    expect(registered).toHaveLength(2);
    expect(relation(next, `${key}/2`)).toMatchObject({ status: "returned" });
    const logged = store
      .read({ run: id })
      .flatMap(({ type, data }) => (type.startsWith("subagent:") ? [[type, data]] : []));
    const about = { id, sessionId: key, taskId: "one" };
    const [one, two] = [`${key}/1`, `${key}/2`].map((childSessionId) => ({ ...about, childSessionId }));
    expect(logged).toEqual([
      ["subagent:started", { ...one, taskToolId: "call-1", description: "look around" }],
      ["subagent:started", { ...two, taskToolId: null, description: null }],
      ["subagent:ended", { ...one, taskToolId: "call-1", text: "there is nothing" }],
      ["subagent:ended", { ...two, taskToolId: null, text: null }],
    ]);
  });

  it("orphans its open sub-agents when it is cancelled (D4-230)", async () => {
    const engine = lab.open(new MemoryStore(), { agentEnv: { TASKS: "stays" }, subSessions: QUICK });
    const id = await lab.begin(engine, agentOf("command", "delegating.ts"), { config: { autoSpawn: true } });
    await engine.until(id, ({ workers }) => workers["stays"]?.session.turn != null);
    const key = engine.get(id)!.workers["stays"]!.sessionId;
    await until(engine, `${key}/1`, "returned");
    await engine.subSessions.poll();
    expect(relation(engine, `${key}/2`)).toMatchObject({ status: "active" });
    await engine.order(id, "cancel");
    await until(engine, `${key}/2`, "orphaned");
    expect(relation(engine, `${key}/1`)).toMatchObject({ status: "returned" });
  });
});

describe("sub-sessions with arbitrary ids", () => {
  it("are orphaned by the next poll if their parent is unknown, and their children by the poll after it (D4-230, E48)", async () => {
    const engine = lab.open(new MemoryStore(), { subSessions: { ...QUICK, automatic: false } });
    await engine.subSessions.register("child", "nobody");
    await engine.subSessions.register("grandchild", "child");
    await engine.subSessions.poll();
    expect(relation(engine, "child")).toMatchObject({ status: "orphaned" });
    await engine.subSessions.poll();
    expect(relation(engine, "grandchild")).toMatchObject({ status: "orphaned" });
  });

  it("are polled automatically while one is open, also after a restart", async () => {
    const file = join(lab.folder, "tutti.db");
    const first = lab.open(openSqliteStore(file), { subSessions: { ...QUICK, automatic: false } });
    await first.subSessions.register("child", "nobody");
    expect(first.subSessions.isMonitoring).toBe(false);
    await first.close();
    const next = lab.open(openSqliteStore(file), { subSessions: QUICK });
    await next.activateAll();
    expect(next.subSessions.isMonitoring).toBe(true);
    await until(next, "child", "orphaned");
  });

  it("are rejected below a session of a run, deeper than its budget allows", async () => {
    const engine = lab.open();
    const hangs = worker("*", { tools: ["Read"], then: "hang" });
    const agent = lab.scenario([...mainSession([{ id: "one" }]), hangs]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true, budget: { depth: 1 } } });
    const { workers } = await engine.until(id, (run) => run.workers["one"]?.session.turn != null);
    const key = workers["one"]!.sessionId;
    await engine.subSessions.register("child", key);
    expect(relation(engine, "child")).toMatchObject({ orchestratorId: id });
    expect(() => engine.subSessions.register("grandchild", "child")).toThrow(
      expect.objectContaining({ code: "budget_exhausted" }),
    );
    await engine.subSessions.register("elsewhere", "somebody");
    await engine.subSessions.register("below", "elsewhere");
    await engine.order(id, "cancel");
  });
});

describe("a worker as the sub-session of its main session", () => {
  it("returns its last message to it, which is part of its next turn (D4-220)", async () => {
    const engine = lab.open();
    const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
    const id = await lab.begin(engine, agent, { config: { maxWorkers: 1 } });
    await engine.until(id, ({ status }) => status === "confirming");
    const main = engine.get(id)!.mainSessionId!;
    const child = "child-of-main";
    await engine.subSessions.register(child, main);
    await expect(engine.subSessions.extract("nobody")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(engine.subSessions.extract(child)).rejects.toMatchObject({ code: "wrong_state" });
    expect(relation(engine, child)).toMatchObject({ status: "active" });
    await engine.order(id, "confirm");
    await engine.until(id, ({ workers }) => workers["one"]?.status === "completed");
    const key = engine.get(id)!.workers["one"]!.sessionId;
    await engine.subSessions.register(key, main);
    const result = await engine.subSessions.extract(key);
    expect(result).toMatchObject({ success: true, formatted: expect.stringContaining("**[Resultat de sous-tache]**") });
    expect(engine.get(id)!.messages).toMatchObject([{ taskId: null, text: result.formatted }]);
    expect(relation(engine, key)).toMatchObject({ status: "returned" });
    expect((await untilOver(engine, id)).messages).toMatchObject([{ told: true }]);
  });

  it("returns its timeout to it once", async () => {
    const engine = lab.open();
    const timeout = { phase: "completion", data: { task_id: "{TASK_ID}", status: "timeout", error: "it timed out" } };
    const hangs = worker("stays", { tools: ["Read"], then: "hang" });
    const agent = lab.scenario([
      ...mainSession([{ id: "stays" }, { id: "late" }]),
      hangs,
      worker("late", { block: timeout }),
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true, autoRetry: false } });
    await engine.until(id, (run) => run.workers["late"]?.status === "timeout");
    const { workers } = await engine.until(id, (run) => run.workers["stays"]?.session.turn != null);
    const [parent, child] = [workers["stays"]!.sessionId, workers["late"]!.sessionId];
    await engine.subSessions.register(child, parent);
    const result = await engine.subSessions.extract(child);
    expect(result).toMatchObject({ success: false, message: expect.stringContaining("timed out") as string });
    expect(relation(engine, child)).toMatchObject({ status: "error", error: result.message });
    expect(engine.get(id)!.messages).toMatchObject([{ taskId: "stays", text: result.formatted, from: child }]);
    expect(await engine.subSessions.extract(child)).toMatchObject({ success: false });
    expect(engine.get(id)!.messages).toHaveLength(1);
    await engine.order(id, "cancel");
  });

  it("returns its failure to it and gets the status `error`", async () => {
    const engine = lab.open();
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const hangs = worker("stays", { tools: ["Read"], then: "hang" });
    const fails = worker("fails", { say: "I tried.", block: failure });
    const agent = lab.scenario([...mainSession([{ id: "stays" }, { id: "fails" }]), hangs, fails]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    await engine.until(id, ({ workers }) => workers["fails"]?.status === "failed");
    await engine.until(id, ({ workers }) => workers["stays"]?.session.turn != null);
    const { workers } = engine.get(id)!;
    const [parent, child] = [workers["stays"]!.sessionId, workers["fails"]!.sessionId];
    await engine.subSessions.register(child, parent);
    expect(await engine.subSessions.extract(child)).toMatchObject({ success: false, message: "no luck" });
    expect(relation(engine, child)).toMatchObject({ status: "error", error: "no luck" });
    expect(engine.get(id)!.messages).toMatchObject([
      { taskId: "stays", text: expect.stringContaining("failed: no luck") },
    ]);
    await engine.order(id, "cancel");
  });
});
