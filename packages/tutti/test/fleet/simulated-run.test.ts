import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { NoOpHost } from "../lab/no-op/no-op-host.ts";
import { openSimulatedServer, runSimulatedHost, workersOnly } from "../lab/no-op/simulated-fleet.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { isRunOver } from "../../src/schema/status.ts";
import { realWorld, type World } from "../../src/world.ts";

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const DAY_MS = 86_400_000;
const AT_ONCE = 5;
/** Less than `AT_ONCE`, so that work waits until the host has room again. */
const CAPACITY = 3;

/** Two layers: each task of the second one needs two of the first. */
const PLAN = Array.from({ length: 16 }, (_, i) => ({
  id: `t${i}`,
  title: `Task ${i}`,
  description: "nothing is to be done",
  scope: [`${i}.md`],
  priority: 5,
  dependencies: i < 8 ? [] : [`t${i - 8}`, `t${(i - 7) % 8}`],
}));

/** A host sleeps until something wakes it, so work that it is not notified of stays undone. */
const sleep: World["sleep"] = (ms, signal, background) => realWorld.sleep(signal ? DAY_MS : ms, signal, background);

describe("a run of several tasks on a host that never polls", () => {
  it(
    "starts each task once, gets all results, and leaves neither requests nor jobs",
    withPostgres(async () => {
      const folder = mkdtempSync(join(tmpdir(), "tutti-simulated-"));
      closing.push(() => rmSync(folder, { recursive: true, force: true }));
      const url = await newDatabase();
      const template = workersOnly(AT_ONCE);
      const started: string[] = [];
      const noOp = (onHost: boolean) =>
        new NoOpHost({
          delimiters: template.prompts.responseFormat,
          plan: PLAN,
          started: ({ taskId }) => void started.push(onHost ? `${taskId}` : `${taskId} on the server`),
          delivered() {},
          lastTurn: () => 0,
        });
      const server = await openSimulatedServer({
        folder: join(folder, "data"),
        url,
        template,
        sessions: noOp(false),
        maxWorkers: AT_ONCE,
        leaseMs: DAY_MS,
      });
      closing.push(() => server.close());
      const drain = new AbortController();
      const host = { folder: join(folder, "host"), url, name: "one", capacity: CAPACITY, sessions: noOp(true) };
      const ended = runSimulatedHost({ ...host, world: { ...realWorld, sleep }, drain: drain.signal });
      closing.push(() => {
        drain.abort();
        return ended;
      });
      const { engine, fleet } = server;
      await expect.poll(() => fleet.hasReadyHost).toBe(true);
      const listening =
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN \"tutti_host_%' AND state = 'idle' AND datname = current_database()";
      await expect.poll(async () => (await query(url, listening)).length).toBe(1);

      const { id } = await engine.create({
        templateId: "_default",
        cwd: folder,
        message: "do nothing",
        agent: "local",
      });
      await engine.order(id, "start");
      await engine.until(id, ({ status }) => status === "confirming");
      await engine.order(id, "confirm");
      const { outcome, workers } = await engine.until(id, ({ status }) => isRunOver(status));
      expect(outcome).toBe("success");
      expect(Object.values(workers).map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(
        PLAN.map(() => "completed 1"),
      );
      expect(started.toSorted()).toEqual(["null", ...PLAN.map((task) => task.id)].toSorted());

      const left = async () => [
        ...(await query(url, "SELECT DISTINCT state FROM tutti_hosts.attempt")),
        ...(await query(url, "SELECT DISTINCT state::text AS job FROM tutti_jobs.job")),
        ...(await query(url, "SELECT key, name FROM tutti_hosts.request")),
      ];
      await expect.poll(left).toEqual([{ state: "over" }, { job: "completed" }]);
    }),
  );
});
