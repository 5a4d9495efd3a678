// Folders without git, whose content is committed to a repository in the data folder.
import { existsSync, readdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expectFailure, git, RUN, temporaryFolder, write } from "./laboratory.ts";
import { openCopied } from "../../src/workspace/copied-folder.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

function plain() {
  const top = temporaryFolder();
  const folder = join(top, "plain");
  const dataFolder = join(top, "data");
  write(folder, { "a.txt": "one\n" });
  const workspaces = createGitWorkspaces({ folder: join(dataFolder, "worktrees"), dataFolder });
  return { top, folder, copies: join(dataFolder, "copies"), workspaces };
}

afterEach(() => vi.unstubAllEnvs());

describe("a folder without git", () => {
  it("is refused if it is the home of the user", async () => {
    const { folder, workspaces } = plain();
    vi.stubEnv("HOME", folder);
    const why = /^The folder ".*plain" is not in a git repository, and it is too large to copy\. Run "git init"/;
    await expectFailure(workspaces.inspect(folder), "not_a_repository", why);
    vi.unstubAllEnvs();
    expect(await workspaces.inspect(folder)).toMatchObject({ root: folder, isCopy: true });
  });

  it("is refused with too many files, unless programs can create them again", async () => {
    const { folder, copies } = plain();
    write(folder, { "many/b.txt": "", "many/deep/c.txt": "", "many/deep/d.txt": "" });
    await expectFailure(openCopied(copies, folder, 3), "not_a_repository", /with more than 3 files it is too large/);
    expect(existsSync(copies)).toBe(false);
    expect(await openCopied(copies, folder, 4)).toMatchObject({ root: folder, isCopy: true });
    rmSync(copies, { recursive: true });
    renameSync(join(folder, "many"), join(folder, "node_modules"));
    expect(await openCopied(copies, folder, 1)).toMatchObject({ root: folder, isCopy: true });
  });

  it("costs no disk space for old work that the retention frees", async () => {
    const { folder, copies, workspaces } = plain();
    const { head } = await workspaces.inspect(folder);
    const key = { runId: RUN, name: "task", attempt: 1 };
    const { path } = await workspaces.prepare(folder, key, head);
    write(path, { "b.txt": "work\n" });
    const { commit } = await workspaces.snapshot(folder, key, head, "work");
    await workspaces.release(folder, RUN);
    const copy = join(copies, readdirSync(copies)[0]!);
    const kept = (): string => git(copy, "rev-list", "--all", "--objects");
    expect(kept()).toContain(commit);
    const old = Date.now() / 1000 - 2 * 24 * 60 * 60;
    for (const name of readdirSync(copy, { recursive: true, encoding: "utf8" })) utimesSync(join(copy, name), old, old);
    await workspaces.forget(folder, RUN, { free: true });
    expect(kept()).not.toContain(commit);
    expect(() => git(copy, "cat-file", "-e", commit)).toThrow();
    expect(git(copy, "cat-file", "-t", head)).toBe("commit");
  });
});
