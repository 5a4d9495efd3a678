// Conflicts between tasks that are still at work, with real git.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { renderPrompt } from "../../src/engine/sessions/prompt.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

/** A tool call lets the engine save the work. The only one before `go` follows the file, in the second turn. */
const busy = (task: string, file: string, go: string) =>
  worker(
    task,
    { write: { [file]: `${task}\n` }, say: "More to come." },
    { tools: ["Read"], say: "More to come." },
    { tools: ["Read"], waitForFile: go, block: done({ summary: `${task} wrote ${file}` }) },
  );

async function begin(store: MemoryStore, emergingConflicts: "report" | "hold") {
  const engine = lab.open(store);
  const go = join(lab.folder, "go");
  const tasks = [{ id: "one" }, { id: "two" }, { id: "apart" }];
  const sessions = [busy("one", "same.md", go), busy("two", "same.md", go), busy("apart", "apart.md", go)];
  const id = await lab.begin(engine, lab.scenario([...sessions, ...mainSession(tasks)]), {
    config: { autoSpawn: true, saveInterval: 1, emergingConflicts },
    phases: { aggregation: { conflictResolution: "first-wins" } },
  });
  return { engine, id, goOn: () => writeFileSync(go, "") };
}

const CONFLICT = { tasks: ["one", "two"], files: ["same.md"] };

it("reports a conflict between the saved work of two tasks at work", async () => {
  const store = new MemoryStore();
  const { engine, id, goOn } = await begin(store, "report");
  const { emerging } = await engine.until(id, (run) => run.emerging !== undefined);
  goOn();
  expect(emerging).toEqual([CONFLICT]);
  const run = await untilOver(engine, id);
  expect(run).toMatchObject({ outcome: "success", conflicts: [{ resolution: "first-wins" }] });
  expect(store.read({}).some(({ type }) => type === "worker:paused")).toBe(false);
});

it("holds the later task until the earlier one has ended, and then describes its changes", async () => {
  const store = new MemoryStore();
  const { engine, id, goOn } = await begin(store, "hold");
  await engine.until(id, ({ workers }) => workers["two"]?.status === "paused");
  goOn();
  const run = await untilOver(engine, id);
  expect(run).toMatchObject({ outcome: "success", emerging: [CONFLICT] });
  const steps = store.read({}).flatMap((event) => {
    const { type, data } = event;
    if (type === "worker:paused") return [`${data.taskId} is paused by ${data.by}`];
    if (type !== "worker:resumed" && type !== "worker:completed") return [];
    return data.taskId === "apart" ? [] : [`${type} ${data.taskId}`];
  });
  expect(steps).toEqual([
    "two is paused by conflict",
    "worker:completed one",
    "worker:resumed two",
    "worker:completed two",
  ]);
  const asking = { problems: [], note: null, interrupted: true };
  const { text } = renderPrompt(run, "workerExecution", run.workers["two"]!, asking, "/x");
  expect(text).toContain(
    "The task one (Title of one) has changed the same lines of same.md. Keep to its changes there.",
  );
  expect(text).toContain("Its summary: one wrote same.md");
});
