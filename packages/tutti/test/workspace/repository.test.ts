import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { commitAll, commitOn, expectFailure, git, laboratory, observe, temporaryFolder, write } from "./laboratory.ts";
import type { TuttiError } from "../../src/schema/error.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

describe("inspect", () => {
  it("says that submodules and files of Git LFS are missing in workspaces", async () => {
    const lab = laboratory();
    // The user of this machine may have set up LFS for all repositories.
    vi.stubEnv("HOME", lab.top);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await lab.workspaces.inspect(lab.repo)).not.toHaveProperty("gaps");
    write(lab.repo, { ".gitmodules": "", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n" });
    const { gaps } = await lab.workspaces.inspect(lab.repo);
    expect(gaps).toEqual([expect.stringMatching(/^Submodules/), expect.stringMatching(/Git LFS, which is not set up/)]);
    git(lab.repo, "config", "filter.lfs.smudge", "cat");
    expect((await lab.workspaces.inspect(lab.repo)).gaps).toHaveLength(1);
  });

  it.each([2, 4])("finds files of Git LFS in a folder, with version %i of the index", async (version) => {
    const lab = laboratory();
    vi.stubEnv("HOME", lab.top);
    onTestFinished(() => void vi.unstubAllEnvs());
    write(lab.repo, { "art/.gitattributes": "*.png text\n", "art/a.txt": "a\n" });
    git(lab.repo, "add", "art");
    git(lab.repo, "update-index", "--index-version", String(version));
    expect(await lab.workspaces.inspect(lab.repo)).not.toHaveProperty("gaps");
    write(lab.repo, { "art/.gitattributes": "*.png filter=lfs\n" });
    git(lab.repo, "add", "art");
    expect((await lab.workspaces.inspect(lab.repo)).gaps).toEqual([expect.stringContaining("Git LFS")]);
  });

  it("does not wait for a pipe or a device to which .gitattributes links", async () => {
    const lab = laboratory();
    const pipe = join(lab.top, "pipe");
    execFileSync("sh", ["-c", 'mkfifo "$0"', pipe]);
    symlinkSync(pipe, join(lab.repo, ".gitattributes"));
    expect(await lab.workspaces.inspect(lab.repo)).toMatchObject({ dirty: true });
  });

  it("returns root, head and branch of a clean checkout", async () => {
    const { repo, workspaces, head } = laboratory();
    const facts = await workspaces.inspect(repo);
    expect(facts).toEqual({ root: repo, prefix: "", head, branch: "main", dirty: false });
  });

  it("returns a subfolder's path below the root", async () => {
    const { repo, workspaces } = laboratory();
    expect(await workspaces.inspect(join(repo, "dir"))).toMatchObject({ root: repo, prefix: "dir" });
  });

  it.each([
    ["a changed file", "a.txt"],
    ["a new file", "new.txt"],
  ])("reports a checkout with %s as dirty and leaves it unchanged", async (_, name) => {
    const { repo, workspaces } = laboratory();
    write(repo, { [name]: "changed\n" });
    const before = observe(repo);
    expect(await workspaces.inspect(repo)).toMatchObject({ dirty: true });
    expect(observe(repo)).toEqual(before);
  });

  it("does not even refresh the times in the user's index", async () => {
    const { repo, workspaces } = laboratory();
    utimesSync(join(repo, "a.txt"), 1, 1);
    const before = observe(repo);
    expect(await workspaces.inspect(repo)).toMatchObject({ dirty: false });
    expect(observe(repo)).toEqual(before);
  });

  it("reports a checkout with ignored files as clean", async () => {
    const { repo, workspaces } = laboratory();
    write(repo, { "trace.log": "x" });
    expect(await workspaces.inspect(repo)).toMatchObject({ dirty: false });
  });

  it("returns no branch if HEAD is detached", async () => {
    const { repo, workspaces } = laboratory();
    git(repo, "checkout", "--quiet", "--detach");
    expect(await workspaces.inspect(repo)).toMatchObject({ branch: null });
  });

  it("describes a checkout that is itself a linked worktree", async () => {
    const { repo, top, workspaces } = laboratory();
    const linked = join(top, "linked");
    git(repo, "worktree", "add", "--quiet", "-b", "side", linked);
    expect(await workspaces.inspect(linked)).toMatchObject({ root: linked, branch: "side" });
  });

  it("detects a repository that was recreated, moved, or nested since the last call", async () => {
    const { repo, top, workspaces, head } = laboratory();
    const inner = join(repo, "dir");
    expect(await workspaces.inspect(inner)).toMatchObject({ root: repo, prefix: "dir", head });
    git(inner, "init", "--quiet", "--initial-branch=own");
    commitAll(inner, "own");
    expect(await workspaces.inspect(inner)).toMatchObject({ root: inner, prefix: "", branch: "own" });
    rmSync(join(inner, ".git"), { recursive: true });
    expect(await workspaces.inspect(inner)).toMatchObject({ root: repo, prefix: "dir", head });
    renameSync(join(repo, ".git"), join(top, "moved"));
    await expectFailure(workspaces.inspect(inner), "not_a_repository", /not in the checkout/);
    writeFileSync(join(repo, ".git"), `gitdir: ${join(top, "moved")}\n`);
    expect(await workspaces.inspect(inner)).toMatchObject({ root: repo, head });
    git(top, "clone", "--quiet", "--bare", "moved", "copy");
    git(join(top, "copy"), "config", "core.bare", "false");
    writeFileSync(join(repo, ".git"), `gitdir: ${join(top, "copy")}\n`);
    write(repo, { "copied.txt": "x\n" });
    const copied = commitAll(repo, "copied");
    expect(await workspaces.inspect(repo)).toMatchObject({ head: copied });
    expect(await workspaces.changedFiles(inner, head, copied)).toEqual(["copied.txt"]);
  });

  it("ignores GIT_ variables of the environment", async () => {
    const { repo, workspaces, head } = laboratory();
    process.env["GIT_DIR"] = join(repo, "nowhere");
    onTestFinished(() => void delete process.env["GIT_DIR"]);
    expect(await workspaces.inspect(repo)).toMatchObject({ head });
  });

  it("rejects a missing folder and names it", async () => {
    const { top, workspaces } = laboratory();
    await expectFailure(workspaces.inspect(join(top, "nope")), "folder_not_found", /\/nope" does not exist\./);
  });

  it("rejects a file", async () => {
    const { repo, workspaces } = laboratory();
    await expectFailure(workspaces.inspect(join(repo, "a.txt")), "folder_not_found", /a\.txt/);
  });

  it("rejects a folder without a repository and gives advice", async () => {
    const folder = temporaryFolder();
    const workspaces = createGitWorkspaces({ folder: join(folder, "w") });
    await expectFailure(workspaces.inspect(folder), "not_a_repository", /is not in the checkout .* Run "git init"/);
  });

  it("rejects a bare repository and the inside of .git", async () => {
    const { repo, top, workspaces } = laboratory();
    git(top, "init", "--quiet", "--bare", "bare.git");
    await expectFailure(workspaces.inspect(join(top, "bare.git")), "not_a_repository", /bare\.git/);
    await expectFailure(workspaces.inspect(join(repo, ".git")), "not_a_repository", /\.git/);
  });

  it("rejects a repository without a commit and gives advice", async () => {
    const folder = temporaryFolder();
    git(folder, "init", "--quiet");
    const workspaces = createGitWorkspaces({ folder: join(folder, "w") });
    await expectFailure(workspaces.inspect(folder), "empty_repository", /has no commit yet\. Make a first commit/);
  });
});

describe("git itself", () => {
  it("is reported as missing if it is not installed", async () => {
    const { repo, top, workspaces } = laboratory();
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    process.env["PATH"] = join(top, "empty");
    await expectFailure(workspaces.inspect(repo), "git_missing", /Install git/);
  });

  it("is reported as missing if it is too old", async () => {
    const { repo, top, workspaces } = laboratory();
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    mkdirSync(join(top, "old"));
    writeFileSync(join(top, "old/git"), "#!/bin/sh\necho git version 2.25.1\n", { mode: 0o755 });
    process.env["PATH"] = `${join(top, "old")}:${path}`;
    await expectFailure(workspaces.inspect(repo), "git_missing", /2\.25\.1.*Install git 2\.38 or newer/);
  });

  it("has its error output in the message of a failed command", async () => {
    const { repo, workspaces, head } = laboratory();
    await expectFailure(workspaces.changedFiles(repo, head, "f".repeat(40)), "git_failed", /no tree .* "f{40}"/);
    rmSync(join(repo, ".git/objects"), { recursive: true });
    mkdirSync(join(repo, ".git/objects"));
    await expectFailure(workspaces.inspect(repo), "git_failed", /Git could not .*: .*/);
  });

  it.each([
    ["No space left on device", "disk_full", /the disk of ".*" is full \([\d.]+ .?B of [\d.]+ .?B free\)\. Free some/],
    ["Disk quota exceeded", "disk_full", /the disk quota for ".*" is used up \([\d.]+ .?B of/],
    ["Read-only file system", "unwritable", /".*" is read-only\. Make it writable\./],
    ["Out of memory, malloc failed", "out_of_memory", /the memory is used up \([\d.]+ .?B of [\d.]+ .?B free\)/],
    ["Too many open files", "too_many_files", /too many files are open \(\d+ of \d+\)/],
  ] as const)("that fails with %s is reported as %s with the figure", async (words, code, sentence) => {
    const { repo, top, workspaces } = laboratory();
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    mkdirSync(join(top, "bad"));
    // The reason comes first, and thousands of its consequences follow.
    const script = `#!/bin/sh\necho 'fatal: ${words}' >&2\nfor i in $(seq 3000); do echo "error: line $i"; done >&2\nexit 1\n`;
    writeFileSync(join(top, "bad/git"), script, { mode: 0o755 });
    process.env["PATH"] = `${join(top, "bad")}:${path}`;
    const fault = (await workspaces.inspect(repo).catch((error: unknown) => error)) as TuttiError;
    expect([fault.code, fault.message]).toEqual([code, expect.stringMatching(sentence)]);
    expect(fault.message.length).toBeLessThan(300);
    expect((fault.details as { output: string }).output).toMatch(/^fatal: [^]*line 3000$/);
  });

  it("keeps the beginning of long errors in the message, and all of them in `details`", async () => {
    const { repo, top, workspaces } = laboratory();
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    mkdirSync(join(top, "bad"));
    const script = '#!/bin/sh\nfor i in $(seq 3000); do echo "error: line $i"; done >&2\nexit 1\n';
    writeFileSync(join(top, "bad/git"), script, { mode: 0o755 });
    process.env["PATH"] = `${join(top, "bad")}:${path}`;
    const fault = (await workspaces.inspect(repo).catch((error: unknown) => error)) as TuttiError;
    expect(fault.message).toMatch(/^Git could not [^:]*: error: line 1\n[^]*…\. Correct this, then try again\.$/);
    expect(fault.message.length).toBeLessThan(2200);
    expect((fault.details as { output: string }).output).toMatch(/line 3000$/);
  });
});

describe("changedFiles", () => {
  it("lists added, changed and removed paths, sorted, a renamed one under both names", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "z.txt": "one\n", "a.txt": null, "dir/b.txt": "three\n", "é\n.txt": "x" });
    const files = await lab.workspaces.changedFiles(lab.repo, lab.head, to);
    expect(files).toEqual(["a.txt", "dir/b.txt", "z.txt", "é\n.txt"]);
  });
});
