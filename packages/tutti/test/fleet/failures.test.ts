import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { openNetwork, type CutNetwork } from "../lab/cut-network.ts";
import { newCluster, query, withPostgres, type Cluster } from "../lab/postgres.ts";
import { done, mainSession } from "../lab/scenarios.ts";
import type { OpenEngine } from "../../src/main/open-engine.ts";

let lab: FleetLab;
let cluster: Cluster | null = null;
let network: CutNetwork | null = null;

afterEach(async () => {
  await lab.end();
  network?.remove();
  network = null;
  cluster?.stop();
  if (cluster) rmSync(cluster.folder, { recursive: true, force: true });
  cluster = null;
});

/** A run whose tasks are all in a turn and wait for `open`. */
async function startWaitingRun(local: OpenEngine, tasks: string[]): Promise<{ id: string; open: () => void }> {
  const { file, open } = lab.gate();
  const turn = {
    tools: ["Write"],
    write: { "docs/{TASK_ID}.md": "# {TASK_ID}\n" },
    waitForFile: file,
    block: done({ summary: "wrote" }),
  };
  const agent = lab.scenario([
    ...mainSession(tasks.map((id) => ({ id }))),
    { match: { role: "worker" }, turns: [turn] },
  ]);
  const id = await lab.startRun(local, agent);
  await local.engine.until(id, ({ workers }) => tasks.every((task) => (workers[task]?.session.turn ?? null) !== null));
  await lab.untilDelivered(tasks);
  return { id, open };
}

const eventsOf = ({ engine }: OpenEngine, run: string, type: string) =>
  engine.events({ run }).filter((event) => event.type === type);

describe("a fleet", () => {
  it(
    "of three hosts completes every task once over a crash of PostgreSQL and the death of a host that comes back late",
    withPostgres(async () => {
      cluster = newCluster();
      cluster.start();
      lab = new FleetLab();
      const local = await lab.begin(cluster.url("postgres"));
      const workers = [];
      for (const name of ["one", "two", "three"]) workers.push(await lab.worker(name, ["--capacity", "2"]));
      const tasks = ["a", "b", "c", "d", "e"];
      const { id, open } = await startWaitingRun(local, tasks);
      const held = await query<{ host: string; task: string | null }>(
        lab.url,
        "SELECT host, task FROM tutti_hosts.attempt WHERE state = 'held'",
      );
      expect(new Set(held.map(({ host }) => host))).toEqual(new Set(workers.map((worker) => worker.id)));
      const withMain = held.find(({ task }) => task === null)?.host;
      const index = workers.findIndex((worker) => worker.id !== withMain);
      const victim = workers[index]!;
      const lost = held.filter(({ host }) => host === victim.id).map(({ task }) => task!);

      cluster.stop();
      victim.process.kill("SIGKILL");
      await victim.ended;
      cluster.start();
      await lab.expireLease(victim.id);
      await local.engine.until(id, (run) => lost.every((task) => run.workers[task]!.attempt === 2));
      open();
      const again = await lab.worker(["one", "two", "three"][index]!, ["--capacity", "2"]);
      expect(again.id).toBe(victim.id);
      const run = await local.engine.until(id, ({ released }) => released);

      expect(tasks.map((task) => run.workers[task])).toMatchObject(
        tasks.map((task) => ({ status: "completed", attempt: lost.includes(task) ? 2 : 1 })),
      );
      const completed = eventsOf(local, id, "worker:completed").map(({ data }) => (data as { taskId: string }).taskId);
      expect(completed.toSorted()).toEqual(tasks);
      const outcome = await local.engine.result(id);
      expect(outcome).toMatchObject({ outcome: "success", census: { planned: 5, completed: 5 } });
      for (const task of tasks) expect(lab.git("show", `${outcome.branch}:docs/${task}.md`)).toBe(`# ${task}`);
      await expect
        .poll(() => query(lab.url, "SELECT key FROM tutti_hosts.attempt WHERE state IN ('waiting', 'held')"))
        .toEqual([]);
    }),
  );

  it("retries the work of a host that is cut off from the network, and sets its late result aside", (context) =>
    withPostgres(async () => {
      const opened = openNetwork();
      if (typeof opened === "string") return context.skip(opened);
      network = opened;
      lab = new FleetLab();
      const local = await lab.begin();
      const { host, pathname } = hostAndName(lab.url);
      const place = await network.forward(join(host, ".s.PGSQL.5432"));
      const first = await lab.worker("one", [], `postgres://tutti@${place}${pathname}`, network.via);
      const { id, open } = await startWaitingRun(local, ["a"]);
      network.cut();
      await lab.worker("two");
      await lab.expireLease(first.id);
      await local.engine.until(id, ({ workers }) => workers["a"]!.attempt === 2 && workers["a"]!.session.turn !== null);
      // Both hosts finish the task, but only one of them can report it.
      open();
      await lab.untilWritten("one", "docs/a.md");
      const run = await local.engine.until(id, ({ released }) => released);
      expect(run.workers["a"]).toMatchObject({ status: "completed", attempt: 2 });
      expect(eventsOf(local, id, "worker:lost").map(({ data }) => data)).toMatchObject([
        { reason: "its host was lost", counted: false },
      ]);
      network.mend();
      await expect
        .poll(() => lab.remoteGit("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/a`))
        .toContain("a/1");
      expect(eventsOf(local, id, "worker:completed")).toHaveLength(1);
      first.process.kill("SIGTERM");
      expect((await first.ended).code).toBe(0);
    })(context));
});

/** The folder of the socket and the path of a URL of `newDatabase`. */
function hostAndName(url: string): { host: string; pathname: string } {
  const [, folder, name] = /@([^/]+)(\/.*)$/.exec(url)!;
  return { host: decodeURIComponent(folder!), pathname: name! };
}
