import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll, git, integrate, key, laboratory, observe, RUN, write } from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";

/** Two tasks, a third on top of both, a conflict, a main session that is moved, and the removal of everything. */
async function wholeRun(lab: Laboratory): Promise<void> {
  const { repo, workspaces, head } = lab;
  await workspaces.openBranch(repo, RUN, head);
  const main = await workspaces.prepare(repo, key("main"), head);
  const done = await Promise.all(
    ["one", "two"].map(async (name) => {
      const { path } = await workspaces.prepare(repo, key(name), head);
      write(path, { [`${name}.txt`]: name, "shared.txt": "same" });
      if (name === "two") commitAll(path, "by the agent");
      return (await workspaces.snapshot(repo, key(name), head, name)).commit;
    }),
  );
  const start = await workspaces.combine(repo, RUN, head, done, "both");
  if (!start.ok) throw new Error("conflict");
  const third = await workspaces.prepare(repo, key("three"), start.commit);
  write(third.path, { "three.txt": "3", "a.txt": "three\n" });
  done.push((await workspaces.snapshot(repo, key("three"), start.commit, "three")).commit);
  for (const commit of done) expect(await integrate(lab, commit, "m")).toMatchObject({ ok: true });
  const clash = await workspaces.prepare(repo, key("clash"), head);
  write(clash.path, { "a.txt": "clash\n" });
  const { commit } = await workspaces.snapshot(repo, key("clash"), head, "clash");
  expect(await integrate(lab, commit, "m")).toEqual({ ok: false, files: ["a.txt"] });
  write(main.path, { "scribble.txt": "s" });
  await workspaces.move(repo, key("main"), git(repo, "rev-parse", `tutti/${RUN}`));
  await workspaces.remove(repo, key("one"));
  await workspaces.release(repo, RUN);
}

describe("the user's checkout", () => {
  it("does not change in a whole run: files, index bytes, HEAD, branch, configuration", async () => {
    const lab = laboratory();
    const before = observe(lab.repo);
    await wholeRun(lab);
    expect(observe(lab.repo)).toEqual(before);
    expect(git(lab.repo, "fsck", "--no-dangling")).toBe("");
  });

  it("does not change if it has staged, unstaged, deleted, untracked and ignored changes", async () => {
    const lab = laboratory();
    write(lab.repo, { "staged.txt": "s", "a.txt": "staged\n" });
    git(lab.repo, "add", "staged.txt", "a.txt");
    write(lab.repo, { "a.txt": "and changed again\n", "untracked.txt": "u", "trace.log": "ignored" });
    rmSync(join(lab.repo, "dir/b.txt"));
    symlinkSync("/nowhere", join(lab.repo, "dangling"));
    const before = observe(lab.repo);
    await wholeRun(lab);
    expect(observe(lab.repo)).toEqual(before);
  });

  it("does not change in the middle of a merge conflict", async () => {
    const lab = laboratory();
    git(lab.repo, "checkout", "--quiet", "-b", "side");
    write(lab.repo, { "dir/b.txt": "side\n" });
    commitAll(lab.repo, "side");
    git(lab.repo, "checkout", "--quiet", "main");
    write(lab.repo, { "dir/b.txt": "main\n" });
    lab.head = commitAll(lab.repo, "main");
    expect(() => git(lab.repo, "merge", "side")).toThrow();
    const before = observe(lab.repo);
    await wholeRun(lab);
    expect(observe(lab.repo)).toEqual(before);
  });

  it("does not change with a detached HEAD and a stash", async () => {
    const lab = laboratory();
    write(lab.repo, { "a.txt": "stashed\n" });
    git(lab.repo, "stash");
    git(lab.repo, "checkout", "--quiet", "--detach");
    const before = { ...observe(lab.repo), stash: git(lab.repo, "stash", "list") };
    await wholeRun(lab);
    expect({ ...observe(lab.repo), stash: git(lab.repo, "stash", "list") }).toEqual(before);
  });
});

describe("two repositories", () => {
  it("can have runs at the same time", async () => {
    const one = laboratory();
    const two = laboratory();
    await Promise.all([wholeRun(one), wholeRun(two)]);
    expect(git(one.repo, "rev-parse", `tutti/${RUN}`)).not.toBe(one.head);
    expect(git(two.repo, "rev-parse", `tutti/${RUN}`)).not.toBe(two.head);
  });
});
