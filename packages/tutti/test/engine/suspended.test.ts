// An engine that ends while an agent waits for the user: the next engine continues the same session.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Lab, processesOf } from "../lab/lab.ts";
import { pathWith } from "../session/played-program.ts";
import { openLocalEngine, type LocalEngine } from "../../src/main/local-engine.ts";

/** An order to the program in ../lab/agents/claude.ts, which asks before it runs a command. */
const ORDER = "run echo ran > a.txt";
const OFF = { enabled: false };
const TEMPLATE = {
  id: "one",
  name: "One task",
  extends: "_default",
  phases: { analysis: OFF, taskPlanning: OFF, aggregation: OFF, verification: OFF },
  prompts: { worker: { system: "You are a worker.", user: ORDER } },
  config: { autoSpawn: true },
};

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
  vi.stubEnv("PATH", pathWith("claude", lab.folder));
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates", "one.json"), JSON.stringify(TEMPLATE));
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

const open = (): LocalEngine => openLocalEngine({ dataDir: lab.data });
const agents = (): string[] => processesOf(lab.folder).filter((line) => !line.includes(" git "));
const types = (): string[] => lab.events().map(({ type }) => type);

/** Returns the id of a run whose only worker waits for a permission, and of its item. */
async function waiting(): Promise<{ id: string; item: string }> {
  const { engine, close } = open();
  const { id } = await engine.create({ templateId: "one", cwd: lab.repo, message: "Do it", agent: "claude" });
  await engine.order(id, "start");
  const { inbox } = await engine.until(id, (run) => Object.values(run.inbox).some(({ kind }) => kind === "permission"));
  await close();
  expect(agents()).toEqual([]);
  return { id, item: Object.keys(inbox)[0]! };
}

it("the answer continues the same session, which is not asked twice", async () => {
  const { id, item } = await waiting();
  const { engine, close } = open();
  await engine.answer(item, { option: 0 });
  await engine.activate(id);
  const run = await engine.until(id, ({ workers }) => workers["task_001"]!.endedTools.bash === 1);
  expect(run.workers["task_001"]).toMatchObject({ attempt: 1, session: { asks: { "ask-tool-1": "allow" } } });
  const cut = lab.events().find(({ type, data }) => type === "turn:ended" && "cutOff" in data)!;
  expect(cut.data).toMatchObject({ turn: 1, ending: { kind: "interrupted" }, cutOff: { unheard: ["ask-tool-1"] } });
  // The program asks again in its second turn, and gets the answer that it missed within the same append.
  const afterwards = lab.events().filter(({ seq, type }) => seq > cut.seq && type.startsWith("inbox:"));
  expect(afterwards.slice(0, 2)).toMatchObject([
    { type: "inbox:added", data: { item: { kind: "permission" } } },
    { type: "inbox:answered", data: { text: "allow" }, seq: afterwards[0]!.seq + 1 },
  ]);
  await engine.order(id, "cancel");
  await engine.settled(id);
  await close();
  expect(types()).not.toContain("worker:lost");
  expect(lab.leftovers()).toEqual([]);
});

it("without an answer the session stays suspended and its question open, and cancelling the run ends both", async () => {
  const { id, item } = await waiting();
  const { engine, close } = open();
  await engine.activate(id);
  await engine.settled(id);
  expect(Object.keys(engine.get(id)!.inbox)).toEqual([item]);
  expect(agents()).toEqual([]);
  await engine.order(id, "cancel");
  await engine.settled(id);
  await close();
  expect(types()).not.toContain("worker:lost");
  expect(lab.leftovers()).toEqual([]);
});
