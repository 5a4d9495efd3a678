// Names that one task changes and another one uses, with real git and the parsers of the local agent.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import type { Template } from "../../src/schema/template.ts";
import { NAME_FINDER } from "../../src/session/name-finder.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
  mkdirSync(join(lab.repo, "src"));
  writeFileSync(join(lab.repo, "src/load.ts"), "export function load() {}\nexport function save() {}\n");
  lab.git("add", "src");
  lab.git("commit", "--quiet", "-m", "two functions");
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const writes = (task: string, write: Record<string, string>) => worker(task, { write, block: done({}) });
const CHANGES = writes("one", { "src/load.ts": "export function load(limit: number) {}\n" });
const USES = { "src/main.ts": 'import { load, save } from "./load.ts";\n\nload();\nsave();\n' };

const SESSIONS = [CHANGES, writes("two", USES), writes("three", { "src/other.ts": USES["src/main.ts"] })];

async function carriedOut(
  conflicts: object[],
  tasks: { id: string; dependencies?: string[] }[],
  { names = NAME_FINDER, sessions = SESSIONS } = {},
) {
  const store = new MemoryStore();
  const engine = lab.open(store, { names });
  const main = mainSession(tasks, { status: "success", summary: "all fits", conflicts });
  const id = await lab.begin(engine, lab.scenario([...main, ...sessions]), { config: { autoSpawn: true } });
  const run = await untilOver(engine, id);
  const entries = await engine.transcript(id, run.mainSessionId!);
  const prompt = JSON.stringify(entries.filter(({ type }) => type === "prompt")[2]);
  const events = store.read({}).filter(({ type }) => type === "conflict:names" || type === "orchestrator:error");
  return { result: await engine.result(id), prompt, events };
}

describe("a name that one task changes and another one uses", () => {
  it("is stored, in the prompt of the aggregation and a warning, and compared with the claims of the main session", async () => {
    const tasks = [{ id: "one" }, { id: "two" }, { id: "three", dependencies: ["one"] }];
    const claims = [
      { type: "semantic", description: "load needs a limit", resolution: "added it" },
      { type: "semantic", files: ["README.md"], resolution: "rewrote it" },
    ];
    const { result, prompt, events } = await carriedOut(claims, tasks);
    const about = { task: "one", file: "src/load.ts", usedBy: "two", usedIn: "src/main.ts", line: 1 };
    const names = [
      { name: "load", change: "changed", ...about },
      { name: "save", change: "removed", ...about },
    ];
    expect(events.map(({ data }) => data)).toEqual([{ id: result.id, head: expect.any(String), names }]);
    const [load, save] = [
      "two uses load in src/main.ts:1, which one declared anew in src/load.ts.",
      "two uses save in src/main.ts:1, which one removed from src/load.ts.",
    ];
    expect(prompt).toContain(`- ${load}\\n- ${save}`);
    // The main session named one use, and a conflict that nothing in the work shows.
    expect(result).toMatchObject({
      outcome: "success",
      warnings: [save, 'The main session reported a conflict in "README.md", but no task changed a file there.'],
    });
  });

  it("is found in another package of the repository, which is imported by its name", async () => {
    mkdirSync(join(lab.repo, "core"));
    for (const [path, text] of Object.entries({
      "core/package.json": '{"name": "@x/core"}',
      "core/load.ts": "export function load() {}\n",
    }))
      writeFileSync(join(lab.repo, path), text);
    lab.git("add", "core");
    lab.git("commit", "--quiet", "-m", "a package");
    const sessions = [
      writes("one", { "core/load.ts": "export function load(limit: number) {}\n" }),
      writes("two", { "app/main.ts": 'import { load } from "@x/core";\n\nload();\n' }),
    ];
    const { events } = await carriedOut([], [{ id: "one" }, { id: "two" }], { sessions });
    const about = { task: "one", file: "core/load.ts", usedBy: "two", usedIn: "app/main.ts", line: 1 };
    expect(events).toMatchObject([{ data: { names: [{ name: "load", change: "changed", ...about }] } }]);
  });

  it.each<[string, Partial<Template["phases"]["aggregation"]>]>([
    ["is disabled", { enabled: false }],
    ["is skipped for independent tasks", { skipWhenIndependent: true }],
    ["only joins outputs", { mergeStrategy: "concatenate" }],
  ])("is a warning of the result, too, if the aggregation %s", async (_, aggregation) => {
    const engine = lab.open(new MemoryStore(), { names: NAME_FINDER });
    const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), ...SESSIONS]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true }, phases: { aggregation } });
    await untilOver(engine, id);
    expect(await engine.result(id)).toMatchObject({
      outcome: "success",
      warnings: [
        "two uses load in src/main.ts:1, which one declared anew in src/load.ts.",
        "two uses save in src/main.ts:1, which one removed from src/load.ts.",
      ],
    });
  });

  it("does not stop a run whose names cannot be compared", async () => {
    const broken = { ...NAME_FINDER, find: () => Promise.reject(new Error("out of order")) };
    const { result, prompt, events } = await carriedOut([], [{ id: "one" }, { id: "two" }], { names: broken });
    expect(result).toMatchObject({ outcome: "success", warnings: [] });
    expect(prompt).not.toContain("uses load");
    expect(events).toMatchObject([{ data: { operation: "comparison of names", error: "out of order" } }]);
  });
});
