// Measures the cost of a run's turns while other runs are open on the same server: 1,000 no-op tasks, alone and beside
// 200 runs that wait for confirmation. Only sessions and workspaces are no-ops; engine, rules, prompts and store are
// real.
// Run: npm run bench -- turns
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CAP } from "../beside/layered-graph.ts";
import { Recorder } from "../beside/recorder.ts";
import { recordedHost } from "../beside/tutti.ts";
import { Engine } from "../../src/engine/engine.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { realWorld } from "../../src/world.ts";
import { NO_OP_WORKSPACES } from "../../test/lab/no-op/no-op-workspaces.ts";
import { workersOnly } from "../../test/lab/no-op/simulated-fleet.ts";

const OTHERS = 200;
const TASKS = 1000;
const ROUNDS = 3;

const template = workersOnly(CAP);

/** Returns the CPU time per task in microseconds, with `others` open runs. */
async function cost(others: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-bench-turns-"));
  const store = openSqliteStore(join(folder, "tutti.db"));
  const engine = Engine.open({
    store,
    snapshots: store.snapshots,
    sessions: recordedHost(new Recorder(null), null),
    workspaces: NO_OP_WORKSPACES,
    world: realWorld,
    templates: { resolve: () => ({ template, programs: [], warnings: [] }) },
    maxWorkers: CAP,
  });
  const planned = async (): Promise<string> => {
    const { id } = await engine.create({ templateId: "_default", cwd: folder, message: "do nothing", agent: "local" });
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    return id;
  };
  for (let i = 0; i < others; i++) await planned();
  const id = await planned();
  const before = process.cpuUsage();
  await engine.order(id, "confirm");
  await engine.until(id, ({ status }) => isRunOver(status));
  const { user, system } = process.cpuUsage(before);
  await engine.close();
  rmSync(folder, { recursive: true });
  return (user + system) / TASKS;
}

// The first call warms up the code.
await cost(0);
const results = { alone: [] as number[], beside: [] as number[] };
for (let round = 0; round < ROUNDS; round++) {
  results.alone.push(await cost(0));
  results.beside.push(await cost(OTHERS));
}
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const [alone, beside] = [median(results.alone), median(results.beside)];
console.log(
  `a task of a run: ${alone.toFixed(0)} µs alone, ${beside.toFixed(0)} µs beside ${OTHERS} other runs (${(beside / alone).toFixed(2)} times as much)`,
);
