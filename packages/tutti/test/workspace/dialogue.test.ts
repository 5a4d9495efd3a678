// One git process serves many requests and must see every change between two of them.
import { execFileSync, spawnSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll, git, laboratory, write } from "./laboratory.ts";
import { collectGarbage } from "../lab/collect-garbage.ts";
import { endDialogues } from "../../src/workspace/dialogue/git-dialogue.ts";
import { findCommitObject, findObject } from "../../src/workspace/dialogue/objects.ts";
import { updateRef } from "../../src/workspace/dialogue/ref-updates.ts";
import { compareTrees } from "../../src/workspace/dialogue/tree-changes.ts";
import { isAncestor } from "../../src/workspace/repository.ts";
import { writeCommit } from "../../src/workspace/disk/write-commit.ts";

const lookupIn = (repo: string) => {
  const options = { cwd: repo, gitDir: join(repo, ".git"), workTree: repo };
  return { options, find: (name: string) => findObject(name, options) };
};

const repositoryAt = (repo: string) => ({
  root: repo,
  prefix: "",
  gitDir: join(repo, ".git"),
  commonDir: join(repo, ".git"),
});

describe("`findObject`", () => {
  it("resolves refs, hashes, commits and trees, each lookup to its own result", async () => {
    const { repo, head } = laboratory();
    const { find } = lookupIn(repo);
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const names = ["HEAD", "refs/heads/main", `${head}^{commit}`, `${head}^{tree}`, "refs/heads/none^{commit}", "x y"];
    expect(await Promise.all(names.map(find))).toEqual([head, head, head, tree, null, null]);
    expect(await find(`${tree}^{commit}`)).toBeNull();
    expect(await find(`${head}\nHEAD`)).toBeNull();
    expect(await find("")).toBeNull();
    expect(await find("HEAD")).toBe(head);
  });

  it("sees refs and objects that were created, moved, packed or deleted since the last lookup", async () => {
    const { repo, head } = laboratory();
    const { find } = lookupIn(repo);
    expect(await find("refs/tutti/x")).toBeNull();
    git(repo, "update-ref", "refs/tutti/x", head);
    expect(await find("refs/tutti/x")).toBe(head);
    write(repo, { "new.txt": "new\n" });
    const next = commitAll(repo, "next");
    expect(await find(`${next}^{commit}`)).toBe(next);
    git(repo, "update-ref", "refs/tutti/x", next);
    expect(await find("refs/tutti/x^{commit}")).toBe(next);
    git(repo, "pack-refs", "--all");
    git(repo, "repack", "-adq");
    git(repo, "update-ref", "refs/tutti/y", head);
    expect(await find("refs/tutti/x^{commit}")).toBe(next);
    git(repo, "update-ref", "-d", "refs/tutti/x");
    expect([await find("refs/tutti/x"), await find("refs/tutti/y")]).toEqual([null, head]);
  });

  it("starts a new process after `endDialogues`, which leaves no process behind", async () => {
    const { repo, head } = laboratory();
    const { find } = lookupIn(repo);
    const first = find("HEAD");
    const end = endDialogues();
    const second = find("HEAD");
    expect([await first, await second]).toEqual([head, head]);
    await end;
    await endDialogues();
    await endDialogues();
  });

  it("rejects with git's message if there is no repository", async () => {
    const { repo } = laboratory();
    const { find } = lookupIn(repo);
    renameSync(join(repo, ".git"), join(repo, "elsewhere"));
    await expect(find("HEAD")).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringMatching(/not a git/),
    });
    rmSync(repo, { recursive: true });
    await expect(find("HEAD")).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringMatching(/no longer exists/),
    });
  });
});

describe("`findCommitObject`", () => {
  it("knows a commit that it has read, but `findObject` asks for it again, and refs are read again", async () => {
    const { repo, head } = laboratory();
    const { options, find } = lookupIn(repo);
    const first = await findCommitObject(head, options);
    expect(await findCommitObject("HEAD", options)).toEqual(first);
    write(repo, { "new.txt": "new\n" });
    const next = commitAll(repo, "next");
    expect((await findCommitObject("HEAD", options))?.parents).toEqual([head]);
    await findCommitObject(next, options);
    const file = join(repo, ".git/objects", next.slice(0, 2), next.slice(2));
    renameSync(file, `${file}.away`);
    expect((await findCommitObject(next, options))?.parents).toEqual([head]);
    expect(await find(`${next}^{commit}`)).toBeNull();
  });

  it("finds a commit that was missing before, and no commit of another repository", async () => {
    const { repo, head } = laboratory();
    const { options } = lookupIn(repo);
    const file = join(repo, ".git/objects", head.slice(0, 2), head.slice(2));
    renameSync(file, `${file}.away`);
    expect(await findCommitObject(head, options)).toBeNull();
    renameSync(`${file}.away`, file);
    expect((await findCommitObject(head, options))?.parents).toEqual([]);
    const other = laboratory();
    write(other.repo, { "new.txt": "new\n" });
    const next = commitAll(other.repo, "next");
    expect(await findCommitObject(next, lookupIn(other.repo).options)).not.toBeNull();
    expect(await findCommitObject(next, options)).toBeNull();
  });

  it("reads tree, parents and date from the header, whatever the message says", async () => {
    const { repo, head } = laboratory();
    const { options } = lookupIn(repo);
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const message = `parent ${"0".repeat(40)}\n\ncommitter X <x> 5 +0000\n`;
    const merge = await writeCommit(repositoryAt(repo), { tree, parents: [head, head], message, date: 1234 });
    expect(await findCommitObject(merge, options)).toEqual({ tree, parents: [head, head], date: 1234 });
    expect(await findCommitObject(head, options)).toMatchObject({ tree, parents: [] });
  });

  it("keeps neither the messages of commits in memory nor those with very many parents", async () => {
    const { repo, head } = laboratory();
    const { options } = lookupIn(repo);
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const commit = (message: string, count: number): Promise<string> => {
      const parents = Array.from({ length: count }, () => head);
      return writeCommit(repositoryAt(repo), { tree, parents, message, date: 1 });
    };
    const hashes: string[] = [];
    for (let i = 0; i < 20; i++)
      hashes.push(await commit(`${i}${"m".repeat(1_000_000)}`, 1), await commit(`${i}`, 5000));
    const used = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    for (const hash of hashes) expect((await findCommitObject(hash, options))?.parents[0]).toBe(head);
    expect(used() - before).toBeLessThan(2_000_000);
  });

  it("returns null for other objects and missing ones, and serves the next request", async () => {
    const { repo, head } = laboratory();
    const { options } = lookupIn(repo);
    const names = ["HEAD^{tree}", "0".repeat(40), "", "HEAD"];
    const found = await Promise.all(names.map((name) => findCommitObject(name, options)));
    expect(found.map((commit) => commit !== null)).toEqual([false, false, false, true]);
    expect(await findObject("HEAD", options)).toBe(head);
  });
});

describe("`compareTrees`", () => {
  it("lists changed, added and removed files and folders with their new objects", async () => {
    const { repo, head } = laboratory();
    const { options, find } = lookupIn(repo);
    write(repo, { "a.txt": "changed\n", "new/x y\n.txt": "new\n" });
    rmSync(join(repo, "dir"), { recursive: true });
    const next = commitAll(repo, "next");
    const [from, to] = [await find(`${head}^{tree}`), await find(`${next}^{tree}`)];
    const objectAt = (path: string) => git(repo, "rev-parse", `${next}:${path}`);
    expect(await compareTrees(from!, to!, options)).toEqual([
      { path: "a.txt", hash: objectAt("a.txt"), isFolder: false, mode: "100644" },
      { path: "dir", hash: null, isFolder: true, mode: "" },
      { path: "dir/b.txt", hash: null, isFolder: false, mode: "" },
      { path: "new", hash: objectAt("new"), isFolder: true, mode: "40000" },
      { path: "new/x y\n.txt", hash: objectAt("new/x y\n.txt"), isFolder: false, mode: "100644" },
    ]);
    expect(await Promise.all([compareTrees(to!, to!, options), compareTrees(from!, from!, options)])).toEqual([[], []]);
  });
});

it("`compareTrees` lists submodules whose changes the repository ignores", async () => {
  const { repo } = laboratory();
  const { options, find } = lookupIn(repo);
  write(repo, { ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = ./s\n\tignore = all\n' });
  commitAll(repo, "a submodule");
  git(repo, "config", "submodule.s.ignore", "all");
  const commits = ["1", "2"].map((digit) => {
    git(repo, "update-index", "--add", "--cacheinfo", `160000,${digit.repeat(40)},s`);
    git(repo, "commit", "--quiet", "-m", digit);
    return git(repo, "rev-parse", "HEAD");
  });
  const [from, to] = [await find(`${commits[0]}^{tree}`), await find(`${commits[1]}^{tree}`)];
  expect(await compareTrees(from!, to!, options)).toEqual([
    { path: "s", hash: "2".repeat(40), isFolder: false, mode: "160000" },
  ]);
});

describe("`updateRef`", () => {
  it("sets, moves and deletes a ref only if it has the expected value", async () => {
    const { repo, head } = laboratory();
    const { options, find } = lookupIn(repo);
    write(repo, { "next.txt": "next\n" });
    const next = commitAll(repo, "next");
    const ref = "refs/tutti/x";
    await updateRef({ ref, commit: head, old: null }, options);
    const wrong = [
      updateRef({ ref, commit: next, old: null }, options),
      updateRef({ ref, commit: next, old: next }, options),
      updateRef({ ref, commit: null, old: next }, options),
    ];
    for (const each of await Promise.allSettled(wrong)) expect(each).toMatchObject({ reason: { code: "git_failed" } });
    expect(await find(ref)).toBe(head);
    await updateRef({ ref, commit: next, old: head }, options);
    expect(await find(ref)).toBe(next);
    await updateRef({ ref, commit: null, old: next }, options);
    expect(await find(ref)).toBeNull();
  });

  it("carries out the changes behind one that git rejects", async () => {
    const { repo, head } = laboratory();
    const { options, find } = lookupIn(repo);
    const results = await Promise.allSettled([
      updateRef({ ref: "refs/tutti/x", commit: "0".repeat(39) + "1", old: null }, options),
      updateRef({ ref: "refs/tutti/y", commit: head, old: null }, options),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await find("refs/tutti/y")).toBe(head);
  });

  it("replaces a symbolic ref instead of the ref that it names", async () => {
    const { repo, head } = laboratory();
    const { options } = lookupIn(repo);
    write(repo, { "next.txt": "next\n" });
    const next = commitAll(repo, "next");
    git(repo, "symbolic-ref", "refs/tutti/x", "refs/heads/main");
    await updateRef({ ref: "refs/tutti/x", commit: head }, options);
    expect([git(repo, "rev-parse", "main"), git(repo, "rev-parse", "refs/tutti/x")]).toEqual([next, head]);
  });
});

describe("`writeCommit`", () => {
  it.each(["sha1", "sha256"])("writes the same object as git in a repository with %s", async (format) => {
    const { repo, head } = laboratory({ format });
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const message = "Merge döcs";
    const commit = await writeCommit(repositoryAt(repo), { tree, parents: [head], message, date: 1_700_000_000 });
    const name = ["-c", "user.name=Tutti", "-c", "user.email=tutti@localhost"];
    const dates = { GIT_AUTHOR_DATE: "@1700000000 +0000", GIT_COMMITTER_DATE: "@1700000000 +0000" };
    const args = [...name, "commit-tree", tree, "-p", head, "-m", message];
    expect(execFileSync("git", args, { cwd: repo, env: { ...process.env, ...dates }, encoding: "utf8" }).trim()).toBe(
      commit,
    );
    expect(git(repo, "fsck", "--strict", commit)).toBe("");
    expect(await writeCommit(repositoryAt(repo), { tree, parents: [head], message, date: 1_700_000_000 })).toBe(commit);
  });
});

describe("`isAncestor`", () => {
  it("agrees with git for every pair of commits in a history with merges, also in a shallow clone", async () => {
    const { repo, top, head } = laboratory();
    const repository = repositoryAt(repo);
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const commits = [head];
    for (const [i, parents] of [[0], [0], [1, 2], [3], [0], [5, 3], [4, 6]].entries())
      commits.push(
        await writeCommit(repository, { tree, parents: parents.map((p) => commits[p]!), message: `${i}`, date: i }),
      );
    git(repo, "update-ref", "refs/heads/main", commits.at(-1)!);
    git(top, "clone", "--quiet", "--depth=2", `file://${repo}`, "shallow");
    const known = (folder: string) => {
      const listed = new Set(git(folder, "rev-list", "main").split("\n"));
      return commits.filter((commit) => listed.has(commit));
    };
    for (const folder of [repo, join(top, "shallow")])
      for (const a of known(folder))
        for (const b of known(folder)) {
          const answer = spawnSync("git", ["merge-base", "--is-ancestor", a, b], { cwd: folder }).status === 0;
          expect(await isAncestor(repositoryAt(folder), a, b), `${a} in ${b}`).toBe(answer);
        }
  });
});
