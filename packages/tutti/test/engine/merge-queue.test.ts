// The merge queue with real git and real commands: work that breaks the combined files is found, kept out and sent back.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { renderPrompt } from "../../src/engine/sessions/prompt.ts";
import { checkRunner } from "../../src/main/sessions.ts";
import type { EventData, EventType } from "../../src/schema/event.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const open = (store: MemoryStore): Engine => lab.open(store, { checks: checkRunner(lab.data) });
const eventsOf = <T extends EventType>(store: MemoryStore, type: T): EventData<T>[] =>
  store.read({}).flatMap((event) => (event.type === type ? [event.data as EventData<T>] : []));

interface Setting {
  tasks: ScriptedTask[];
  sessions: object[];
  run: string;
  config?: object;
}

function begin(engine: Engine, { tasks, sessions, run, config = {} }: Setting): Promise<string> {
  return lab.begin(engine, lab.scenario([...sessions, ...mainSession(tasks), goodWorker]), {
    config: { autoSpawn: true, ...config },
    phases: { aggregation: { commands: [{ name: "tests", run }] } },
  });
}

const shown = (file: string): string => lab.git("show", file);
/** The first attempt uses a name that another task has changed. */
const breaks = (task: string) => [
  {
    match: { role: "worker", task, attempt: 1 },
    turns: [{ write: { [`${task}.txt`]: "uses old", "extra.txt": task }, block: done({ summary: "used it" }) }],
  },
  {
    match: { role: "worker", task },
    turns: [{ write: { [`${task}.txt`]: "uses new" }, block: done({ summary: "used the new name" }) }],
  },
];
const renames = worker("one", { write: { "one.txt": "new" }, block: done({ summary: "renamed old to new" }) });
const TESTS = "test ! -e one.txt || ! grep -q old two.txt || { echo two.txt uses the old name; exit 3; }";

describe("work that breaks the combined files", () => {
  it("is not merged, and its task learns both intentions and starts from the broken files", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const tasks = [{ id: "one" }, { id: "two" }];
    const sessions = [renames, ...breaks("two")];
    const id = await begin(engine, { tasks, sessions, run: TESTS, config: { maxWorkers: 1 } });
    const run = await untilOver(engine, id);
    const result = await engine.result(id);
    expect(result).toMatchObject({ outcome: "success", outputFiles: ["extra.txt", "one.txt", "two.txt"], causes: [] });
    expect(shown(`${result.branch}:two.txt`)).toBe("uses new");
    const [rejected, ...others] = eventsOf(store, "merge:rejected");
    expect(others).toEqual([]);
    expect(rejected).toMatchObject({
      taskId: "two",
      commands: [{ name: "tests", exitCode: 3, output: "two.txt uses the old name" }],
    });
    expect(shown(`${rejected!.start}:one.txt`)).toBe("new");
    const two = run.workers["two"]!;
    expect(two).toMatchObject({ attempt: 2, retryCount: 1, outputFiles: ["extra.txt", "two.txt"] });
    const { text } = renderPrompt(run, "workerExecution", two, null, "/x");
    expect(text).toContain("The work of attempt 1 at this task was not merged.");
    expect(text).toContain("two.txt uses the old name");
    expect(text).toContain("- one: Title of one\n  It was meant to: Do one\n  Summary: renamed old to new");
    // The diff of the task is its own work, not that of the tasks that it was combined with.
    const { files } = await engine.diff(id, { task: "two" });
    expect(files.map(({ path }) => path)).toEqual(["extra.txt", "two.txt"]);
  });

  it("is found by bisection among the tasks that wait together", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const [began, go] = [join(lab.folder, "began"), join(lab.folder, "go")];
    const late = ["two", "three", "four", "five"];
    const whenBegan = (write: object) => ({ waitForFile: began, write, block: done({}) });
    const sessions = [
      { match: { role: "worker", task: "four", attempt: 1 }, turns: [whenBegan({ "bad.txt": "bad" })] },
      worker("four", whenBegan({ "bad.txt": "good" })),
      ...late.map((task) => worker(task, whenBegan({ [`${task}.txt`]: task }))),
    ];
    const run = `touch ${began}; while [ ! -e ${go} ]; do sleep 0.02; done; ! grep -q bad bad.txt 2>/dev/null`;
    const tasks = ["one", ...late].map((id) => ({ id }));
    const id = await begin(engine, { tasks, sessions, run });
    await engine.until(id, ({ workers }) => late.every((task) => workers[task]?.status === "completed"));
    writeFileSync(go, "");
    await untilOver(engine, id);
    expect(eventsOf(store, "merge:rejected").map(({ taskId }) => taskId)).toEqual(["four"]);
    const [first, second] = eventsOf(store, "merge:checked").map(({ tasks: checked }) => checked);
    expect(first).toEqual(["one"]);
    expect(second!.toSorted()).toEqual(late.toSorted());
    expect((await engine.result(id)).census).toMatchObject({ completed: 5 });
  });

  it("fails its task when the retries are used up, and dependents never start from it", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const tasks = [{ id: "one" }, { id: "two", dependencies: ["one"] }, { id: "three", dependencies: ["two"] }];
    const sessions = [renames, ...breaks("two")];
    const id = await begin(engine, { tasks, sessions, run: TESTS, config: { maxRetries: 0 } });
    await untilOver(engine, id);
    const result = await engine.result(id);
    expect(result).toMatchObject({ outcome: "degraded", outputFiles: ["one.txt"] });
    expect(result.causes).toEqual([
      {
        taskId: "two",
        status: "failed",
        reason: 'its work was not merged, because with it the command "tests" failed with exit code 3',
      },
      { taskId: "three", status: "blocked", reason: "needs two" },
    ]);
    expect(Object.values(engine.get(id)!.inbox)).toMatchObject([{ kind: "failure", taskId: "two" }]);
  });
});

describe("commands for merges", () => {
  it("blame no task if they fail on the branch alone, and the result says so", async () => {
    const store = new MemoryStore();
    const engine = open(store);
    const id = await begin(engine, { tasks: [{ id: "one" }], sessions: [], run: "exit 1" });
    await untilOver(engine, id);
    expect(await engine.result(id)).toMatchObject({
      outcome: "success",
      warnings: [
        'Merges were not checked, because without the work of the next task the command "tests" failed with exit code 1 already.',
      ],
    });
    expect(eventsOf(store, "merge:checked").map(({ tasks }) => tasks)).toEqual([["one"], []]);
  });

  it("are repeated after the engine stopped in the middle, and end with a cancelled run", async () => {
    const disk = newMemoryDisk();
    const [began, go] = [join(lab.folder, "began"), join(lab.folder, "go")];
    const engine = open(new MemoryStore(disk));
    const run = `touch ${began}; while [ ! -e ${go} ]; do sleep 0.02; done; echo trash > trash.txt`;
    const tasks = [{ id: "one" }];
    const ids = [await begin(engine, { tasks, sessions: [], run }), await begin(engine, { tasks, sessions: [], run })];
    for (const id of ids) await engine.until(id, ({ workers }) => workers["one"]?.status === "completed");
    await expect.poll(() => existsSync(began)).toBe(true);
    await engine.order(ids[0]!, "cancel");
    await engine.settled(ids[0]!);
    expect((await engine.result(ids[0]!)).outcome).toBe("cancelled");
    await engine.close();
    writeFileSync(go, "");
    const store = new MemoryStore(disk);
    const later = open(store);
    await later.activate(ids[1]!);
    await untilOver(later, ids[1]!);
    expect(await later.result(ids[1]!)).toMatchObject({ outcome: "success", outputFiles: ["docs/one.md"] });
  });
});
