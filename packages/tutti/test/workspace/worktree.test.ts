import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  attemptRef,
  commitAll,
  commitOn,
  content,
  expectFailure,
  git,
  integrate,
  key,
  laboratory,
  observe,
  paths,
  refs,
  RUN,
  write,
} from "./laboratory.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

/** HEAD names no branch, so that the user's list of branches stays as it is. */
function expectDetached(path: string): void {
  expect(git(path, "rev-parse", "--symbolic-full-name", "HEAD")).toBe("HEAD");
  expect(git(path, "branch", "--format=%(refname:short)").split("\n")).not.toContain(expect.stringMatching(/^agent\//));
}

describe("prepare", () => {
  it("creates a worktree at the given commit, without a branch", async () => {
    const lab = laboratory();
    const newer = commitOn(lab, lab.head, { "a.txt": "newer\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key(), newer);
    expect(path).toBe(join(lab.folder, RUN, "task-1"));
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("newer\n");
    expect(git(path, "rev-parse", "HEAD")).toBe(newer);
    expectDetached(path);
    expect(refs(lab.repo)).toEqual(["refs/heads/main"]);
    expect(git(path, "status", "--porcelain")).toBe("");
  });

  it("returns an existing workspace without touching the agent's work", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "half done\n" });
    const committed = commitAll(path, "agent");
    write(path, { "a.txt": "unsaved\n" });
    expect(await lab.workspaces.prepare(lab.repo, key(), lab.head)).toEqual({ path });
    expect(git(path, "rev-parse", "HEAD")).toBe(committed);
    expect(git(path, "status", "--porcelain")).toBe(" M a.txt");
  });

  it("moves a workspace that was made ahead to its start, and leaves it to its attempt from then on", async () => {
    const lab = laboratory();
    const guessed = commitOn(lab, lab.head, { "a.txt": "of another task\n", "extra.txt": "of another task\n" });
    const start = commitOn(lab, lab.head, { "a.txt": "newer\n" });
    const path = join(lab.folder, RUN, "task-1");
    expect(await lab.workspaces.prepareAhead(lab.repo, key(), guessed)).toBe(path);
    // Another process may write anywhere before the attempt starts.
    write(path, { "stray.txt": "stray\n", "b.txt": "stray\n" });
    expect(await lab.workspaces.prepare(lab.repo, key(), start)).toEqual({ path, movedFrom: guessed });
    expect(git(path, "rev-parse", "HEAD")).toBe(start);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("newer\n");
    expect(existsSync(join(path, "extra.txt"))).toBe(false);
    expectDetached(path);
    expect(refs(lab.repo)).toEqual(["refs/heads/main"]);

    write(path, { "work.txt": "half done\n" });
    await lab.workspaces.prepareAhead(lab.repo, key(), guessed);
    expect(await lab.workspaces.prepare(lab.repo, key(), start)).toEqual({ path });
    const { commit, files } = await lab.workspaces.snapshot(lab.repo, key(), start, "work");
    expect(files).toEqual(["work.txt"]);
    expect(content(lab.repo, commit, "a.txt")).toBe("newer");
  });

  it("makes a workspace anew that was made ahead and damaged", async () => {
    const lab = laboratory();
    await lab.workspaces.prepareAhead(lab.repo, key(), lab.head);
    rmSync(join(lab.repo, ".git/worktrees/task-1/HEAD"));
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(git(path, "rev-parse", "HEAD")).toBe(lab.head);
    expect(git(path, "status", "--porcelain")).toBe("");
  });

  it("leaves nothing of a workspace that was made ahead and never used", async () => {
    const lab = laboratory();
    const before = observe(lab.repo);
    const guessed = commitOn(lab, lab.head, { "a.txt": "guessed\n" });
    await lab.workspaces.prepareAhead(lab.repo, key(), guessed);
    await lab.workspaces.release(lab.repo, RUN);
    expect(refs(lab.repo)).toEqual(["refs/heads/main"]);
    expect(existsSync(join(lab.folder, RUN))).toBe(false);
    expect(observe(lab.repo)).toEqual(before);
  });

  it("succeeds sixteen times in parallel while agents use git", async () => {
    const lab = laboratory();
    const busy = await lab.workspaces.prepare(lab.repo, key("busy"), lab.head);
    const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.org"];
    const commit = [...identity, "commit", "--quiet", "--allow-empty", "-m", "busy"];
    const agent = (async () => {
      for (let i = 0; i < 30; i++) await promisify(execFile)("git", commit, { cwd: busy.path });
    })();
    const numbers = Array.from({ length: 16 }, (_, i) => i);
    const made = await Promise.all(numbers.map((i) => lab.workspaces.prepare(lab.repo, key(`task-${i}`), lab.head)));
    await agent;
    expect(new Set(made.map(({ path }) => path)).size).toBe(16);
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(18);
  });

  it("creates different folders and branches for ids that git or a file system would confuse", async () => {
    const lab = laboratory();
    const names = ["Task", "task", "a..b", "a.lock", "x.", "a.b"];
    const made = await Promise.all(names.map((name) => lab.workspaces.prepare(lab.repo, key(name), lab.head)));
    expect(new Set(made.map(({ path }) => path.toLowerCase())).size).toBe(names.length);
  });

  it("returns the subfolder in which the run was started, and creates it if the commit has none", async () => {
    const lab = laboratory();
    mkdirSync(join(lab.repo, "later/deep"), { recursive: true });
    const there = await lab.workspaces.prepare(join(lab.repo, "dir"), key("one"), lab.head);
    const missing = await lab.workspaces.prepare(join(lab.repo, "later/deep"), key("two"), lab.head);
    expect(there.path).toBe(join(lab.folder, RUN, "one-1/dir"));
    expect(existsSync(join(there.path, "b.txt"))).toBe(true);
    expect(missing.path).toBe(join(lab.folder, RUN, "two-1/later/deep"));
    expect(existsSync(missing.path)).toBe(true);
  });

  it("rejects a subfolder that leads out of the workspace", async () => {
    const lab = laboratory();
    mkdirSync(join(lab.repo, "sub"));
    const scratch = join(lab.top, "link");
    git(lab.repo, "worktree", "add", "--quiet", "--detach", scratch);
    symlinkSync(lab.top, join(scratch, "sub"));
    const start = commitAll(scratch, "link");
    const prepared = lab.workspaces.prepare(join(lab.repo, "sub"), key(), start);
    await expectFailure(prepared, "workspace_failed", /leads out of the workspace/);
  });

  it("creates a workspace from a checkout that is itself a linked worktree", async () => {
    const lab = laboratory();
    const linked = join(lab.top, "linked");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "side", linked);
    const { path } = await lab.workspaces.prepare(linked, key(), lab.head);
    write(path, { "n.txt": "n" });
    expect(await lab.workspaces.snapshot(linked, key(), lab.head, "m")).toMatchObject({ files: ["n.txt"] });
    await lab.workspaces.release(linked, RUN);
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(2);
  });

  it("works in a repository with SHA-256 hashes", async () => {
    const lab = laboratory({ format: "sha256" });
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "n.txt": "n" });
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    expect(await integrate(lab, commit, "merge")).toMatchObject({ ok: true });
  });

  it("rejects a folder for workspaces that would show up in the user's checkout", async () => {
    const lab = laboratory();
    const visible = createGitWorkspaces({ folder: join(lab.repo, "workspaces") });
    await expectFailure(visible.prepare(lab.repo, key(), lab.head), "workspace_failed", /lies in the checkout/);
    const inside = createGitWorkspaces({ folder: join(lab.repo, ".git/workspaces") });
    await expectFailure(inside.prepare(lab.repo, key(), lab.head), "workspace_failed", /lies in the checkout/);
    expect(git(lab.repo, "status", "--porcelain")).toBe("");
    const ignored = createGitWorkspaces({ folder: join(lab.repo, "build/workspaces") });
    await ignored.prepare(lab.repo, key(), lab.head);
    expect(git(lab.repo, "status", "--porcelain")).toBe("");
  });

  it("rejects a commit that does not exist and leaves nothing behind", async () => {
    const lab = laboratory();
    await expectFailure(lab.workspaces.prepare(lab.repo, key(), "0".repeat(40)), "git_failed", /no commit "0{40}"/);
    expect(existsSync(lab.folder)).toBe(false);
    expect(refs(lab.repo)).toEqual(["refs/heads/main"]);
  });
});

describe("prepare after a crash", () => {
  it("recreates a workspace that has a folder but no worktree entry", async () => {
    const lab = laboratory();
    write(join(lab.folder, RUN, "task-1"), { "a.txt": "one\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(git(path, "rev-parse", "HEAD")).toBe(lab.head);
  });

  it("recreates a workspace that has a worktree entry but no folder", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    rmSync(path, { recursive: true });
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(2);
  });

  it("completes an interrupted checkout and does not mistake it for work", async () => {
    const lab = laboratory();
    const path = join(lab.folder, RUN, "task-1");
    git(lab.repo, "worktree", "add", "--quiet", "--no-checkout", "--detach", path);
    write(path, { "a.txt": "one\n" });
    const admin = join(lab.repo, ".git/worktrees/task-1");
    writeFileSync(join(admin, "locked"), "initializing");
    writeFileSync(join(admin, "index.lock"), "");
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(refs(lab.repo, "refs/tutti")).toEqual([]);
  });

  it("removes a worktree entry without a folder", async () => {
    const lab = laboratory();
    const admin = join(lab.repo, ".git/worktrees/task-1");
    mkdirSync(admin, { recursive: true });
    writeFileSync(join(admin, "locked"), "initializing");
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(2);
    expect(existsSync(join(lab.repo, ".git/worktrees/task-11"))).toBe(false);
  });

  it.each(["existing", "missing"])("breaks a stale lock on its own %s ref", async (state) => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    if (state === "existing") git(lab.repo, "update-ref", attemptRef(), lab.head);
    const lock = join(lab.repo, `.git/${attemptRef()}.lock`);
    write(lab.repo, { [`.git/${attemptRef()}.lock`]: "" });
    utimesSync(lock, 1, 1);
    write(path, { "work.txt": "w\n" });
    await lab.workspaces.remove(lab.repo, key());
    expect(
      content(
        lab.repo,
        git(lab.repo, "for-each-ref", "--format=%(refname)", "--sort=-refname", "refs/tutti").split("\n")[0]!,
        "work.txt",
      ),
    ).toBe("w");
  });

  it("keeps files found in an incomplete workspace", async () => {
    const lab = laboratory();
    write(join(lab.folder, RUN, "task-1"), { "a.txt": "one\n", "found.txt": "precious\n" });
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    expect(content(lab.repo, attemptRef(), "found.txt")).toBe("precious");
  });
});

describe("move", () => {
  it("sets files, index and HEAD to the commit, and keeps ignored files", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "a.txt": "moved\n", "dir/b.txt": null, "new.txt": "n\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key("main"), lab.head);
    write(path, { "build/cache": "kept", "trace.log": "kept" });
    const before = observe(lab.repo);
    await lab.workspaces.move(lab.repo, key("main"), to);
    expect(git(path, "rev-parse", "HEAD")).toBe(to);
    expectDetached(path);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("moved\n");
    expect(existsSync(join(path, "dir"))).toBe(false);
    expect(existsSync(join(path, "build/cache")) && existsSync(join(path, "trace.log"))).toBe(true);
    expect(refs(lab.repo, "refs/tutti")).toEqual([]);
    expect(observe(lab.repo)).toEqual(before);
  });

  it("keeps the workspace's previous content, committed or not", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "a.txt": "moved\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key("main"), lab.head);
    write(path, { "own.txt": "own\n" });
    const agentCommit = commitAll(path, "own");
    write(path, { "a.txt": "changed\n", "loose.txt": "loose\n" });
    await lab.workspaces.move(lab.repo, key("main"), to);
    const kept = attemptRef("main", `1-before-${to.slice(0, 12)}`);
    expect(git(lab.repo, "rev-parse", `${kept}^`)).toBe(agentCommit);
    expect(content(lab.repo, kept, "loose.txt")).toBe("loose");
    expect(content(lab.repo, kept, "a.txt")).toBe("changed");
    expect(git(path, "status", "--porcelain", "--untracked-files=all")).toBe("");
    expect(paths(lab.repo, "HEAD")).not.toContain("loose.txt");
  });

  it("is idempotent", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "a.txt": "moved\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key("main"), lab.head);
    write(path, { "loose.txt": "loose\n" });
    await lab.workspaces.move(lab.repo, key("main"), to);
    const after = refs(lab.repo);
    await lab.workspaces.move(lab.repo, key("main"), to);
    expect(refs(lab.repo)).toEqual(after);
    expect(git(path, "status", "--porcelain")).toBe("");
  });

  it("leaves a branch that the agent has checked out, also if the index is locked", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "a.txt": "moved\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key("main"), lab.head);
    git(path, "checkout", "--quiet", "-b", "elsewhere");
    writeFileSync(join(lab.repo, ".git/worktrees/main-1/index.lock"), "");
    await lab.workspaces.move(lab.repo, key("main"), to);
    expectDetached(path);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(git(lab.repo, "rev-parse", "elsewhere")).toBe(lab.head);
  });

  it("makes the next snapshot contain only later changes", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "a.txt": "moved\n" });
    const { path } = await lab.workspaces.prepare(lab.repo, key("main"), lab.head);
    await lab.workspaces.move(lab.repo, key("main"), to);
    expect(await lab.workspaces.snapshot(lab.repo, key("main"), to, "m")).toEqual({ commit: to, files: [] });
    write(path, { "dir/b.txt": "later\n" });
    expect(await lab.workspaces.snapshot(lab.repo, key("main"), to, "m")).toMatchObject({ files: ["dir/b.txt"] });
  });

  it("rejects a workspace that does not exist", async () => {
    const lab = laboratory();
    await expectFailure(lab.workspaces.move(lab.repo, key("main"), lab.head), "workspace_failed", /no longer exists/);
  });
});
