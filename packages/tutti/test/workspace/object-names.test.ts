// What a name stands for is asked of one git for many questions; it must see what changed between two of them.
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll, git, laboratory, write } from "./laboratory.ts";
import { endQuestions, findObject } from "../../src/workspace/object-names.ts";

const asking = (repo: string) => {
  const where = { cwd: repo, gitDir: join(repo, ".git"), workTree: repo };
  return { where, ask: (name: string) => findObject(name, where) };
};

describe("the object that a name stands for", () => {
  it("is found for refs, hashes, commits and trees, each question getting its own answer", async () => {
    const { repo, head } = laboratory();
    const { ask } = asking(repo);
    const tree = git(repo, "rev-parse", "HEAD^{tree}");
    const names = ["HEAD", "refs/heads/main", `${head}^{commit}`, `${head}^{tree}`, "refs/heads/none^{commit}", "x y"];
    expect(await Promise.all(names.map(ask))).toEqual([head, head, head, tree, null, null]);
    expect(await ask(`${tree}^{commit}`)).toBeNull();
    expect(await ask(`${head}\nHEAD`)).toBeNull();
    expect(await ask("")).toBeNull();
    expect(await ask("HEAD")).toBe(head);
  });

  it("is what the disk says at that moment: refs and objects that come, move, are packed and go", async () => {
    const { repo, head } = laboratory();
    const { ask } = asking(repo);
    expect(await ask("refs/tutti/x")).toBeNull();
    git(repo, "update-ref", "refs/tutti/x", head);
    expect(await ask("refs/tutti/x")).toBe(head);
    write(repo, { "new.txt": "new\n" });
    const next = commitAll(repo, "next");
    expect(await ask(`${next}^{commit}`)).toBe(next);
    git(repo, "update-ref", "refs/tutti/x", next);
    expect(await ask("refs/tutti/x^{commit}")).toBe(next);
    git(repo, "pack-refs", "--all");
    git(repo, "repack", "-adq");
    git(repo, "update-ref", "refs/tutti/y", head);
    expect(await ask("refs/tutti/x^{commit}")).toBe(next);
    git(repo, "update-ref", "-d", "refs/tutti/x");
    expect([await ask("refs/tutti/x"), await ask("refs/tutti/y")]).toEqual([null, head]);
  });

  it("is asked of a new process when the last one was ended, and of none once all questions are over", async () => {
    const { repo, head } = laboratory();
    const { ask } = asking(repo);
    const first = ask("HEAD");
    const end = endQuestions();
    const second = ask("HEAD");
    expect([await first, await second]).toEqual([head, head]);
    await end;
    await endQuestions();
    await endQuestions();
  });

  it("is refused with what git says where there is no repository", async () => {
    const { repo } = laboratory();
    const { ask } = asking(repo);
    renameSync(join(repo, ".git"), join(repo, "elsewhere"));
    await expect(ask("HEAD")).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringMatching(/not a git/),
    });
    rmSync(repo, { recursive: true });
    await expect(ask("HEAD")).rejects.toMatchObject({ code: "git_failed", message: expect.stringMatching(/is gone/) });
  });
});
