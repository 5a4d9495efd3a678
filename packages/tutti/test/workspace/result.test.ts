import { symlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canary, commitAll, commitOn, git, laboratory, RUN, write } from "./laboratory.ts";

describe("the diff of two commits", () => {
  it("names every kind of change once, and its patches are the text of git diff", async () => {
    const lab = laboratory();
    const { repo } = lab;
    write(repo, { "old name.txt": "1\n2\n3\n4\n5\n", "file.txt": "a file\n", "späte/datei.txt": "x\n" });
    writeFileSync(join(repo, "image.bin"), Buffer.from([0, 1, 2]));
    const base = commitAll(repo, "base");
    git(repo, "mv", "old name.txt", "new name.txt");
    write(repo, { "new name.txt": "1\n2\n3\n4\nfive\n", "added\ttab.txt": "+ one\n-- two\ndiff --git a/x b/x\n" });
    for (const name of ["file.txt", "a.txt"]) rmSync(join(repo, name));
    symlinkSync("dir", join(repo, "file.txt"));
    writeFileSync(join(repo, "image.bin"), Buffer.from([0, 1, 2, 3]));
    write(repo, { "späte/datei.txt": "x\ny\n" });
    const head = commitAll(repo, "head");
    const diff = (await lab.workspaces.diff(repo, base, head))!;
    expect(diff).toMatchObject({ base, head });
    expect(diff.files.map(({ patch: _patch, ...file }) => file)).toEqual([
      { path: "a.txt", status: "deleted", additions: 0, deletions: 1 },
      { path: "added\ttab.txt", status: "added", additions: 3, deletions: 0 },
      { path: "file.txt", status: "typechanged", additions: 1, deletions: 1 },
      { path: "image.bin", status: "modified", additions: 0, deletions: 0, binary: true },
      { path: "new name.txt", status: "renamed", additions: 1, deletions: 1, from: "old name.txt" },
      { path: "späte/datei.txt", status: "modified", additions: 1, deletions: 0 },
    ]);
    expect(diff.files.map(({ patch }) => patch).join("")).toBe(`${git(repo, "diff", base, head)}\n`);
    expect(diff.files[4]!.patch).toMatch(/^diff --git a\/old name\.txt b\/new name\.txt\n/);
    expect(diff.stat).toBe(`${git(repo, "diff", "--stat", base, head)}\n`);
  });

  it("is restricted to a path of the repository's root, without patches if asked", async () => {
    const lab = laboratory();
    const head = commitOn(lab, lab.head, { "dir/b.txt": "changed\n", "dir/*.txt": "new\n", "a.txt": "changed\n" });
    const paths = async (path: string, cwd = lab.repo) =>
      (await lab.workspaces.diff(cwd, lab.head, head, { path, stat: true }))!.files.map((file) => file.path);
    expect(await paths("dir")).toEqual(["dir/*.txt", "dir/b.txt"]);
    expect(await paths("dir", join(lab.repo, "dir"))).toEqual(["dir/*.txt", "dir/b.txt"]);
    expect(await paths("dir/*.txt")).toEqual(["dir/*.txt"]);
    expect(await paths("missing")).toEqual([]);
    const { files } = (await lab.workspaces.diff(lab.repo, lab.head, head, { stat: true }))!;
    expect(files.filter((file) => file.patch !== undefined)).toEqual([]);
  });

  it("starts no program and ignores settings of the repository", async () => {
    const lab = laboratory();
    const { program, wasRun } = canary(lab.top);
    const head = commitOn(lab, lab.head, { ".gitattributes": "*.txt diff=evil\n", "a.txt": "changed\n" });
    const plain = (await lab.workspaces.diff(lab.repo, lab.head, head))!;
    git(lab.repo, "config", "diff.external", program);
    git(lab.repo, "config", "diff.evil.command", program);
    git(lab.repo, "config", "diff.evil.textconv", program);
    git(lab.repo, "config", "diff.noprefix", "true");
    git(lab.repo, "config", "color.ui", "always");
    write(lab.repo, { ".gitattributes": "*.txt diff=evil\n" });
    expect(await lab.workspaces.diff(lab.repo, lab.head, head)).toEqual(plain);
    expect(wasRun()).toBe(false);
  });

  it("includes commits of the user on the run's branch, but no commit that replaced the result", async () => {
    const lab = laboratory();
    const result = commitOn(lab, lab.head, { "new.txt": "by a task\n" });
    const more = commitOn(lab, result, { "new.txt": "corrected by the user\n" });
    const branch = `tutti/${RUN}`;
    const headOf = async () => (await lab.workspaces.diff(lab.repo, lab.head, result, { resultOf: RUN }))!.head;
    git(lab.repo, "branch", branch, more);
    expect(await headOf()).toBe(more);
    git(lab.repo, "branch", "--force", branch, lab.head);
    expect(await headOf()).toBe(result);
    expect(await lab.workspaces.diff(lab.repo, lab.head, "refs/tutti/missing")).toBeNull();
  });
});
