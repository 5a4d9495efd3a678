import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
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
  untilNextSecond,
} from "./laboratory.ts";

const REF = `refs/heads/tutti/${RUN}`;

describe("combine", () => {
  it("returns the base if there is nothing to merge", async () => {
    const { repo, workspaces, head } = laboratory();
    expect(await workspaces.combine(repo, RUN, head, [], "m")).toEqual({ ok: true, commit: head });
    expect(await workspaces.combine(repo, RUN, head, [head], "m")).toEqual({ ok: true, commit: head });
  });

  it("fast-forwards to a commit that contains the base", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "one.txt": "1" });
    expect(await lab.workspaces.combine(lab.repo, RUN, lab.head, [one], "m")).toEqual({ ok: true, commit: one });
  });

  it("merges several commits in order with Tutti as the author, without touching the checkout", async () => {
    const lab = laboratory();
    const commits = ["one", "two", "three"].map((name) => commitOn(lab, lab.head, { [`${name}.txt`]: name }));
    const before = observe(lab.repo);
    const merged = await lab.workspaces.combine(lab.repo, RUN, lab.head, commits, "all three");
    if (!merged.ok) throw new Error("conflict");
    expect(paths(lab.repo, merged.commit)).toEqual(expect.arrayContaining(["one.txt", "two.txt", "three.txt"]));
    expect(git(lab.repo, "rev-parse", `${merged.commit}^2`)).toBe(commits[2]);
    const identity = git(lab.repo, "log", "-1", "--format=%an <%ae> %cn <%ce> %s", merged.commit);
    expect(identity).toBe("Tutti <tutti@localhost> Tutti <tutti@localhost> all three");
    expect(observe(lab.repo)).toEqual(before);
  });

  it("returns the same hash when it is repeated later", async () => {
    const lab = laboratory();
    const commits = ["one", "two"].map((name) => commitOn(lab, lab.head, { [`${name}.txt`]: name }));
    const first = await lab.workspaces.combine(lab.repo, RUN, lab.head, commits, "m");
    await untilNextSecond();
    expect(await lab.workspaces.combine(lab.repo, RUN, lab.head, commits, "m")).toEqual(first);
  });

  it("skips commits that the base contains", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "one.txt": "1" });
    const two = commitOn(lab, one, { "two.txt": "2" });
    expect(await lab.workspaces.combine(lab.repo, RUN, two, [one, lab.head], "m")).toEqual({ ok: true, commit: two });
  });

  it("lists each conflicting file once, sorted, and changes nothing", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "a.txt": "1\n", "dir/b.txt": null, "ü\n": "1" });
    const two = commitOn(lab, lab.head, { "a.txt": "2\n", "dir/b.txt": "2\n", "ü\n": "2" });
    const before = { ...observe(lab.repo), refs: refs(lab.repo) };
    const merged = await lab.workspaces.combine(lab.repo, RUN, lab.head, [one, two], "m");
    expect(merged).toEqual({ ok: false, files: ["a.txt", "dir/b.txt", "ü\n"] });
    expect({ ...observe(lab.repo), refs: refs(lab.repo) }).toEqual(before);
  });

  it("settles conflicts in favour of one side, and gives the same commit when it is repeated", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "a.txt": "1\n", "one.txt": "1" });
    const two = commitOn(lab, lab.head, { "a.txt": "2\n", "two.txt": "2" });
    const settle = () => lab.workspaces.combine(lab.repo, RUN, lab.head, [one, two], "m", "last");
    const merged = await settle();
    if (!merged.ok) throw new Error("conflict");
    expect(content(lab.repo, merged.commit, "a.txt")).toBe("2");
    expect(paths(lab.repo, merged.commit)).toEqual(expect.arrayContaining(["one.txt", "two.txt"]));
    expect(await settle()).toEqual(merged);
  });

  it("merges two commits with the same change", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "a.txt": "same\n", "one.txt": "1" });
    const two = commitOn(lab, lab.head, { "a.txt": "same\n", "two.txt": "2" });
    expect(await lab.workspaces.combine(lab.repo, RUN, lab.head, [one, two], "m")).toMatchObject({ ok: true });
  });

  it("rejects a name that is no commit, even if it looks like an option", async () => {
    const { repo, workspaces, head } = laboratory();
    await expectFailure(
      workspaces.combine(repo, RUN, head, ["--output=x"], "m"),
      "git_failed",
      /no commit "--output=x"/,
    );
  });
});

describe("the run's branch", () => {
  it("is created at the base, and stays unchanged when it is opened again", async () => {
    const lab = laboratory();
    expect(await lab.workspaces.openBranch(lab.repo, RUN, lab.head)).toBeNull();
    expect(await lab.workspaces.openBranch(lab.repo, RUN, lab.head)).toBeNull();
    expect(git(lab.repo, "rev-parse", REF)).toBe(lab.head);
  });

  it("receives each commit as a merge commit with its message", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    for (const name of ["one", "two"]) {
      const commit = commitOn(lab, lab.head, { [`${name}.txt`]: name });
      const merged = await integrate(lab, commit, `Merge ${name}`);
      expect(merged).toEqual({ ok: true, commit: git(lab.repo, "rev-parse", REF), settled: [] });
    }
    expect(git(lab.repo, "log", "--first-parent", "--format=%s", REF)).toBe("Merge two\nMerge one\nfirst");
    expect(content(lab.repo, REF, "one.txt")).toBe("one");
  });

  it("loses no commit when several runs merge in parallel", async () => {
    const lab = laboratory();
    const names = ["one", "two", "three", "four"];
    const commits = names.map((name) => commitOn(lab, lab.head, { [`${name}.txt`]: name }));
    await Promise.all(
      commits.map(async (commit, i) => {
        await lab.workspaces.openBranch(lab.repo, `run_${i}`, lab.head);
        await lab.workspaces.integrate(lab.repo, `run_${i}`, lab.head, { commit, message: "m" });
      }),
    );
    for (const [i, name] of names.entries()) expect(paths(lab.repo, `tutti/run_${i}`)).toContain(`${name}.txt`);
  });

  it("is returned unchanged when it already contains the commit", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    const commit = commitOn(lab, lab.head, { "one.txt": "1" });
    const first = await integrate(lab, commit, "m");
    expect(await integrate(lab, commit, "m")).toEqual(first);
    expect(await integrate(lab, lab.head, "m")).toEqual(first);
  });

  it("stays unchanged after a conflict", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    await integrate(lab, commitOn(lab, lab.head, { "a.txt": "1\n" }), "m");
    const before = git(lab.repo, "rev-parse", REF);
    const other = commitOn(lab, lab.head, { "a.txt": "2\n" });
    expect(await integrate(lab, other, "m")).toEqual({ ok: false, files: ["a.txt"] });
    expect(git(lab.repo, "rev-parse", REF)).toBe(before);
  });

  it("does not move while the user has it checked out", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    git(lab.repo, "checkout", "--quiet", `tutti/${RUN}`);
    const commit = commitOn(lab, lab.head, { "one.txt": "1" });
    const before = observe(lab.repo);
    const refusal = integrate(lab, commit, "m");
    await expectFailure(refusal, "git_failed", /is checked out in .*\/repo\. Check out another branch/);
    expect(observe(lab.repo)).toEqual(before);
    git(lab.repo, "checkout", "--quiet", "main");
    expect(await integrate(lab, commit, "m")).toMatchObject({ ok: true });
  });

  it("moves even if an agent has checked it out in its workspace", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    git(path, "checkout", "--quiet", `tutti/${RUN}`);
    const commit = commitOn(lab, lab.head, { "one.txt": "1" });
    expect(await integrate(lab, commit, "m")).toMatchObject({ ok: true });
  });

  it("waits for a short lock and breaks a stale one", async () => {
    const lab = laboratory();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    const lock = join(lab.repo, `.git/${REF}.lock`);
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    const one = commitOn(lab, lab.head, { "one.txt": "1" });
    expect(await integrate(lab, one, "m")).toMatchObject({ ok: true });
    writeFileSync(lock, "");
    const two = commitOn(lab, lab.head, { "two.txt": "2" });
    expect(await integrate(lab, two, "m")).toMatchObject({ ok: true });
    expect(() => readFileSync(lock)).toThrow("ENOENT");
  });

  it("must be opened before the first merge", async () => {
    const lab = laboratory();
    await expectFailure(integrate(lab, lab.head, "m"), "git_failed", /must be opened first/);
  });
});
