import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { SharedWork } from "../../src/fleet/shared-work.ts";
import { openHeldStore } from "../../src/main/held-store.ts";
import type { OpenEngine } from "../../src/main/open-engine.ts";
import { Exchange } from "../../src/workspace/exchange/exchange.ts";

let lab: FleetLab;

afterEach(() => lab.end());

/** A run on the first server, with the result of task `a` in its branch while `b` waits for `open`. */
async function startRun(first: OpenEngine): Promise<{ id: string; head: string; open: () => void }> {
  const { file, open } = lab.gate();
  const [turn] = goodWorker.turns;
  const waiting = { match: { task: "b" }, turns: [{ ...turn, waitForFile: file }] };
  const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }];
  const id = await lab.startRun(first, lab.scenario([...mainSession(tasks), waiting, goodWorker]));
  const { head } = await first.engine.until(
    id,
    ({ workers }) => workers["a"]?.merged === "merged" && (workers["b"]?.session.turn ?? null) !== null,
  );
  return { id, head: head!, open };
}

const openSecond = (): Promise<OpenEngine> => lab.openServer(join(lab.folder, "second"));

/** The second server was there before, so the first one knows it. It takes over the runs of a server that has left. */
async function moveRuns(first: OpenEngine): Promise<OpenEngine> {
  await lab.closeServer(first);
  lab.replaceRepository();
  const second = await openSecond();
  await second.engine.activateAll();
  return second;
}

const isShared = async (commit: string): Promise<boolean> =>
  (await query(lab.url, "SELECT 1 FROM tutti_hosts.parcel WHERE refs LIKE '%' || $1 || '%'", [commit])).length > 0;

describe("a commit of a host", () => {
  it(
    "is shared as a bundle if the host could not push it",
    withPostgres(async () => {
      lab = new FleetLab();
      const first = await lab.begin();
      lab.rejectPushes();
      const before = await openSecond();
      await lab.closeServer(before);
      await lab.worker("one");
      const { id, head, open } = await startRun(first);
      await expect.poll(() => isShared(head)).toBe(true);
      const second = await moveRuns(first);
      open();
      const run = await second.engine.until(id, ({ released }) => released);
      expect(run.workers).toMatchObject({ a: { attempt: 1 }, b: { status: "completed", attempt: 1 } });
      expect(lab.git("rev-parse", `refs/tutti/${id}/a/1`)).toBe(run.workers["a"]!.commit);
    }),
  );

  it(
    "is shared without another push if the host has pushed it",
    withPostgres(async () => {
      lab = new FleetLab();
      lab.url = await newDatabase();
      const { fleet, store, lock } = await openHeldStore(lab.data, lab.url);
      try {
        await query(lab.url, "INSERT INTO tutti.servers (id, epoch, beat, batch) VALUES ('another', 1, 1, 1)");
        await expect.poll(() => fleet.isShared).toBe(true);
        // The server cannot reach the remote of its clone, to which the host pushes with its own login.
        lab.git("remote", "add", "origin", join(lab.folder, "missing.git"));
        const shared = new SharedWork(fleet, new Exchange(join(lab.folder, "transfers")));
        const refs = { "refs/tutti/run/a/1": lab.git("rev-parse", "HEAD") };
        await shared.share(lab.repo, "run", refs, true);
        expect(await fleet.parcels("run")).toEqual([{ refs, bundle: null }]);
      } finally {
        await fleet.close();
        await store.close();
        lock.release();
      }
    }),
  );
});

describe("a server that takes over a run on another machine", () => {
  for (const how of ["through the remote", "as bundles if the remote rejects them"])
    it(
      `gets the commits of the server before ${how}`,
      withPostgres(async () => {
        lab = new FleetLab();
        const first = await lab.begin();
        if (how !== "through the remote") lab.rejectPushes();
        await lab.closeServer(await openSecond());
        const { id, head, open } = await startRun(first);
        await expect.poll(() => isShared(head)).toBe(true);
        const second = await moveRuns(first);
        open();
        const run = await second.engine.until(id, ({ released }) => released);
        expect(run.workers).toMatchObject({ a: { attempt: 1 }, b: { status: "completed", attempt: 2 } });
        const { outcome, branch } = await second.engine.result(id);
        expect(outcome).toBe("success");
        expect(lab.git("show", `${branch}:docs/a.md`)).toBe("# Title of a");
        expect(lab.git("rev-parse", `refs/tutti/${id}/a/1`)).toBe(run.workers["a"]!.commit);
        expect(lab.git("for-each-ref", `refs/tutti/${id}/head`)).toBe("");
      }),
    );

  it(
    "also gets those from before it existed, and pauses the run while they are missing",
    withPostgres(async () => {
      lab = new FleetLab();
      const first = await lab.begin();
      const { id, head, open } = await startRun(first);
      expect(await isShared(head)).toBe(false);
      await lab.closeServer(await openSecond());
      await expect.poll(() => isShared(head)).toBe(true);
      // As if they were not shared yet.
      await query(lab.url, "UPDATE tutti_hosts.parcel SET run = 'none'");
      const second = await moveRuns(first);
      open();
      await second.engine.until(id, ({ status }) => status === "paused");
      const events = second.engine.events({ run: id }).map((event) => JSON.stringify(event));
      expect(events.some((event) => event.includes(`The commit ${head} of run`))).toBe(true);
      await query(lab.url, "UPDATE tutti_hosts.parcel SET run = $1", [id]);
      await second.engine.order(id, "resume");
      const run = await second.engine.until(id, ({ released }) => released);
      expect(run.workers).toMatchObject({ a: { attempt: 1 }, b: { status: "completed", attempt: 2 } });
    }),
  );
});
