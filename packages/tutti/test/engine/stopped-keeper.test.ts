// A keeper that is stopped (SIGSTOP) cannot end its agent. The engine ends both.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineLab } from "./engine-lab.ts";
import { hurriedWorld } from "../lab/hurried-world.ts";
import { killListed, processesOf } from "../lab/lab.ts";
import { mainSession, worker } from "../lab/scenarios.ts";
import { createKeeperHost } from "../../src/session/keeper/keeper-host.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import { realWorld, type World } from "../../src/world.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  killListed(processesOf(lab.folder));
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

it("a cancelled run ends agents whose keepers are stopped", async () => {
  // Keepers need real time to start.
  let current = realWorld;
  const overdue = Promise.withResolvers<never>();
  const sleep: World["sleep"] = async (...args) => {
    try {
      await current.sleep(...args);
    } catch (error) {
      overdue.reject(error);
      throw error;
    }
  };
  const world: World = { ...realWorld, mono: () => current.mono(), sleep };
  const engineFile = join(lab.data, "engine.json");
  const sessions = createKeeperHost({ folder: join(lab.data, "sessions"), engineFile, world, graceMs: 500 });
  const engine = lab.open(new MemoryStore(), { sessions });
  const agent = lab.scenario([
    ...mainSession([{ id: "one" }, { id: "two" }]),
    worker("*", { waitForFile: lab.gate().file }),
  ]);
  const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
  await engine.until(id, ({ workers }) => ["one", "two"].every((task) => workers[task]?.session.turn != null));
  const keepers = globSync(join(lab.data, "sessions/*/*/keeper.json"));
  expect(keepers.length).toBeGreaterThanOrEqual(2);
  for (const file of keepers) process.kill((JSON.parse(readFileSync(file, "utf8")) as { pid: number }).pid, "SIGSTOP");
  // The grace of a keeper is over soon, and a wait for its end that has no limit fails.
  current = hurriedWorld();
  await engine.order(id, "cancel");
  await Promise.race([overdue.promise, engine.until(id, ({ released }) => released)]);
  expect(engine.get(id)).toMatchObject({ status: "cancelled" });
  expect(processesOf(lab.folder)).toEqual([]);
});
