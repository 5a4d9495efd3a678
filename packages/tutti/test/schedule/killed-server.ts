// A server process that kills itself while it settles a due time, right after the engine call that the test names.
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { openAutomation } from "../../src/schedule/automation.ts";
import type { LaunchedRuns } from "../../src/schedule/run-launcher.ts";
import type { Automation } from "../../src/schedule/settings.ts";
import { realWorld } from "../../src/world.ts";

export interface KilledServer {
  data: string;
  file: string;
  now: number;
  automation: Automation;
  /** The engine call after which the process dies. */
  after: "create" | "append";
}

const { data, file, now, automation, after } = JSON.parse(process.argv[2]!) as KilledServer;
const { engine } = openLocalEngine({ dataDir: data });
const dyingAfter =
  <A extends unknown[], T>(call: KilledServer["after"], work: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    const done = await work(...args);
    if (call === after) process.kill(process.pid, "SIGKILL");
    return done;
  };
const runs: LaunchedRuns = {
  create: dyingAfter("create", (request) => engine.create(request)),
  append: dyingAfter("append", (...events) => engine.append(...events)),
  order: (id, name) => engine.order(id, name),
  summaries: () => engine.summaries(),
};
const world = { ...realWorld, now: () => now };
openAutomation({ runs, read: () => automation, file, world, env: {} }).schedules.begin();
