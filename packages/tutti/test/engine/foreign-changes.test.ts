// A session, or anything else, changes refs of the repository during a run.
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { outcome } from "../../src/run/outcome/outcome.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close().catch(() => {});
  lab.tearDown();
});

/** A commit with EVIL.txt on top of the user's HEAD, which no ref reaches. */
function evilCommit(): string {
  const blob = lab.git("hash-object", "-w", lab.write("EVIL.txt", "evil"));
  lab.git("update-index", "--add", "--cacheinfo", `100644,${blob},EVIL.txt`);
  const tree = lab.git("write-tree");
  lab.git("reset", "--quiet", "--hard");
  return lab.git("commit-tree", tree, "-p", "HEAD", "-m", "by no task");
}

/** Two tasks; the second one ends when the gate is opened. */
async function waitingRun() {
  const disk = newMemoryDisk();
  const store = new MemoryStore(disk);
  const workspaces = createGitWorkspaces({ folder: join(lab.data, "worktrees"), dataFolder: lab.data });
  const engine = lab.open(store, { workspaces });
  const gate = lab.gate();
  const late = worker("late", { waitForFile: gate.file, write: { "late.md": "l" }, block: done({ summary: "late" }) });
  const agent = lab.scenario([...mainSession([{ id: "early" }, { id: "late" }]), late, goodWorker]);
  const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
  const isWaiting = ({ workers }: Run) =>
    workers["early"]?.merged === "merged" && workers["late"]?.session.turn != null;
  await engine.until(id, isWaiting);
  // `SessionRunner` reads the refs before it delivers the turn.
  const { sessionId } = engine.get(id)!.workers["late"]!;
  while (!(await engine.transcript(id, sessionId)).some(({ type }) => type === "prompt"))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const finish = () => {
    gate.open();
    return untilOver(engine, id);
  };
  return { engine, id, finish, disk, store, gate };
}

describe("a commit that no task made", () => {
  it("on the run's branch is not part of the result, and the run is degraded", async () => {
    const { engine, id, finish, store } = await waitingRun();
    const evil = evilCommit();
    lab.git("update-ref", `refs/heads/tutti/${id}`, evil);
    const { status, head } = await finish();
    const result = await engine.result(id);
    expect({ status, outcome: result.outcome, commit: result.commit }).toEqual({
      status: "completed",
      outcome: "degraded",
      commit: head,
    });
    expect(result.outputFiles).toEqual(["docs/early.md", "late.md"]);
    expect(result.warnings).toEqual([
      expect.stringMatching(/^refs\/heads\/tutti\/orch_\w+ was moved to [0-9a-f]{12}, but not by Tutti: .* is kept as/),
    ]);
    expect(lab.git("rev-parse", `tutti/${id}`)).toBe(head);
    expect(lab.git("rev-parse", `refs/tutti/${id}/moved/${evil.slice(0, 12)}`)).toBe(evil);
    const events = store.read({}).filter(({ type }) => type === "branch:moved");
    expect(events.map(({ data }) => data)).toMatchObject([{ ref: `refs/heads/tutti/${id}`, found: evil }]);
    expect(lab.leftovers()).toEqual([]);
  });

  it("on the ref of another task is replaced at the end, and the run is degraded", async () => {
    const { engine, id, finish } = await waitingRun();
    const evil = evilCommit();
    const ref = `refs/tutti/${id}/early/1`;
    const { commit } = engine.get(id)!.workers["early"]!;
    lab.git("update-ref", ref, evil);
    const run = await finish();
    expect({ outcome: run.outcome, movedRefs: run.movedRefs }).toMatchObject({
      outcome: "degraded",
      movedRefs: [{ ref, found: evil, recorded: commit }],
    });
    expect(lab.git("rev-parse", ref)).toBe(commit);
    expect(outcome(run, [], 0).warnings).toHaveLength(1);
  });

  it("on the run's branch is found when the engine restarts", async () => {
    const { engine, id, disk, gate } = await waitingRun();
    await engine.close({ leaveRunning: true });
    lab.git("update-ref", `refs/heads/tutti/${id}`, evilCommit());
    gate.open();
    const next = lab.open(new MemoryStore(disk));
    await next.activate(id);
    const run = await untilOver(next, id);
    expect(run.outcome).toBe("degraded");
    expect((await next.result(id)).outputFiles).toEqual(["docs/early.md", "late.md"]);
  });
});

describe("a change of the user's repository during a turn", () => {
  it("is a warning that names refs and settings, without changing the verdict", async () => {
    const { engine, id, finish, store } = await waitingRun();
    const before = lab.git("rev-parse", "HEAD");
    lab.git("commit", "--quiet", "--allow-empty", "-m", "moved");
    lab.git("tag", "new-tag");
    lab.git("config", "filter.planted.clean", "cat");
    const { outcome: verdict } = await finish();
    expect(verdict).toBe("success");
    const [event, ...more] = store.read({}).filter(({ type }) => type === "repository:changed");
    expect(more).toEqual([]);
    const after = lab.git("rev-parse", "HEAD");
    expect(event!.data).toEqual({
      id,
      sessionId: expect.any(String),
      taskId: "late",
      refs: [
        { ref: "refs/heads/trunk", from: before, to: after },
        { ref: "refs/tags/new-tag", to: after },
      ],
      settings: ["filter.planted.clean"],
    });
    expect((await engine.result(id)).warnings).toEqual([
      "While late was active, the repository changed: refs/heads/trunk, refs/tags/new-tag, the setting filter.planted.clean. If that was not you, check them before you continue.",
    ]);
  });

  it("is a warning that names hooks and other files that decide how git works, also in another worktree", async () => {
    const other = join(lab.folder, "other");
    lab.git("worktree", "add", "--quiet", "-b", "other", other);
    const { engine, id, finish } = await waitingRun();
    const gitFolder = join(lab.repo, ".git");
    mkdirSync(join(gitFolder, "hooks"), { recursive: true });
    const ofEntry = ["config.worktree", "commondir", "gitdir"].map((name) => `worktrees/other/${name}`);
    const planted = [
      "hooks/post-commit",
      "info/attributes",
      "info/exclude",
      "info/grafts",
      "objects/info/alternates",
    ].concat(ofEntry);
    for (const name of planted) appendFileSync(join(gitFolder, name), "# planted\n");
    // Tutti itself and the user may add worktrees.
    cpSync(join(gitFolder, "worktrees/other"), join(gitFolder, "worktrees/new"), { recursive: true });
    rmSync(join(gitFolder, "worktrees/new/config.worktree"));
    const run = await finish();
    expect(run.repositoryChanges).toMatchObject([
      { taskId: "late", refs: [], settings: [], files: planted.toSorted() },
    ]);
    expect((await engine.result(id)).warnings).toEqual([
      expect.stringMatching(/^While late was active, .* \.git\/hooks\/post-commit, .* 3 more\. If that was not you/),
    ]);
  });

  it("is not reported for a worktree that Tutti was adding or removing", async () => {
    const entry = join(lab.repo, ".git/worktrees/late-9");
    mkdirSync(entry, { recursive: true });
    writeFileSync(join(entry, "commondir"), "../..\n");
    const { finish, store } = await waitingRun();
    rmSync(entry, { recursive: true });
    await finish();
    expect(store.read({}).filter(({ type }) => type === "repository:changed")).toEqual([]);
  });

  it("is reported for a worktree of the user that lost its path", async () => {
    lab.git("worktree", "add", "--quiet", "-b", "other", join(lab.folder, "other"));
    const { finish } = await waitingRun();
    rmSync(join(lab.repo, ".git/worktrees/other/gitdir"));
    const run = await finish();
    const files = ["commondir", "gitdir"].map((name) => `worktrees/other/${name}`);
    expect(run.repositoryChanges).toMatchObject([{ taskId: "late", files }]);
  });

  it("is not reported if nothing changed", async () => {
    const { finish, store } = await waitingRun();
    await finish();
    expect(store.read({}).filter(({ type }) => type === "repository:changed")).toEqual([]);
  });
});

describe("a filter that appears in the settings during a run", () => {
  it("keeps the result from being merged, because git would start it", async () => {
    const { engine, id, finish } = await waitingRun();
    lab.git("config", "filter.evil.smudge", "touch evil");
    await finish();
    const before = lab.fingerprint();
    await expect(engine.mergeResult(id)).rejects.toMatchObject({
      code: "wrong_state",
      message: expect.stringContaining('the setting "filter.evil.smudge" changed'),
    });
    expect(lab.fingerprint()).toBe(before);
  });

  it("needs the user's consent before the next run, once", async () => {
    const { engine, finish } = await waitingRun();
    lab.git("config", "filter.evil.smudge", "touch evil\u{200e}");
    const request = { templateId: "_default", cwd: lab.repo, message: "next", agent: "command:true" };
    const refusal: unknown = await engine.create(request).catch((error: unknown) => error);
    await finish();
    expect(refusal).toMatchObject({
      code: "needs_trust",
      message: expect.stringContaining("The configuration of git, which changed during an earlier run, needs your"),
      details: { programs: ['git config filter.evil.smudge: "touch evil\\u{200e}"'] },
    });
    await expect(engine.create(request)).rejects.toEqual(refusal);
    const { hash: trust } = (refusal as { details: { hash: string } }).details;
    expect((await engine.create({ ...request, trust })).status).toBe("created");
    expect((await engine.create(request)).status).toBe("created");
  });
});
