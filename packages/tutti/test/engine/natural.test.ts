// Runs in natural mode in a real engine: answers in plain words, and sub-sessions that are registered from outside.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { mainSession } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { OwnSessions } from "../../src/engine/sessions/own-sessions.ts";
import type { SeenMessage, SessionAccess } from "../../src/engine/sessions/session-access.ts";
import { SubSessionOptions } from "../../src/schema/options.ts";
import type { Worker } from "../../src/schema/worker.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close().catch(() => {});
  lab.tearDown();
});

const TEMPLATE = { templateId: "subsession-task" };
const main = (...turns: object[]) => lab.scenario([{ match: { role: "main" }, turns }]);

describe("a session in natural mode", () => {
  it("may start sub-agents and answer in plain words, and its work becomes the result (D4-004, D4-204)", async () => {
    const engine = lab.open();
    const agent = main({ tools: ["Task", "Read"], write: { "a.md": "a\n" }, say: "I wrote the page." });
    const id = await lab.begin(engine, agent, TEMPLATE);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", analysis: { summary: "I wrote the page." }, turns: 1 });
    expect(await engine.result(id)).toMatchObject({ branch: `tutti/${id}`, outputFiles: ["a.md"] });
  });

  it("still has to plan where a plan follows", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, main({ tools: ["Task"], say: "I did it." }));
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "error", turns: 3 });
    expect(run.errors[0]!.error).toContain("Plan the work as tasks");
  });

  it("is asked again for a block that cannot be used, and its words count in the end", async () => {
    const engine = lab.open();
    const broken = { phase: "analysis", data: { recommended_splits: 1 } };
    const agent = main({ tools: ["Read"], write: { "a.md": "a\n" }, say: "I wrote it.", block: broken });
    const run = await untilOver(engine, await lab.begin(engine, agent, TEMPLATE));
    expect(run).toMatchObject({ outcome: "success", turns: 3 });
  });

  it("ends with a question, which goes to the user", async () => {
    const engine = lab.open();
    const agent = main({ tools: ["Read"], say: "Which of the two?" }, { write: { "b.md": "b\n" }, say: "I took b." });
    const id = await lab.begin(engine, agent, TEMPLATE);
    const { inbox } = await engine.until(id, (run) => Object.keys(run.inbox).length > 0);
    await engine.answer(Object.keys(inbox)[0]!, { text: "b" });
    expect(await untilOver(engine, id)).toMatchObject({ outcome: "success" });
  });
});

/** Sessions outside of Tutti, whose transcripts the test writes. */
function outside(transcripts: Map<string, SeenMessage[]>) {
  return (own: OwnSessions): SessionAccess => ({
    isThere: (id) => own.isThere(id),
    messages: async (id) => transcripts.get(id) ?? own.messages(id),
    activity: (id) => own.activity(id),
    isFree: (id) => own.isFree(id),
    failure: (id) => own.failure(id),
    send: (id, text, from) => own.send(id, text, from),
    wasSent: (id, text) => own.wasSent(id, text),
    archive: (id) => own.archive(id),
    others: () => own.others(),
    children: () => own.children(),
  });
}

describe("a registered sub-session of a session in natural mode", () => {
  const settings = SubSessionOptions.parse({ pollInterval: 20, inactivityThreshold: 3_600_000 });
  const config = { useSubSessions: true, inactivityThreshold: 50, confirmationDelay: 50 };
  const transcripts = new Map<string, SeenMessage[]>();
  const subSessions = { settings, automatic: true, reach: outside(transcripts) };
  const says = (text: string): SeenMessage[] => [{ role: "assistant", text, tools: [] }];
  let go = "";

  /** Starts a run whose session ends its first turn when `go` exists, with the sub-session `child`. */
  async function begin(engine: Engine): Promise<string> {
    go = join(lab.folder, "go");
    const first = { waitForFile: go, tools: ["Task"], say: "I have delegated it." };
    const agent = main(first, { write: { "a.md": "a\n" }, say: "Both parts are done." });
    const id = await lab.begin(engine, agent, { ...TEMPLATE, config });
    await engine.until(id, (run) => run.main?.turn != null);
    transcripts.set("child", []);
    await engine.subSessions.register("child", engine.get(id)!.mainSessionId!, "toolu_1");
    await engine.until(id, (run) => run.subagents !== undefined);
    return id;
  }

  async function promptOf(engine: Engine, id: string, turn: number): Promise<string> {
    const entries = await engine.transcript(id, engine.get(id)!.main!.sessionId);
    return entries.flatMap((entry) => (entry.type === "prompt" && entry.turn === turn ? entry.text : [])).join();
  }

  it("keeps the run open until its result is in the next turn, after the times of the template", async () => {
    const engine = lab.open(undefined, { subSessions });
    const id = await begin(engine);
    writeFileSync(go, "");
    await engine.until(id, (run) => run.owed?.waitedSince !== undefined);
    transcripts.set("child", says("The part is done."));
    expect(await untilOver(engine, id)).toMatchObject({ outcome: "success", turns: 2 });
    expect(await engine.result(id)).toMatchObject({ census: { planned: 1, completed: 1 } });
    const prompt = await promptOf(engine, id, 2);
    expect(prompt).toContain("All of them have ended now.");
    expect(prompt).toContain("not messages from the user:\n\n**[Resultat de sous-tache]**\n\nThe part is done.");
    expect(engine.subSessionLog.get("child")).toMatchObject({ status: "returned" });
  });

  it("returns its result once, also if the engine is replaced and the parent's session is lost", async () => {
    const file = join(lab.folder, "tutti.db");
    const first = lab.open(openSqliteStore(file), { subSessions });
    const id = await begin(first);
    const parent = first.get(id)!.main!.sessionId;
    await first.close();
    const next = lab.open(openSqliteStore(file), { subSessions });
    await next.activateAll();
    await next.until(id, ({ main: session }) => session?.state === "running" && session.sessionId !== parent);
    writeFileSync(go, "");
    transcripts.set("child", says("The part is done."));
    expect(await untilOver(next, id)).toMatchObject({ outcome: "success" });
    expect(next.get(id)!.messages).toMatchObject([{ from: "child" }]);
    expect(next.subSessionLog.get("child")).toMatchObject({ status: "returned" });
  });

  it("is counted as failed if it is lost, and the parent receives the reason", async () => {
    const engine = lab.open(undefined, { subSessions });
    const id = await begin(engine);
    await engine.subSessions.unregister("child");
    await engine.until(id, (run) => run.subagents?.["child"]?.endedAt != null);
    await engine.subSessions.register("child", engine.get(id)!.mainSessionId!);
    await engine.until(id, (run) => run.subagents?.["child"]?.endedAt === null);
    writeFileSync(go, "");
    // It ends without a message.
    await expect(engine.subSessions.extract("child")).resolves.toMatchObject({ success: false });
    expect(await untilOver(engine, id)).toMatchObject({ outcome: "degraded" });
    expect(await engine.result(id)).toMatchObject({ census: { planned: 1, failed: 1 } });
    expect(await promptOf(engine, id, 2)).toContain("The sub-session child failed: it has sent no message");
  });
});

describe("a registered sub-session of a worker", () => {
  it("returns its result once, to the successor of a worker that was lost", async () => {
    const transcripts = new Map<string, SeenMessage[]>([["child", []]]);
    const settings = SubSessionOptions.parse({ pollInterval: 20, inactivityThreshold: 50, confirmationDelay: 50 });
    const engine = lab.open(undefined, { subSessions: { settings, automatic: true, reach: outside(transcripts) } });
    const [crash, go] = ["crash", "go"].map((name) => join(lab.folder, name)) as [string, string];
    const done = { phase: "completion", data: { task_id: "one", status: "success" } };
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      { match: { role: "worker", attempt: 1 }, turns: [{ waitForFile: crash, then: "fail:died" }] },
      { match: { role: "worker" }, turns: [{ waitForFile: go, write: { "a.md": "a\n" }, block: done }] },
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    const first = (await engine.until(id, ({ workers }) => workers["one"]?.session.turn != null)).workers["one"]!;
    await engine.subSessions.register("child", first.sessionId, "toolu_1");
    writeFileSync(crash, "");
    const isNext = ({ session, sessionId }: Worker): boolean => sessionId !== first.sessionId && session.turn !== null;
    await engine.until(id, ({ workers }) => isNext(workers["one"]!));
    transcripts.set("child", [{ role: "assistant", text: "The part is done.", tools: [] }]);
    // A worker gets results when it is free.
    await engine.order(id, "pause");
    await engine.until(id, ({ messages }) => messages.length > 0);
    writeFileSync(go, "");
    await engine.order(id, "resume");
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", messages: [{ taskId: "one", from: "child" }] });
    expect(engine.subSessionLog.get("child")).toMatchObject({ status: "returned", parentSessionId: first.sessionId });
    const entries = await engine.transcript(id, run.workers["one"]!.sessionId);
    const prompts = entries.flatMap((entry) =>
      entry.type === "prompt" ? [entry.text.split("The part is done.")] : [],
    );
    expect(prompts.map((parts) => parts.length)).toEqual([1, 2]);
  });
});
