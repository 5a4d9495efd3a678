import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
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
  paths,
  refs,
  RUN,
  write,
  untilNextSecond,
} from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";

async function workspace(lab: Laboratory, start = lab.head): Promise<string> {
  return (await lab.workspaces.prepare(lab.repo, key(), start)).path;
}

const take = (lab: Laboratory, start = lab.head) => lab.workspaces.snapshot(lab.repo, key(), start, "work of the task");

describe("snapshot", () => {
  it("commits changed, new and deleted files but no ignored ones", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "a.txt": "changed\n", "new/deep.txt": "n\n", "trace.log": "ignored", "build/out": "ignored" });
    rmSync(join(path, "dir/b.txt"));
    const { commit, files } = await take(lab);
    expect(files).toEqual(["a.txt", "dir/b.txt", "new/deep.txt"]);
    expect(paths(lab.repo, commit)).toEqual([".gitignore", "a.txt", "new/deep.txt"]);
    expect(git(lab.repo, "log", "-1", "--format=%P|%an <%ae>|%cn <%ce>|%s", commit)).toBe(
      `${lab.head}|Tutti <tutti@localhost>|Tutti <tutti@localhost>|work of the task`,
    );
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(commit);
  });

  it("gives a replaced snapshot a ref of its own, unless another attempt of the run has the same one", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "a.txt": "of the task\n" });
    const { commit } = await take(lab);
    const main = () => lab.workspaces.snapshot(lab.repo, key("main"), lab.head, "work of the main session");
    const { path: folder } = await lab.workspaces.prepare(lab.repo, key("main"), commit);
    expect((await main()).commit).toBe(commit);
    git(folder, "checkout", "--quiet", lab.head);
    write(folder, { "a.txt": "first\n" });
    const first = await main();
    expect(refs(lab.repo, "refs/tutti").map((line) => line.split(" ").at(-1))).toEqual([
      attemptRef("main"),
      attemptRef(),
    ]);
    write(folder, { "a.txt": "second\n" });
    const second = await main();
    const kept = attemptRef("main", `1-before-${second.commit.slice(0, 12)}`);
    expect(git(lab.repo, "rev-parse", kept)).toBe(first.commit);
  });

  it("is compared with the files that an agent claims", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "dir/new.txt": "n\n", "[x].txt": "x\n", "trace.log": "ignored" });
    rmSync(join(path, "a.txt"));
    const claimed = [
      ["dir/new.txt", "./dir/new.txt", join(path, "dir/new.txt"), "dir", "dir/", "a.txt", "[x].txt"],
      ["dir/b.txt", join(path, ".gitignore")],
      ["none.txt", "trace.log", "*.txt", "../a.txt", "/etc/passwd", ""],
    ];
    const unproven = await lab.workspaces.findUnproven(lab.repo, key(), await take(lab), claimed.flat());
    expect(unproven).toEqual({ unchanged: claimed[1], missing: claimed[2] });
    // A run in a subfolder: its agent works there.
    const inside = await lab.workspaces.findUnproven(join(lab.repo, "dir"), key(), await take(lab), [
      "new.txt",
      "dir/new.txt",
      "b.txt",
      "c.txt",
    ]);
    expect(inside).toEqual({ unchanged: ["b.txt"], missing: ["c.txt"] });
  });

  it("reads no history before the start, even if the user has deleted the run's refs", async () => {
    const lab = laboratory();
    write(lab.repo, { "a.txt": "two\n" });
    const start = commitAll(lab.repo, "second");
    await lab.workspaces.openBranch(lab.repo, RUN, start);
    const path = await workspace(lab, start);
    // A command that reads the whole history fails on this missing object.
    const old = git(lab.repo, "rev-parse", `${lab.head}:a.txt`);
    rmSync(join(lab.repo, ".git/objects", old.slice(0, 2), old.slice(2)));
    git(lab.repo, "update-ref", "-d", `refs/heads/tutti/${RUN}`);
    write(lab.repo, { "a.txt": "three\n" });
    const later = commitAll(lab.repo, "third");
    await lab.workspaces.move(lab.repo, key(), later);
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("three\n");
    write(path, { "new.txt": "n\n" });
    expect((await take(lab, later)).files).toEqual(["new.txt"]);
  });

  it("returns the start if nothing changed, and still sets the ref", async () => {
    const lab = laboratory();
    await workspace(lab);
    expect(await take(lab)).toEqual({ commit: lab.head, files: [] });
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(lab.head);
  });

  it("returns the same commit when it is repeated, even after the workspace was removed", async () => {
    const lab = laboratory();
    write(await workspace(lab), { "a.txt": "changed\n" });
    const first = await take(lab);
    await untilNextSecond();
    expect(await take(lab)).toEqual(first);
    await lab.workspaces.remove(lab.repo, key());
    expect(await take(lab)).toEqual(first);
  });

  it("leaves the files, the index and the branch of the workspace unchanged", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "a.txt": "changed\n", "new.txt": "n\n" });
    git(path, "add", "new.txt");
    const index = readFileSync(join(lab.repo, ".git/worktrees/task-1/index"));
    await take(lab);
    expect(readFileSync(join(lab.repo, ".git/worktrees/task-1/index")).equals(index)).toBe(true);
    expect(git(path, "status", "--porcelain")).toBe(" M a.txt\nA  new.txt");
    expect(git(path, "rev-parse", "HEAD")).toBe(lab.head);
  });

  it("keeps the agent's own commits as parents", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "own.txt": "own\n" });
    const agentCommit = commitAll(path, "own");
    expect(await take(lab)).toEqual({ commit: agentCommit, files: ["own.txt"] });
    write(path, { "rest.txt": "rest\n" });
    const { commit, files } = await take(lab);
    expect(git(lab.repo, "rev-parse", `${commit}^`)).toBe(agentCommit);
    expect(files).toEqual(["own.txt", "rest.txt"]);
  });

  it("commits the files if the agent has switched to another branch or detached its HEAD", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    git(path, "checkout", "--quiet", "-b", "feature");
    write(path, { "own.txt": "own\n" });
    const agentCommit = commitAll(path, "own");
    git(path, "checkout", "--quiet", "--detach");
    write(path, { "rest.txt": "rest\n" });
    const { commit, files } = await take(lab);
    expect(git(lab.repo, "rev-parse", `${commit}^`)).toBe(agentCommit);
    expect(files).toEqual(["own.txt", "rest.txt"]);
  });

  it("commits the files on top of the start if the agent's HEAD does not descend from it", async () => {
    const lab = laboratory();
    const start = commitOn(lab, lab.head, { "base.txt": "b\n" });
    const path = await workspace(lab, start);
    git(path, "reset", "--quiet", "--soft", lab.head);
    write(path, { "a.txt": "changed\n" });
    const { commit, files } = await take(lab, start);
    expect(git(lab.repo, "rev-parse", `${commit}^`)).toBe(start);
    expect(files).toEqual(["a.txt"]);
  });

  it("commits the files on top of the start if the agent is on a branch without a commit", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    git(path, "checkout", "--quiet", "--orphan", "nothing");
    write(path, { "a.txt": "changed\n" });
    const { commit, files } = await take(lab);
    expect(git(lab.repo, "rev-parse", `${commit}^`)).toBe(lab.head);
    expect(files).toEqual(["a.txt"]);
  });

  it("does not attribute a moved run branch to the agent", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    git(path, "checkout", "--quiet", `tutti/${RUN}`);
    write(path, { "own.txt": "own\n" });
    const other = commitOn(lab, lab.head, { "other.txt": "o\n" });
    await integrate(lab, other, "other");
    const { commit, files } = await take(lab);
    expect(files).toEqual(["own.txt"]);
    await integrate(lab, commit, "own");
    expect(paths(lab.repo, `tutti/${RUN}`)).toEqual(expect.arrayContaining(["other.txt", "own.txt"]));
  });

  it("includes a change that the agent has hidden in its index", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    git(path, "update-index", "--assume-unchanged", "a.txt");
    git(path, "update-index", "--skip-worktree", "dir/b.txt");
    write(path, { "a.txt": "hidden\n", "dir/b.txt": "hidden\n" });
    expect(await take(lab)).toMatchObject({ files: ["a.txt", "dir/b.txt"] });
  });

  it("includes a change of the same size whose time was set back", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    const { atime, mtime } = lstatSync(join(path, "a.txt"));
    write(path, { "a.txt": "eno\n" });
    utimesSync(join(path, "a.txt"), atime, mtime);
    expect(await take(lab)).toMatchObject({ files: ["a.txt"] });
  });

  it("keeps an ignored file that the agent committed on purpose", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "forced.log": "f\n" });
    git(path, "add", "--force", "forced.log");
    commitAll(path, "forced");
    write(path, { "forced.log": "g\n" });
    const { commit } = await take(lab);
    expect(content(lab.repo, commit, "forced.log")).toBe("g");
  });

  it("keeps an earlier snapshot reachable if a later one does not build on it", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "a.txt": "first\n" });
    const first = await take(lab);
    write(path, { "a.txt": "second\n" });
    const second = await take(lab);
    expect(git(lab.repo, "rev-parse", attemptRef())).toBe(second.commit);
    expect(git(lab.repo, "for-each-ref", "--contains", first.commit, "refs/tutti")).not.toBe("");
  });

  it("replaces the `-saved` ref of `saveWork`, which commits the same files only once", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const save = () => lab.workspaces.saveWork(lab.repo, key(), lab.head, "on the way");
    expect(await save()).toBeNull();
    write(path, { "new.txt": "one\n" });
    const first = await save();
    expect(await save()).toBe(first);
    write(path, { "new.txt": "two\n" });
    const second = await save();
    expect(git(lab.repo, "rev-parse", `${attemptRef()}-saved`)).toBe(second);
    expect([first, second].map((commit) => git(lab.repo, "show", `${commit}:new.txt`))).toEqual(["one", "two"]);
    expect(git(path, "status", "--porcelain")).toBe("?? new.txt");
    await lab.workspaces.snapshot(lab.repo, key(), lab.head, "done");
    expect(git(lab.repo, "for-each-ref", `${attemptRef()}-saved`)).toBe("");
    await lab.workspaces.remove(lab.repo, key());
    expect(await save()).toBeNull();
  });

  it("rejects a workspace that never existed", async () => {
    const lab = laboratory();
    await expectFailure(take(lab), "workspace_failed", /no longer exists/);
  });
});

describe("snapshot of unusual files", () => {
  it("includes names with line breaks, quotes, umlauts, spaces and a leading dash", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    const names = ["-rf", "--stdin", 'qu"ote', "li\nne", "ümläut", "日本語", " space ", "back\\slash", ":(top)x", "*"];
    for (const name of names) write(path, { [name]: name });
    const { commit, files } = await take(lab);
    expect(files).toEqual(names.toSorted());
    expect(git(lab.repo, "cat-file", "blob", `${commit}:li\nne`)).toBe("li\nne");
  });

  it("includes a name that is not valid UTF-8, byte by byte", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    const name = Buffer.from([0x66, 0xff, 0xfe, 0x67]);
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), name]), "bytes");
    const { commit } = await take(lab);
    const tree = execFileSync("git", ["ls-tree", "-z", "--name-only", commit], { cwd: lab.repo });
    expect(tree.includes(name)).toBe(true);
    await lab.workspaces.remove(lab.repo, key());
    expect(existsSync(path)).toBe(false);
  });

  it("commits links as links without following them", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(lab.top, { "outside/secret.txt": "secret" });
    symlinkSync(join(lab.top, "outside"), join(path, "folder-link"));
    symlinkSync("/nowhere/at/all", join(path, "dangling"));
    rmSync(join(path, "dir"), { recursive: true });
    symlinkSync(join(lab.top, "outside"), join(path, "dir"));
    const { commit, files } = await take(lab);
    expect(files).toEqual(["dangling", "dir", "dir/b.txt", "folder-link"]);
    for (const link of ["dangling", "dir", "folder-link"]) {
      expect(git(lab.repo, "ls-tree", commit, link)).toMatch(/^120000 /);
    }
  });

  it("includes a file that replaces a folder, a folder that replaces a file, and a changed executable bit", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    rmSync(join(path, "dir"), { recursive: true });
    rmSync(join(path, "a.txt"));
    write(path, { dir: "now a file", "a.txt/inner": "now a folder" });
    chmodSync(join(path, ".gitignore"), 0o755);
    const { commit } = await take(lab);
    expect(paths(lab.repo, commit)).toEqual([".gitignore", "a.txt/inner", "dir"]);
    expect(git(lab.repo, "ls-tree", commit, ".gitignore")).toMatch(/^100755 /);
  });

  it("omits pipes, even one that replaces a file", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    rmSync(join(path, "a.txt"));
    execFileSync("sh", ["-c", "mkfifo a.txt pipe"], { cwd: path });
    const { commit } = await take(lab);
    expect(paths(lab.repo, commit)).toEqual([".gitignore", "dir/b.txt"]);
  });

  it("includes files without read permission", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    write(path, { "closed/inner.txt": "i\n", "secret.txt": "s\n" });
    chmodSync(join(path, "secret.txt"), 0o000);
    chmodSync(join(path, "closed"), 0o000);
    expect(await take(lab)).toMatchObject({ files: ["closed/inner.txt", "secret.txt"] });
  });

  it("includes the files of a nested repository as ordinary files", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    git(lab.top, "clone", "--quiet", lab.repo, join(path, "cloned"));
    mkdirSync(join(path, "fresh"));
    git(join(path, "fresh"), "init", "--quiet");
    write(path, { "fresh/x.txt": "x", "fresh/trace.log": "ignored", "fresh/own/.gitignore": "skip\n" });
    write(path, { "fresh/own/skip": "ignored", "fresh/own/deep/y.txt": "y" });
    git(join(path, "fresh/own"), "init", "--quiet");
    const { commit, files } = await take(lab);
    expect(files).toEqual([
      "cloned/.gitignore",
      "cloned/a.txt",
      "cloned/dir/b.txt",
      "fresh/own/.gitignore",
      "fresh/own/deep/y.txt",
      "fresh/x.txt",
    ]);
    expect(git(lab.repo, "ls-tree", "-r", commit)).not.toMatch(/^160000/m);
    expect((await take(lab)).commit).toBe(commit);
  });

  it("includes the files of a repository that replaces a file or was created in a folder", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    rmSync(join(path, "a.txt"));
    git(lab.top, "clone", "--quiet", lab.repo, join(path, "a.txt"));
    git(join(path, "dir"), "init", "--quiet");
    write(path, { "dir/c.txt": "c" });
    const { commit } = await take(lab);
    const expected = [".gitignore", "a.txt/.gitignore", "a.txt/a.txt", "a.txt/dir/b.txt", "dir/b.txt", "dir/c.txt"];
    expect(paths(lab.repo, commit)).toEqual(expected);
  });

  it("omits a worktree that the agent created inside its own, whose work `remove` keeps", async () => {
    const lab = laboratory();
    const path = await workspace(lab);
    git(path, "worktree", "add", "--quiet", "-b", "helper", ".helpers/one");
    git(path, "worktree", "add", "--quiet", "-b", "idle", ".helpers/two");
    write(path, { ".helpers/one/loose.txt": "loose\n", "own.txt": "own\n" });
    expect(await take(lab)).toMatchObject({ files: ["own.txt"] });
    await lab.workspaces.remove(lab.repo, key());
    const held = refs(lab.repo, "refs/tutti").map((ref) => paths(lab.repo, ref).at(-1));
    expect(held).toHaveLength(2);
    expect(held).toEqual(expect.arrayContaining(["loose.txt", "own.txt"]));
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it("keeps a submodule at its recorded commit, and includes its removal", async () => {
    const lab = laboratory();
    const allow = ["-c", "protocol.file.allow=always"];
    git(lab.repo, ...allow, "submodule", "--quiet", "add", lab.repo, "sub");
    const start = commitAll(lab.repo, "submodule");
    const path = await workspace(lab, start);
    expect(await take(lab, start)).toEqual({ commit: start, files: [] });
    git(path, ...allow, "submodule", "--quiet", "update", "--init");
    write(path, { "sub/inner.txt": "i", "outer.txt": "o" });
    expect(await take(lab, start)).toMatchObject({ files: ["outer.txt"] });
    rmSync(join(path, "sub"), { recursive: true });
    expect(await take(lab, start)).toMatchObject({ files: ["outer.txt", "sub"] });
    await lab.workspaces.remove(lab.repo, key());
    expect(existsSync(path)).toBe(false);
  });

  it("applies the user's line-ending filter without creating a change", async () => {
    const lab = laboratory();
    git(lab.repo, "config", "core.autocrlf", "true");
    const path = await workspace(lab);
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one\r\n");
    expect(await take(lab)).toMatchObject({ files: [] });
    renameSync(join(path, "a.txt"), join(path, "moved.txt"));
    const { commit } = await take(lab);
    expect(git(lab.repo, "rev-parse", `${commit}:moved.txt`)).toBe(git(lab.repo, "rev-parse", `${lab.head}:a.txt`));
  });
});
