// A git process costs more than most of the work that it does, so a run starts few of them.
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

const lab = new EngineLab();
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

it("starts at most 15 git processes in a run with five phases and two tasks", async () => {
  const started: ChildProcess[] = [];
  const note = (message: unknown): void => void started.push((message as { process: ChildProcess }).process);
  subscribe("child_process", note);
  const engine = lab.open();
  const scenario = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
  const id = await lab.begin(engine, scenario, { phases: { verification: { enabled: true } } });
  const run = await untilOver(engine, id);
  await nextTurn();
  unsubscribe("child_process", note);
  expect(run).toMatchObject({ status: "completed", verification: { status: "passed" } });
  const commands = started.map(({ spawnargs }) => spawnargs.join(" ").replace(/.*--work-tree=\S+ /, ""));
  expect(commands.length, commands.join("\n")).toBeLessThanOrEqual(15);
});
