// One git process serves many lookups and must see every change between two of them.
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll, git, laboratory, write } from "./laboratory.ts";
import { endQuestions, findObject } from "../../src/workspace/object-names.ts";

const lookupIn = (repo: string) => {
  const options = { cwd: repo, gitDir: join(repo, ".git"), workTree: repo };
  return { options, find: (name: string) => findObject(name, options) };
};

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

  it("starts a new process after `endQuestions`, which leaves no process behind", async () => {
    const { repo, head } = laboratory();
    const { find } = lookupIn(repo);
    const first = find("HEAD");
    const end = endQuestions();
    const second = find("HEAD");
    expect([await first, await second]).toEqual([head, head]);
    await end;
    await endQuestions();
    await endQuestions();
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
