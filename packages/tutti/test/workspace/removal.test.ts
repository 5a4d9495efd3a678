import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  attemptRef,
  commitAll,
  commitOn,
  content,
  expectFailure,
  git,
  key,
  laboratory,
  observe,
  paths,
  refs,
  RUN,
  write,
} from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

async function workspace(lab: Laboratory, name = "task"): Promise<string> {
  return (await lab.workspaces.prepare(lab.repo, key(name), lab.head)).path;
}

function expectNothingLeft(lab: Laboratory): void {
  expect(existsSync(join(lab.folder, RUN, "task-1"))).toBe(false);
  expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
  expect(refs(lab.repo, "refs/heads/agent")).toEqual([]);
}

describe("remove", () => {
  it("deletes the folder and the registration, and creates no ref without work", async () => {
    const lab = laboratory();
    await workspace(lab);
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
    expect(refs(lab.repo)).toEqual(["refs/heads/main"]);
  });

  it("keeps work without a snapshot, committed or not", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "own.txt": "own\n" });
    const agentCommit = commitAll(path, "own");
    write(path, { "loose.txt": "loose\n" });
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
    expect(content(lab.repo, attemptRef(), "loose.txt")).toBe("loose");
    expect(git(lab.repo, "rev-parse", `${attemptRef()}^`)).toBe(agentCommit);
  });

  it("adds no ref if the snapshot already contains everything", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "loose.txt": "loose\n" });
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
    expect(refs(lab.repo, "refs/tutti")).toEqual([attemptRef()]);
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(commit);
  });

  it("keeps files added after the snapshot without moving the snapshot's ref", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "one.txt": "1" });
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    write(path, { "two.txt": "2" });
    await lab.workspaces.remove(lab.repo, key());
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(commit);
    const left = refs(lab.repo, "refs/tutti").filter((ref) => paths(lab.repo, ref).includes("two.txt"));
    expect(left).toEqual([expect.stringMatching(/\/1-left-[0-9a-f]{12}$/)]);
  });

  it("keeps commits that the agent has left by a reset or a detached HEAD", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "branch.txt": "b" });
    const onBranch = commitAll(path, "on the branch");
    git(path, "checkout", "--quiet", "--detach", lab.head);
    write(path, { "detached.txt": "d" });
    const detached = commitAll(path, "detached");
    await lab.workspaces.remove(lab.repo, key());
    for (const commit of [onBranch, detached]) {
      expect(git(lab.repo, "for-each-ref", "--contains", commit, "refs/tutti")).not.toBe("");
    }
  });

  it("removes read-only files and folders", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "build/cache/module.txt": "m" });
    chmodSync(join(path, "build/cache/module.txt"), 0o444);
    chmodSync(join(path, "build/cache"), 0o555);
    chmodSync(join(path, "build"), 0o000);
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
  });

  it("accepts a workspace whose folder is deleted, that is incomplete, or that never existed", async () => {
    const lab = laboratory();
    rmSync(await workspace(lab), { recursive: true });
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
    await lab.workspaces.remove(lab.repo, key());
    await lab.workspaces.remove(lab.repo, key("never"));
  });

  it("follows no link inside the workspace or at its path", async () => {
    const lab = laboratory();
    write(lab.top, { "outside/precious.txt": "p" });
    const path = await workspace(lab);
    symlinkSync(join(lab.top, "outside"), join(path, "link"));
    await lab.workspaces.remove(lab.repo, key());
    symlinkSync(join(lab.top, "outside"), path);
    await lab.workspaces.remove(lab.repo, key());
    expectNothingLeft(lab);
    expect(existsSync(join(lab.top, "outside/precious.txt"))).toBe(true);
  });

  it("rejects a symbolic link at the path of the run's folder", async () => {
    const lab = laboratory();
    write(lab.top, { "outside/task-1/precious.txt": "p" });
    mkdirSync(lab.folder);
    symlinkSync(join(lab.top, "outside"), join(lab.folder, RUN));
    await expectFailure(lab.workspaces.remove(lab.repo, key()), "workspace_failed", /is a symbolic link/);
    await expectFailure(lab.workspaces.release(lab.repo, RUN), "workspace_failed", /is a symbolic link/);
    expect(existsSync(join(lab.top, "outside/task-1/precious.txt"))).toBe(true);
  });

  it("never deletes a folder that contains the repository", async () => {
    const lab = laboratory();
    const place = join(lab.top, "w", RUN, "task-1");
    mkdirSync(join(lab.top, "w", RUN), { recursive: true });
    git(lab.top, "clone", "--quiet", lab.repo, place);
    const workspaces = createGitWorkspaces({ folder: join(lab.top, "w") });
    await expectFailure(workspaces.remove(place, key()), "workspace_failed", /may delete/);
    await expectFailure(workspaces.release(place, RUN), "workspace_failed", /may delete/);
    expect(existsSync(join(place, "a.txt"))).toBe(true);
  });

  it("keeps a branch of an earlier version that the user has checked out", async () => {
    const lab = laboratory();
    await workspace(lab);
    git(lab.repo, "checkout", "--quiet", "-b", `agent/${RUN}/task/1`);
    const before = observe(lab.repo);
    await lab.workspaces.remove(lab.repo, key());
    await lab.workspaces.release(lab.repo, RUN);
    expect(observe(lab.repo)).toEqual(before);
    expect(git(lab.repo, "rev-parse", "HEAD")).toBe(lab.head);
  });
});

describe("release", () => {
  it("removes all workspaces of the run and the branches of an earlier version, and keeps their work", async () => {
    const lab = laboratory();
    for (const name of ["one", "two", "main"]) write(await workspace(lab, name), { [`${name}.txt`]: name });
    // An earlier version checked out a branch in each workspace.
    git(join(lab.folder, RUN, "one-1"), "switch", "--quiet", "-c", `agent/${RUN}/one/1`);
    const stray = commitOn(lab, lab.head, { "stray.txt": "s" });
    git(lab.repo, "branch", `agent/${RUN}/one/extra`, stray);
    await lab.workspaces.release(lab.repo, RUN);
    expectNothingLeft(lab);
    expect(existsSync(join(lab.folder, RUN))).toBe(false);
    for (const name of ["one", "two", "main"]) expect(content(lab.repo, attemptRef(name), `${name}.txt`)).toBe(name);
    expect(git(lab.repo, "for-each-ref", "--contains", stray, "refs/tutti")).not.toBe("");
  });

  it("keeps other runs and the user's worktrees and branches", async () => {
    const lab = laboratory();
    const mine = join(lab.top, "mine");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "mine", mine);
    git(lab.repo, "worktree", "add", "--quiet", "-b", "away", join(lab.top, "away"));
    rmSync(join(lab.top, "away"), { recursive: true });
    const other = { runId: "orch_zzzzzzzzzzzz", name: "task", attempt: 1 };
    const { path } = await lab.workspaces.prepare(lab.repo, other, lab.head);
    await workspace(lab);
    await lab.workspaces.release(lab.repo, RUN);
    expect(existsSync(path) && existsSync(join(mine, "a.txt"))).toBe(true);
    const listed = git(lab.repo, "worktree", "list", "--porcelain");
    expect(listed).toContain(join(lab.top, "away"));
    expect(listed).toContain(path);
    expect(refs(lab.repo)).toEqual(["refs/heads/away", "refs/heads/main", "refs/heads/mine"]);
  });

  it("keeps the run's branch, is idempotent, and accepts an unknown run", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    await workspace(lab);
    await lab.workspaces.release(lab.repo, RUN);
    await lab.workspaces.release(lab.repo, RUN);
    await lab.workspaces.release(lab.repo, "orch_nevernever12");
    expect(refs(lab.repo)).toEqual(["refs/heads/main", `refs/heads/tutti/${RUN}`]);
  });

  it("keeps the files of a folder that an agent created beside its workspace", async () => {
    const lab = laboratory();
    write(join(await workspace(lab), ".."), { "Shared Notes/idea.txt": "i\n" });
    await lab.workspaces.release(lab.repo, RUN);
    expect(existsSync(join(lab.folder, RUN))).toBe(false);
    const kept = refs(lab.repo, "refs/tutti").filter((ref) => paths(lab.repo, ref).includes("idea.txt"));
    expect(kept).toHaveLength(1);
  });
});
