import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { query, withPostgres } from "../lab/postgres.ts";
import { done, goodWorker, mainSession, type ScriptedTask } from "../lab/scenarios.ts";
import { openHosts } from "../../src/main/fleet/hosts.ts";
import type { OpenEngine } from "../../src/main/open-engine.ts";

let lab: FleetLab;

afterEach(() => lab.end());

/** A run with the task `a`, whose turn has begun and waits for `open`. */
async function startWaitingRun(
  local: OpenEngine,
  tasks: ScriptedTask[] = [{ id: "a" }],
): Promise<{ id: string; open: () => void }> {
  const { file, open } = lab.gate();
  const turn = {
    tools: ["Write"],
    write: { "docs/{TASK_ID}.md": "# {TASK_ID}\n" },
    waitForFile: file,
    block: done({ summary: "wrote" }),
  };
  const agent = lab.scenario([...mainSession(tasks), { match: { role: "worker" }, turns: [turn] }]);
  const id = await lab.startRun(local, agent);
  await local.engine.until(id, (run) => (run.workers["a"]?.session.turn ?? null) !== null);
  await lab.untilDelivered(["a"]);
  return { id, open };
}

describe("a worker host", () => {
  it(
    "runs all sessions of a run and hands the commits over through the remote",
    withPostgres(async () => {
      lab = new FleetLab();
      const local = await lab.begin();
      const { engine } = local;
      const worker = await lab.worker("one", ["--repository", lab.remote, "--capacity", "4", "--label", "gpu=yes"]);
      const agent = lab.scenario([
        ...mainSession([
          { id: "a", scope: ["docs"] },
          { id: "b", dependencies: ["a"], labels: { gpu: "yes" } },
        ]),
        goodWorker,
      ]);
      // A slow machine would also save the unfinished work of a turn.
      const settings = { config: { saveInterval: 0 }, workspace: { sparse: true } };
      const template = { id: "parts", name: "Parts", extends: "_default", ...settings };
      mkdirSync(join(lab.data, "templates"), { recursive: true });
      writeFileSync(join(lab.data, "templates/parts.json"), JSON.stringify(template));
      await lab.recordRequests();
      const id = await lab.startRun(local, agent, "parts");
      const run = await engine.until(id, ({ released }) => released);
      const outcome = await engine.result(id);
      expect(outcome).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
      expect(lab.git("show", `${outcome.branch}:docs/b.md`)).toBe("# Title of b");
      expect(lab.git("show", `${outcome.branch}:docs/a.md`)).toBe("# Title of a");
      expect(lab.remoteGit("rev-parse", `refs/heads/${outcome.branch}`)).toBe(outcome.commit);
      expect(lab.remoteGit("rev-parse", `refs/tutti/${id}/a/1`)).toBe(lab.git("rev-parse", `refs/tutti/${id}/a/1`));
      // The session is opened with its workspace, the work is committed with the turn, and the close removes the workspace.
      expect(await lab.recordedRequests(`${id}/a/1`)).toEqual(["prepare", "turn 1", "remove"]);
      const transcript = await engine.transcript(id, run.workers["a"]!.sessionId);
      expect(transcript.map(({ type }) => type)).toContain("turnOver");
      // A host also makes a workspace with the files of the scope only.
      expect(JSON.stringify(transcript.find(({ type }) => type === "prompt"))).toContain("sparse-checkout add FOLDER");
      expect(await query(lab.url, "SELECT DISTINCT state FROM tutti_jobs.job")).toEqual([{ state: "completed" }]);
      expect(await local.hosts!.list()).toMatchObject([
        { state: "ready", capacity: 4, labels: { gpu: "yes" }, agents: ["local"], tasks: [], sessions: 0 },
      ]);
      lab.write("new.txt", "not pushed");
      lab.git("add", "-A");
      lab.git("commit", "-q", "-m", "not pushed");
      const unpushed = engine.create({ templateId: "_default", message: "Do it", cwd: lab.repo, agent });
      await expect(unpushed).rejects.toMatchObject({ code: "repository_unusable", kind: { status: 422 } });
      worker.process.kill("SIGTERM");
      expect((await worker.ended).code).toBe(0);
    }),
  );

  it(
    "gets no work while it is drained: a task with its labels waits, and the inbox says so after a minute",
    withPostgres(async () => {
      lab = new FleetLab();
      const local = await lab.begin();
      const { engine, hosts } = local;
      await lab.worker("one", ["--label", "gpu=yes"]);
      const [host] = await hosts!.list();
      await hosts!.drain(host!.id);
      await expect.poll(async () => (await hosts!.list())[0]!.state).toBe("draining");
      const labels = { gpu: "yes" };
      const id = await lab.startRun(local, lab.scenario([...mainSession([{ id: "a", labels }]), goodWorker]));
      await engine.until(id, (run) => run.workers["a"]?.status === "spawning");
      await query(
        lab.url,
        "UPDATE tutti_hosts.attempt SET created_at = created_at - interval '1 minute' WHERE task = 'a'",
      );
      const waiting = await engine.until(id, ({ inbox }) => Object.keys(inbox).length > 0);
      expect(Object.values(waiting.inbox)).toMatchObject([{ kind: "host", taskId: "a", evidence: { labels } }]);
      await expect(hosts!.undrain("nobody")).rejects.toMatchObject({ code: "host_not_found" });
      await hosts!.undrain(host!.id);
      const run = await engine.until(id, ({ released }) => released);
      expect([run.inbox, run.workers["a"]!.status]).toEqual([{}, "completed"]);
    }),
  );

  it(
    "keeps its session while it is drained, also over a restart, and gets no other one",
    withPostgres(async () => {
      lab = new FleetLab();
      const local = await lab.begin();
      const before = await lab.worker("one");
      const { id, open } = await startWaitingRun(local, [{ id: "a" }, { id: "b", dependencies: ["a"] }]);
      await local.hosts!.drain(before.id);
      before.process.kill("SIGKILL");
      await before.ended;
      const after = await lab.worker("one");
      expect(after.id).toBe(before.id);
      const [host] = await local.hosts!.list();
      expect(host).toMatchObject({ state: "draining", tasks: ["a"] });
      // The next beat of the host.
      await expect.poll(async () => (await local.hosts!.list())[0]!.seenAt).not.toBe(host!.seenAt);
      open();
      const run = await local.engine.until(id, ({ released }) => released);
      expect(run.workers).toMatchObject({
        a: { status: "completed", attempt: 1 },
        b: { status: "completed", attempt: 1 },
      });
      const places = "SELECT task, host FROM tutti_hosts.attempt WHERE task IS NOT NULL ORDER BY task";
      expect(await query(lab.url, places)).toEqual([
        { task: "a", host: after.id },
        { task: "b", host: null },
      ]);
    }),
  );

  it(
    "has a login that may do nothing else, sends bundles where it may not push, and survives restarts of all processes",
    withPostgres(async () => {
      lab = new FleetLab();
      const first = await lab.begin();
      lab.rejectPushes();
      const hosts = await openHosts(lab.url);
      const { url, id: host } = await hosts.add("gpu-1");
      await expect(hosts.add("gpu-1")).rejects.toMatchObject({ code: "wrong_state" });
      for (const text of [
        "SELECT * FROM tutti.events",
        "SELECT * FROM tutti_hosts.attempt",
        "SELECT * FROM tutti_hosts.parcel",
        "SELECT tutti_hosts.own_host('x')",
        "SELECT tutti_hosts.place('x', '[]')",
        "SELECT * FROM tutti.lock_log('x', '{}')",
        "SELECT * FROM tutti_jobs.job",
        "CREATE TABLE tutti_hosts.mine (x int)",
      ])
        await expect(query(url, text)).rejects.toThrow("permission denied");
      const before = await lab.worker("one", [], url);
      const { id, open } = await startWaitingRun(first);
      expect(await first.hosts!.list()).toMatchObject([{ id: host, name: "gpu-1", tasks: ["a"] }]);
      before.process.kill("SIGKILL");
      await before.ended;
      await lab.closeServer();
      // A login of an earlier version has fewer functions. The server grants the rest at its start.
      await query(
        lab.url,
        `REVOKE EXECUTE ON FUNCTION tutti_hosts.host_sync(text, json, integer) FROM "tutti_${host}";
         UPDATE tutti_hosts.setting SET functions = 'of an earlier version'`,
      );
      const second = await lab.openServer();
      open();
      const after = await lab.worker("one", [], url);
      await second.engine.activateAll();
      const run = await second.engine.until(id, ({ released }) => released);
      expect(run.workers["a"]).toMatchObject({ status: "completed", attempt: 1 });
      const { branch } = await second.engine.result(id);
      expect(lab.git("show", `${branch}:docs/a.md`)).toBe("# a");
      expect(lab.remoteGit("for-each-ref", "refs/tutti", "refs/heads/tutti")).toBe("");
      await hosts.remove("gpu-1");
      const { code, stderr } = await after.ended;
      expect([code, stderr]).toEqual([4, expect.stringContaining('The host "gpu-1" was removed.')]);
      await expect(query(url, "SELECT 1")).rejects.toThrow("not permitted to log in");
      await hosts.close();
    }),
  );

  it(
    "loses its work to another host after the lease, gives it up when it drains, and sets a late result aside",
    withPostgres(async () => {
      lab = new FleetLab();
      const local = await lab.begin();
      const { engine } = local;
      const frozen = await lab.worker("one");
      const { id, open } = await startWaitingRun(local);
      frozen.process.kill("SIGSTOP");
      const drained = await lab.worker("two", ["--grace", "0"]);
      await lab.expireLease(frozen.id);
      await engine.until(id, (run) => run.workers["a"]!.attempt === 2 && run.workers["a"]!.session.turn !== null);
      drained.process.kill("SIGTERM");
      expect((await drained.ended).code).toBe(0);
      // No host is ready, so the server works itself.
      await engine.until(id, (run) => run.workers["a"]!.attempt === 3 && run.workers["a"]!.session.turn !== null);
      open();
      await lab.untilWritten("one", "docs/a.md");
      frozen.process.kill("SIGCONT");
      const run = await engine.until(id, ({ released }) => released);
      expect(run.workers["a"]).toMatchObject({ status: "completed", attempt: 3 });
      expect(await engine.result(id)).toMatchObject({ outcome: "success" });
      const losses = engine.events({ run: id }).filter(({ type }) => type === "worker:lost");
      expect(losses.map(({ data }) => data)).toMatchObject([
        { reason: "its host was lost", counted: false },
        { reason: "its host was drained", counted: false },
      ]);
      expect(engine.events({ run: id }).filter(({ type }) => type === "orchestrator:error")).toEqual([]);
      await expect
        .poll(() => lab.remoteGit("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/a`))
        .toContain("/a/1");
      expect(lab.git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/a`)).not.toContain("/a/1");
      frozen.process.kill("SIGTERM");
      expect((await frozen.ended).code).toBe(0);
    }),
  );
});
