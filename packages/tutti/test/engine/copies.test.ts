// Imported and forked runs: their past has no effects, and their programs need the user's trust.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { runCommand } from "../../src/session/run-command.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const env = { PATH: process.env["PATH"]! };
const commands = {
  runCommand: (command: string, options: { cwd: string; stdin: string; timeoutMs: number }) =>
    runCommand(command, { ...options, env }),
};
const hook = (run: string) => ({ run, timeout: 600_000, onFailure: "continue" as const });
const good = () => lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);

/** A request that names no program. */
const plain = () => ({ templateId: "_default", cwd: lab.repo, message: "do it", agent: "local" });

/** The programs that the user would see, and the hash that allows them. */
async function refusalOf(engine: Engine, text: string): Promise<{ programs: string[]; hash: string }> {
  const error = await engine.import(text).then(
    () => null,
    (refusal: unknown) => refusal as TuttiError,
  );
  expect(error).toMatchObject({ code: "needs_trust" });
  return error!.details as { programs: string[]; hash: string };
}

async function importTrusted(engine: Engine, text: string): Promise<string> {
  const { hash } = await refusalOf(engine, text);
  const [run] = await engine.import(text, { trust: hash });
  return run!.id;
}

describe("an import", () => {
  it("of a run that names programs is rejected until the user has allowed exactly these", async () => {
    const file = join(lab.folder, "received");
    const first = lab.open(new MemoryStore(), commands);
    const agent = good();
    const id = await lab.begin(first, agent, { hooks: { onError: hook(`command:touch ${file}`) } });
    await untilOver(first, id);
    const text = first.export(id);
    await first.cleanup(id);
    const second = lab.open(new MemoryStore(), commands);
    const { programs, hash } = await refusalOf(second, text);
    expect(programs).toEqual([
      `agent: ${JSON.stringify(agent)}`,
      `hooks.onError.run: ${JSON.stringify(`command:touch ${file}`)}`,
    ]);
    await expect(second.import(text, { trust: `${hash.slice(0, -1)}x` })).rejects.toMatchObject({
      code: "needs_trust",
    });
    expect(second.list()).toEqual([]);
    expect(await second.import(text, { trust: hash })).toMatchObject([{ id, status: "completed" }]);
    const third = lab.open(new MemoryStore(), { isTrusted: (each) => each === hash });
    expect(await third.import(text)).toHaveLength(1);
  });

  it("of a run with only built-in agents needs no trust", async () => {
    const first = lab.open();
    const { id } = await first.create(plain());
    expect(await lab.open().import(first.export(id))).toMatchObject([{ id, status: "created" }]);
  });

  it("by two callers at once adds the run once, and the engine keeps running", async () => {
    const first = lab.open(new MemoryStore());
    const { id } = await first.create(plain());
    const text = first.export(id);
    const second = lab.open(new MemoryStore());
    const both = await Promise.allSettled([second.import(text), second.import(text)]);
    expect(both).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "wrong_state" } }]);
    await expect(second.create(plain())).resolves.toMatchObject({ status: "created" });
  });

  it("of events that belong to another run is rejected", async () => {
    const first = lab.open(new MemoryStore());
    const { id } = await first.create(plain());
    const text = first.export(id).replace(`"run":"${id}"`, '"run":"orch_somebodyelse"');
    await expect(lab.open(new MemoryStore()).import(text)).rejects.toMatchObject({
      code: "invalid_input",
      message: 'Line 2 cannot be imported. The event does not belong to run "orch_somebodyelse".',
    });
  });

  it("of an `orchestrators.json` of document 004 adds every orchestrator of its array (D4-282)", async () => {
    const state = { templateId: "_default", cwd: lab.repo, userRequest: "do it", status: "running", workers: {} };
    const file = ["orch_aaaaaaaaaaaa", "orch_bbbbbbbbbbbb"].map((id) => ({
      ...state,
      id,
      customVariables: { ID: id },
    }));
    const engine = lab.open();
    expect(await engine.import(JSON.stringify(file))).toMatchObject(
      file.map(({ id, customVariables, cwd, userRequest }) => ({ id, customVariables, cwd, userRequest })),
    );
    expect(engine.list().map(({ id }) => id)).toEqual(["orch_aaaaaaaaaaaa", "orch_bbbbbbbbbbbb"]);
  });

  describe("of an old run that was at work", () => {
    const analysis = { summary: "large", recommendedSplits: 2, keyFiles: ["a.ts"] };
    const task = { id: "one", title: "One", description: "do one", scope: [] };

    /** Imports the run; its template names the scripted agent. */
    async function importOld(state: object): Promise<{ engine: Engine; id: string }> {
      const { template } = new TemplateLibrary().resolve("_default");
      const config = { ...template.config, agent: good() };
      const old = { id: "orch_aaaaaaaaaaaa", templateId: "_default", cwd: lab.repo, userRequest: "do it", ...state };
      const engine = lab.open();
      const id = await importTrusted(engine, JSON.stringify([{ ...old, template: { ...template, config } }]));
      return { engine, id };
    }

    it("keeps it paused, and a resumed run continues with the first phase that it has no data of", async () => {
      const { engine, id } = await importOld({ status: "planning", analysis });
      expect(engine.get(id)).toMatchObject({ status: "paused", pausedFrom: { status: "planning" }, analysis });
      await engine.order(id, "resume");
      await engine.activate(id);
      expect(await untilOver(engine, id)).toMatchObject({ outcome: "success", analysis });
    });

    it("asks to confirm its plan, and names the tasks that were completed", async () => {
      const workers = { a: { taskId: "one", status: "completed" } };
      const { engine, id } = await importOld({ status: "running", analysis, tasks: [task], workers });
      const { warnings } = engine.events({ run: id }).find(({ type }) => type === "orchestrator:started")!
        .data as unknown as { warnings: string[] };
      expect(warnings).toEqual([expect.stringContaining("completed before the import: one.")]);
      await engine.order(id, "resume");
      await engine.activate(id);
      expect(engine.get(id)).toMatchObject({ status: "confirming", tasks: [{ id: "one" }] });
      expect(await untilOver(engine, id)).toMatchObject({ outcome: "success" });
    });

    it("plans again if its plan is not valid, and starts over without an analysis", async () => {
      const circle = [{ ...task, dependencies: ["one"] }];
      const { engine, id } = await importOld({ status: "running", analysis, tasks: circle });
      expect(engine.get(id)).toMatchObject({ pausedFrom: { status: "planning" }, tasks: [] });
      const other = await importOld({ id: "orch_bbbbbbbbbbbb", status: "created" });
      expect(other.engine.get(other.id)).toMatchObject({ pausedFrom: { status: "analyzing" } });
    });

    it("leaves it cancelled if its folder is not here", async () => {
      const { engine, id } = await importOld({ status: "running", cwd: "/nowhere" });
      expect(engine.get(id)).toMatchObject({ status: "cancelled" });
    });
  });

  it("runs no hook of past events, neither at once nor at `activate`", async () => {
    const disk = newMemoryDisk();
    const file = join(lab.folder, "received");
    // The hook did not run in the original run: an imported log may claim anything about its hooks.
    const first = lab.open();
    const id = await lab.begin(first, good(), { hooks: { onAnalysisComplete: hook(`command:touch ${file}`) } });
    await first.until(id, ({ status }) => status === "confirming");
    await first.settled(id);
    const text = first
      .export(id)
      .split("\n")
      .filter((line) => !line.includes('"hook:'))
      .map((line, i) => line.replace(/"runSeq":\d+/, `"runSeq":${i}`))
      .join("\n");
    await first.order(id, "cancel");
    await untilOver(first, id);
    await first.cleanup(id);
    const second = lab.open(new MemoryStore(disk), commands);
    expect(await importTrusted(second, text)).toBe(id);
    await second.settled(id);
    await second.close();
    const third = lab.open(new MemoryStore(disk), commands);
    await third.activate(id);
    await third.settled(id);
    expect(existsSync(file)).toBe(false);
    expect(third.get(id)!.status).toBe("paused");
    await third.order(id, "cancel");
    await untilOver(third, id);
  });
});

describe("a removed run", () => {
  it("leaves no session that a later run with its id could adopt", async () => {
    lab.inProcess = false;
    const engine = lab.open();
    const id = await lab.begin(engine, good());
    await engine.until(id, ({ status }) => status === "confirming");
    const early = engine.export(id);
    await untilOver(engine, id);
    const folder = join(lab.data, "sessions", id);
    expect(existsSync(folder)).toBe(true);
    await engine.cleanup(id);
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder);
    await expect(engine.import(early)).rejects.toMatchObject({ code: "wrong_state" });
    rmSync(folder, { recursive: true });
    await importTrusted(engine, early);
    await engine.activate(id);
    await engine.order(id, "resume");
    expect((await untilOver(engine, id)).status).toBe("completed");
  });
});

describe("a fork", () => {
  it("runs no hook of past events, but runs those of its own events", async () => {
    const received: string[] = [];
    const engine = lab.open(new MemoryStore(), {
      hooks: { note: (event) => void received.push(`${event.run} ${event.type}`) },
    });
    const hooks = { onTasksGenerated: hook("note"), onWorkerComplete: hook("note") };
    const id = await lab.begin(engine, good(), { hooks });
    const { runSeq } = await engine.until(id, ({ status }) => status === "confirming");
    await engine.settled(id);
    // Fork at the plan, before the log contains the start of the hook.
    const fork = await engine.fork(id, runSeq);
    await engine.settled(fork.id);
    expect(received).toEqual([`${id} orchestrator:tasksReady`]);
    await engine.order(fork.id, "resume");
    await engine.activate(fork.id);
    await untilOver(engine, fork.id);
    expect(received.slice(1)).toEqual([`${fork.id} worker:completed`]);
    await engine.order(id, "cancel");
    await untilOver(engine, id);
  });

  it("has inbox items with new ids, and questions of the original sessions are withdrawn", async () => {
    const engine = lab.open();
    const agent = lab.scenario([...mainSession([{ id: "one" }]), worker("*", { then: "ask:Tabs?", block: done({}) })]);
    const id = await lab.begin(engine, agent);
    const planned = await engine.until(id, ({ status }) => status === "confirming");
    const early = await engine.fork(id);
    const [plan] = Object.values(planned.inbox);
    const [copy] = Object.values(early.inbox);
    expect(copy).toMatchObject({ kind: "plan", run: early.id, question: plan!.question });
    expect(copy!.id).not.toBe(plan!.id);
    expect(copy!.hash).not.toBe(plan!.hash);
    await engine.answer(plan!.id, { approve: true, hash: plan!.hash });
    expect(engine.get(early.id)!.inbox).toHaveProperty([copy!.id]);
    await engine.until(id, ({ inbox }) => Object.values(inbox).some(({ kind }) => kind === "question"));
    const late = await engine.fork(id);
    expect(late.inbox).toEqual({});
    for (const each of [id, early.id, late.id]) await engine.order(each, "cancel");
    await untilOver(engine, id);
  });

  it("copies all events decided with its last one, so that it can continue", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, good());
    await engine.until(id, ({ status }) => status === "confirming");
    const at = engine.events({ run: id }).find(({ type }) => type === "orchestrator:analysisComplete")!.runSeq;
    const fork = await engine.fork(id, at);
    expect(fork).toMatchObject({ status: "paused", owed: { phase: "taskPlanning" } });
    const forked = engine.events({ run: fork.id }).find(({ type }) => type === "orchestrator:forked")!;
    expect((forked.data as { at: number }).at).toBeGreaterThan(at);
    await engine.activate(fork.id);
    await engine.order(fork.id, "resume");
    expect((await untilOver(engine, fork.id)).status).toBe("completed");
    await engine.order(id, "cancel");
    await untilOver(engine, id);
  });
});
