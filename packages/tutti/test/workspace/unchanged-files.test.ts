// A workspace without changes is recognised without git, and every change is found.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { attemptRef, commitOn, git, key, laboratory, refs, temporaryFolder, write } from "./laboratory.ts";
import { isUnchanged, readStamp } from "../../src/workspace/disk/folder-stamp.ts";
import { listCommits, listRefs } from "../../src/workspace/refs.ts";

describe("a stamp of a folder", () => {
  const changes: Record<string, (folder: string) => void> = {
    "the content of a file, with the old size and time": (folder) => {
      const { atime, mtime } = statSync(join(folder, "a.txt"));
      writeFileSync(join(folder, "a.txt"), "two");
      utimesSync(join(folder, "a.txt"), atime, mtime);
    },
    "a new file": (folder) => write(folder, { "dir/new.txt": "" }),
    "a removed file": (folder) => rmSync(join(folder, "dir/b.txt")),
    "a renamed file": (folder) => renameSync(join(folder, "a.txt"), join(folder, "c.txt")),
    "a mode": (folder) => chmodSync(join(folder, "a.txt"), 0o755),
    "the target of a link": (folder) => {
      rmSync(join(folder, "link"));
      symlinkSync("b", join(folder, "link"));
    },
  };
  const folderWithFiles = (): string => {
    const folder = temporaryFolder();
    write(folder, { "a.txt": "one", "dir/b.txt": "b", ".git": "gitdir: elsewhere" });
    symlinkSync("a", join(folder, "link"));
    return folder;
  };

  it.each(Object.entries(changes))("shows %s directly after it was taken", (_, change) => {
    const folder = folderWithFiles();
    const stamp = readStamp(folder)!;
    write(folder, { ".git": "changed" });
    mkdirSync(join(folder, "empty"));
    expect(isUnchanged(folder, stamp)).toBe(true);
    change(folder);
    expect(isUnchanged(folder, stamp)).toBe(false);
  });

  it("is not taken of a folder with many or unreadable files, which git compares", () => {
    const folder = folderWithFiles();
    write(folder, Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`many/${i}`, ""])));
    expect(readStamp(folder)).toBeNull();
    expect(readStamp(join(folder, "none"))).toBeNull();
  });
});

describe("a workspace", () => {
  it("that changes after its snapshot, and back, keeps every state that was seen", async () => {
    const { repo, head, workspaces } = laboratory();
    const { path } = await workspaces.prepare(repo, key(), head);
    const take = () => workspaces.snapshot(repo, key(), head, "work");
    expect(await take()).toEqual({ commit: head, files: [] });
    write(path, { "a.txt": "two\n" });
    const changed = await take();
    expect(changed.files).toEqual(["a.txt"]);
    expect(await take()).toEqual(changed);
    write(path, { "a.txt": "six\n" });
    await workspaces.remove(repo, key());
    const left = refs(repo, attemptRef().replace(/1$/, "")).filter((ref) => ref.includes("-left-"));
    expect(left.map((ref) => git(repo, "show", `${ref}:a.txt`))).toEqual(["six"]);
    expect(git(repo, "show", `${attemptRef()}:a.txt`)).toBe("two");
  });

  it("that is moved gives the files of its new commit, and then those that the agent changes", async () => {
    const lab = laboratory();
    const { repo, head, workspaces } = lab;
    const { path } = await workspaces.prepare(repo, key(), head);
    const next = commitOn(lab, head, { "a.txt": "next\n", "dir/b.txt": null });
    await workspaces.move(repo, key(), next);
    expect(readdirSync(path).sort()).toEqual([".git", ".gitignore", "a.txt"]);
    expect(await workspaces.snapshot(repo, key(), next, "work")).toEqual({ commit: next, files: [] });
    await workspaces.move(repo, key(), head);
    write(path, { "new.txt": "new\n" });
    expect(await workspaces.snapshot(repo, key(), head, "work")).toMatchObject({ files: ["new.txt"] });
  });

  it("is a worktree that git lists and finds clean, also with settings of its own", async () => {
    const { repo, head, workspaces } = laboratory();
    for (const name of ["plain", "own"]) {
      if (name === "own") git(repo, "config", "extensions.worktreeConfig", "true");
      if (name === "own") git(repo, "config", "--worktree", "user.name", "Someone");
      const { path } = await workspaces.prepare(repo, key(name), head);
      expect(git(path, "status", "--porcelain=v2", "--branch")).toBe(`# branch.oid ${head}\n# branch.head (detached)`);
      expect(git(repo, "worktree", "list", "--porcelain")).toContain(`worktree ${path}\nHEAD ${head}\ndetached\n`);
      git(repo, "worktree", "prune", "--expire=now");
      git(path, "commit", "--quiet", "--allow-empty", "-m", "of an agent");
      expect(git(path, "reflog")).toContain("of an agent");
    }
  });
});

describe("refs", () => {
  it("are listed from files like git lists them: packed, loose, symbolic and without a commit", async () => {
    const lab = laboratory();
    const { repo, head } = lab;
    const repository = { root: repo, prefix: "", gitDir: join(repo, ".git"), commonDir: join(repo, ".git") };
    const next = commitOn(lab, head, { "a.txt": "next\n" });
    git(repo, "update-ref", "refs/tutti/run/a/1", head);
    git(repo, "update-ref", "refs/tutti/run/b/1", head);
    git(repo, "update-ref", "refs/tutti/runner", head);
    git(repo, "pack-refs", "--all");
    git(repo, "update-ref", "refs/tutti/run/b/1", next);
    git(repo, "update-ref", "refs/heads/tutti/run", next);
    const prefixes = ["refs/tutti/run/", "refs/heads/tutti/run"];
    const commits = { "refs/tutti/run/a/1": head, "refs/tutti/run/b/1": next, "refs/heads/tutti/run": next };
    const listed = async () => Object.fromEntries(await listCommits(repository, prefixes));
    expect(await listed()).toEqual(commits);
    git(repo, "symbolic-ref", "refs/tutti/run/link", "refs/heads/tutti/run");
    expect(await listed()).toEqual({ ...commits, "refs/tutti/run/link": next });
    rmSync(join(repo, ".git/refs/tutti/run/link"));
    write(join(repo, ".git/refs/tutti/run"), { "gone/1": `${"1".repeat(head.length)}\n`, "b/1.lock": "" });
    expect(await listed()).toEqual(commits);
    expect(await listRefs(repository, "refs/tutti/run/")).toEqual(
      ["a/1", "b/1", "gone/1"].map((name) => `refs/tutti/run/${name}`),
    );
    expect(await listRefs(repository, "refs/tutti/runner")).toEqual(["refs/tutti/runner"]);
    expect(await listRefs(repository, "refs/tutti/ru")).toEqual([]);
  });
});
