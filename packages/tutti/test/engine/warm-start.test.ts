// A chain of tasks with `warmSessions`, under real keepers.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { processesOf } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { pathName, workerSessionId } from "../../src/schema/ids.ts";
import { createKeeperHost } from "../../src/session/keeper/keeper-host.ts";
import { readEnd, readKeeper } from "../../src/session/keeper/session-folder.ts";
import { findSessionProcesses } from "../../src/session/keeper/session-processes.ts";
import { WarmKeeper } from "../../src/session/keeper/warm-keeper.ts";
import type { SessionHost } from "../../src/session/session.ts";
import { realWorld, type World } from "../../src/world.ts";

let lab: EngineLab;
let sessionsFolder: string;
beforeEach(() => {
  lab = new EngineLab();
  sessionsFolder = join(lab.data, "sessions");
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

/** A slow machine has enough time for the claim of a session. */
const patient: World = { ...realWorld, sleep: (_, ...rest) => realWorld.sleep(600_000, ...rest) };

const newHost = (): SessionHost =>
  createKeeperHost({
    folder: sessionsFolder,
    engineFile: join(lab.data, "engine.json"),
    world: realWorld,
    graceMs: 500,
    warm: new WarmKeeper(patient),
  });

const TASKS = ["one", "two", "three"];

it("waits for the answer of the task before it, and is replaced if that changed the instructions of agents", async () => {
  const gates = new Map(TASKS.map((task) => [task, lab.gate(task)]));
  const files: Record<string, string> = { one: "one.md", two: "CLAUDE.md", three: "three.md" };
  const workers = TASKS.map((task) =>
    worker(task, { waitForFile: gates.get(task)!.file, write: { [files[task]!]: task }, block: done({}) }),
  );
  const tasks = TASKS.map((id, i) => ({ id, dependencies: TASKS.slice(Math.max(0, i - 1), i) }));
  const engine = lab.open(undefined, { sessions: newHost() });
  const config = { autoSpawn: true, warmSessions: true };
  const id = await lab.begin(engine, lab.scenario([...workers, ...mainSession(tasks)]), { config });
  const sessionOf = (task: string): string => workerSessionId(id, task, 1, "__orch_");
  const folderOf = (task: string): string => join(sessionsFolder, id, pathName(sessionOf(task)));
  /** The keeper, which has written its file, and the agent. */
  const isWaiting = (task: string): boolean =>
    findSessionProcesses(sessionOf(task)).length === 2 && readKeeper(folderOf(task)) !== null;
  const begun = (): string[] => Object.keys(engine.get(id)!.workers);
  const keepers = new Map<string, number>();

  for (const [i, task] of TASKS.slice(1).entries()) {
    await expect.poll(() => isWaiting(task)).toBe(true);
    keepers.set(task, readKeeper(folderOf(task))!.pid);
    expect(begun()).toEqual(TASKS.slice(0, i + 1));
    gates.get(TASKS[i]!)!.open();
    await engine.until(id, ({ workers }) => workers[task]?.status === "running");
  }
  gates.get("three")!.open();
  const run = await untilOver(engine, id);
  expect(run.status).toBe("completed");
  expect(readEnd(folderOf("two"))!.keeper!.pid).toBe(keepers.get("two"));
  expect(readEnd(folderOf("three"))!.keeper!.pid).not.toBe(keepers.get("three"));
  const workerFolders = readdirSync(join(sessionsFolder, id)).filter((name) => name.includes("worker"));
  expect(workerFolders.toSorted()).toEqual(TASKS.map((task) => pathName(sessionOf(task))).toSorted());
  expect(processesOf(lab.folder)).toEqual([]);
});

it("ends when the user pauses the run, and counts for nothing", async () => {
  const gate = lab.gate();
  const workers = ["one", "two"].map((task) => worker(task, { waitForFile: gate.file, block: done({}) }));
  const engine = lab.open(undefined, { sessions: newHost() });
  const config = { autoSpawn: true, warmSessions: true, maxWorkers: 1 };
  const agent = lab.scenario([...workers, ...mainSession([{ id: "one" }, { id: "two" }])]);
  const id = await lab.begin(engine, agent, { config });
  const waiting = workerSessionId(id, "two", 1, "__orch_");
  const folder = join(sessionsFolder, id, pathName(waiting));
  await expect.poll(() => findSessionProcesses(waiting).length).toBe(2);
  await engine.order(id, "pause");
  const isGone = (): boolean => !existsSync(folder) && findSessionProcesses(waiting).length === 0;
  await expect.poll(isGone).toBe(true);
  expect(engine.get(id)!.workers["two"]).toBeUndefined();
  expect(engine.get(id)!.sessions).toBe(2);
});
