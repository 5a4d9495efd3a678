import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  attemptRef,
  canary,
  commitAll,
  commitOn,
  expectFailure,
  git,
  laboratory,
  observe,
  refs,
  RUN,
  write,
  type Laboratory,
} from "./laboratory.ts";
import { expectLinear } from "../lab/growth.ts";
import { readFiles } from "../../src/workspace/result/diff-commits.ts";

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

  it("takes no longer for each file if there are very many", () => {
    expectLinear((files) => {
      const raw = Array.from({ length: files }, (_, i) => `:000000 100644 0000000 1111111 A\0f${i}\0`);
      const counts = Array.from({ length: files }, (_, i) => `1\t0\tf${i}\0`);
      const read = readFiles(raw.join("") + counts.join(""));
      expect(read).toHaveLength(files);
      expect(read.at(-1)).toEqual({ path: `f${files - 1}`, status: "added", additions: 1, deletions: 0 });
    }, 40_000);
  });

  it("is the same page by page, with renames and changed types", async () => {
    const lab = laboratory();
    write(lab.repo, { "z old.txt": "1\n2\n3\n4\n5\n", "file.txt": "a file\n" });
    const base = commitAll(lab.repo, "base");
    git(lab.repo, "mv", "z old.txt", "b new.txt");
    write(lab.repo, { "a.txt": "changed\n", "added.txt": "1\n" });
    rmSync(join(lab.repo, "file.txt"));
    symlinkSync("dir", join(lab.repo, "file.txt"));
    const head = commitAll(lab.repo, "head");
    const whole = (await lab.workspaces.diff(lab.repo, base, head))!;
    expect(whole.files.map(({ status }) => status)).toEqual(["modified", "added", "renamed", "typechanged"]);
    const files: unknown[] = [];
    let after: string | undefined;
    do {
      const page = (await lab.workspaces.diff(lab.repo, base, head, { limit: 1, after }))!;
      expect([page.files.length, page.stat]).toEqual([1, whole.stat]);
      files.push(...page.files);
      after = page.next;
    } while (after !== undefined);
    expect(files).toEqual(whole.files);
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

const BRANCH = `tutti/${RUN}`;

/** A laboratory whose run has changed these files. */
function withResult(
  files: Record<string, string | null> = { "new.txt": "by a task\n" },
): Laboratory & { result: string } {
  const lab = laboratory();
  const result = commitOn(lab, lab.head, files);
  git(lab.repo, "branch", BRANCH, result);
  return { ...lab, result };
}

const merge = ({ repo, workspaces, result }: ReturnType<typeof withResult>, { cwd = repo, noFf = false } = {}) =>
  workspaces.mergeResult(cwd, RUN, result, { noFf, message: "Merge the result" });

describe("merging the result of a run", () => {
  it("fast-forwards the checked-out branch with its files, and one command undoes it", async () => {
    const lab = withResult({ "new.txt": "by a task\n", "dir/b.txt": "changed\n", "a.txt": null });
    write(lab.repo, { "notes.txt": "not tracked\n", "debug.log": "ignored\n" });
    expect(await merge(lab, { cwd: join(lab.repo, "dir") })).toEqual({
      branch: "main",
      from: lab.head,
      to: lab.result,
    });
    expect(git(lab.repo, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(git(lab.repo, "status", "--porcelain")).toBe("?? notes.txt");
    expect(readFileSync(join(lab.repo, "dir/b.txt"), "utf8")).toBe("changed\n");
    expect(existsSync(join(lab.repo, "a.txt"))).toBe(false);
    expect(await merge(lab)).toEqual({ branch: "main", from: lab.result, to: lab.result });
    git(lab.repo, "reset", "--keep", lab.head);
    expect(git(lab.repo, "status", "--porcelain")).toBe("?? notes.txt");
    expect([git(lab.repo, "rev-parse", "main"), existsSync(join(lab.repo, "a.txt"))]).toEqual([lab.head, true]);
  });

  it("creates a merge commit if the branch has moved, and with noFf", async () => {
    const lab = withResult();
    write(lab.repo, { "mine.txt": "by the user\n" });
    const mine = commitAll(lab.repo, "mine");
    const { from, to } = await merge(lab);
    expect([from, git(lab.repo, "log", "-1", "--format=%P %s", to)]).toEqual([
      mine,
      `${mine} ${lab.result} Merge the result`,
    ]);
    expect(git(lab.repo, "status", "--porcelain")).toBe("");
    const other = withResult();
    const { to: merged } = await merge(other, { noFf: true });
    expect(git(other.repo, "rev-list", "--parents", "-1", merged)).toBe(`${merged} ${other.head} ${other.result}`);
  });

  it("commits a merge as the user, and as Tutti for a user without an identity", async () => {
    const lab = withResult();
    const author = (commit: string) => git(lab.repo, "log", "-1", "--format=%an <%ae>, %cn <%ce>", commit);
    const { from, to } = await merge(lab, { noFf: true });
    expect(author(to)).toBe("Person <person@example.org>, Person <person@example.org>");
    git(lab.repo, "reset", "--keep", from);
    for (const name of ["user.name", "user.email"]) git(lab.repo, "config", "--unset", name);
    // Settings of this machine's user must not count.
    vi.stubEnv("HOME", lab.top);
    vi.stubEnv("XDG_CONFIG_HOME", lab.top);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(author((await merge(lab, { noFf: true })).to)).toBe("Tutti <tutti@localhost>, Tutti <tutti@localhost>");
    git(lab.repo, "reset", "--keep", from);
    for (const who of ["AUTHOR", "COMMITTER"]) {
      vi.stubEnv(`GIT_${who}_NAME`, "Zoë");
      vi.stubEnv(`GIT_${who}_EMAIL`, "zoe@example.org");
    }
    expect(author((await merge(lab, { noFf: true })).to)).toBe("Zoë <zoe@example.org>, Zoë <zoe@example.org>");
  });

  it("includes commits of the user on the run's branch, and names them", async () => {
    const lab = withResult();
    const more = commitOn(lab, lab.result, { "new.txt": "corrected\n" });
    git(lab.repo, "branch", "--force", BRANCH, more);
    expect(await merge(lab)).toEqual({ branch: "main", from: lab.head, to: more, added: [more] });
  });

  it("works in a linked worktree, and leaves the main checkout alone", async () => {
    const lab = withResult();
    const linked = join(lab.top, "linked");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "topic", linked, lab.head);
    const before = observe(lab.repo);
    expect(await merge(lab, { cwd: linked })).toEqual({ branch: "topic", from: lab.head, to: lab.result });
    expect([git(linked, "status", "--porcelain"), git(linked, "rev-parse", "HEAD")]).toEqual(["", lab.result]);
    expect({ ...observe(lab.repo), status: before["status"] }).toEqual(before);
    expect(git(lab.repo, "rev-parse", "main")).toBe(lab.head);
  });

  it("runs no hook and no other program of the repository", async () => {
    const lab = withResult();
    const { program, wasRun } = canary(lab.top);
    const hooks = ["post-merge", "pre-merge-commit", "post-checkout", "reference-transaction", "post-index-change"];
    mkdirSync(join(lab.repo, ".git/hooks"), { recursive: true });
    for (const hook of hooks) copyFileSync(program, join(lab.repo, ".git/hooks", hook));
    // Git has hooks in settings since 2.54; an earlier one ignores them.
    const events = hooks.map((hook) => `\tevent = ${hook}\n`).join("");
    appendFileSync(join(lab.repo, ".git/config"), `[hook "evil"]\n\tcommand = ${program}\n${events}`);
    git(lab.repo, "config", "core.fsmonitor", program);
    git(lab.repo, "config", "merge.autoStash", "true");
    git(lab.repo, "config", "branch.main.mergeOptions", "--squash --no-ff");
    await merge(lab);
    expect([wasRun(), git(lab.repo, "rev-parse", "main")]).toEqual([false, lab.result]);
  });

  it.each([
    ["gpg.program", "PGP SIGNATURE"],
    ["gpg.openpgp.program", "PGP SIGNATURE"],
    ["gpg.ssh.program", "SSH SIGNATURE"],
    ["gpg.x509.program", "SIGNED MESSAGE"],
  ])("does not start the %s of the repository to verify a signature", async (setting, armour) => {
    const lab = withResult();
    const { program, wasRun } = canary(lab.top);
    const lines = git(lab.repo, "cat-file", "commit", lab.result).split("\n");
    const at = lines.findIndex((line) => line.startsWith("committer")) + 1;
    lines.splice(at, 0, `gpgsig -----BEGIN ${armour}-----`, " YQ==", ` -----END ${armour}-----`);
    const signed = join(lab.top, "signed");
    writeFileSync(signed, `${lines.join("\n")}\n`);
    const result = git(lab.repo, "hash-object", "-t", "commit", "-w", signed);
    git(lab.repo, "branch", "--force", BRANCH, result);
    git(lab.repo, "config", "merge.verifySignatures", "true");
    git(lab.repo, "config", "gpg.ssh.allowedSignersFile", "/dev/null");
    git(lab.repo, "config", setting, program);
    spawnSync("git", ["verify-commit", result], { cwd: lab.repo });
    expect(wasRun()).toBe(true);
    rmSync(join(lab.top, "canary-was-run"));
    // The program that takes its place may end before git has written to it, which is another sentence.
    await expect(merge({ ...lab, result })).rejects.toThrow(/^Git (?:refused the merge|could not merge the result)/);
    expect([wasRun(), git(lab.repo, "rev-parse", "main")]).toEqual([false, lab.head]);
  });

  it.each<[string, RegExp, (lab: ReturnType<typeof withResult>) => void]>([
    [
      "a changed file",
      /has uncommitted changes: a\.txt\. Commit or stash them/,
      ({ repo }) => write(repo, { "a.txt": "x\n" }),
    ],
    [
      "a staged file",
      /has uncommitted changes: a\.txt, staged\.txt\./,
      ({ repo }) => {
        write(repo, { "a.txt": "x\n", "staged.txt": "x\n" });
        git(repo, "add", "staged.txt");
      },
    ],
    [
      "a conflict with a moved base",
      /conflicts with the branch "main" in dir\/b\.txt\./,
      ({ repo }) => {
        write(repo, { "dir/b.txt": "by the user\n" });
        commitAll(repo, "mine");
      },
    ],
    [
      "an untracked file in the way",
      /would be overwritten: new\.txt\./,
      ({ repo }) => write(repo, { "new.txt": "mine\n" }),
    ],
    ["a detached HEAD", /No branch is checked out/, ({ repo }) => git(repo, "checkout", "--quiet", "--detach")],
    ["a checked-out run branch", /itself is checked out/, ({ repo }) => git(repo, "checkout", "--quiet", BRANCH)],
    [
      "an unfinished merge",
      /unfinished/,
      ({ repo, head }) => writeFileSync(join(repo, ".git/MERGE_HEAD"), `${head}\n`),
    ],
    ["a locked index", /If none does, remove ".*index\.lock"/, ({ repo }) => write(repo, { ".git/index.lock": "" })],
    [
      "a branch of another history",
      /no commit in common/,
      ({ repo }) => {
        git(repo, "checkout", "--quiet", "--orphan", "other");
        commitAll(repo, "other");
      },
    ],
    [
      "a missing run branch",
      /Bring it back with "git branch tutti/,
      ({ repo }) => git(repo, "branch", "--quiet", "-D", BRANCH),
    ],
    [
      "a replaced run branch",
      /no longer contains the result/,
      ({ repo, head }) => git(repo, "branch", "--quiet", "--force", BRANCH, head),
    ],
  ])("refuses %s and changes nothing", async (_, message, prepare) => {
    const lab = withResult({ "new.txt": "x\n", "dir/b.txt": "by a task\n" });
    prepare(lab);
    git(lab.repo, "--no-optional-locks", "status");
    const before = observe(lab.repo);
    const allRefs = git(lab.repo, "for-each-ref");
    await expectFailure(merge(lab), "wrong_state", message);
    expect([observe(lab.repo), git(lab.repo, "for-each-ref")]).toEqual([before, allRefs]);
  });

  it("refuses an ignored file in the way and changes nothing", async () => {
    const lab = withResult({ ".gitignore": "*.log\n", "build/out.txt": "by a task\n" });
    write(lab.repo, { "build/out.txt": "mine\n" });
    const before = observe(lab.repo);
    await expectFailure(merge(lab), "wrong_state", /would be overwritten: build\/out\.txt\./);
    expect(observe(lab.repo)).toEqual(before);
  });

  it("leaves the branch where it was if a filter fails halfway, and names the changed files", async () => {
    const lab = withResult({ ".gitattributes": "*.slow filter=broken\n", "a.txt": "changed\n", "z.slow": "x\n" });
    git(lab.repo, "config", "filter.broken.smudge", "false");
    git(lab.repo, "config", "filter.broken.required", "true");
    await expectFailure(
      merge(lab),
      "git_failed",
      /smudge filter broken failed.* left changes: a\.txt\. If you changed none/,
    );
    expect(git(lab.repo, "rev-parse", "HEAD")).toBe(lab.head);
    git(lab.repo, "restore", ".");
    expect(git(lab.repo, "status", "--porcelain", "--untracked-files=no")).toBe("");
  });

  it("completes when the process that ordered it is killed in the middle", async () => {
    const lab = withResult({ ".gitattributes": "*.slow filter=slow\n", "a.txt": "changed\n", "b.slow": "slow\n" });
    const [started, gate] = [join(lab.top, "started"), join(lab.top, "gate")];
    const smudge = `touch '${started}'; until [ -e '${gate}' ]; do sleep 0.02; done; cat`;
    git(lab.repo, "config", "filter.slow.smudge", `sh -c "${smudge}"`);
    const program = fileURLToPath(new URL("./merging-process.ts", import.meta.url));
    const child = spawn(process.execPath, [program, lab.repo, lab.folder, RUN, lab.result], { stdio: "inherit" });
    await expect.poll(() => existsSync(started)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(git(lab.repo, "rev-parse", "HEAD")).toBe(lab.head);
    await expectFailure(merge(lab), "wrong_state", /Another git works in/);
    writeFileSync(gate, "");
    await expect.poll(() => git(lab.repo, "rev-parse", "HEAD")).toBe(lab.result);
    expect(await merge(lab)).toEqual({ branch: "main", from: lab.result, to: lab.result });
    expect(git(lab.repo, "status", "--porcelain")).toBe("");
  });
});

describe("dropping the branch of a run", () => {
  it("keeps its commit and the refs of attempts", async () => {
    const lab = withResult();
    git(lab.repo, "update-ref", attemptRef(), lab.result);
    const before = observe(lab.repo);
    expect(await lab.workspaces.dropBranch(lab.repo, RUN)).toBe(lab.result);
    expect(refs(lab.repo, "refs/heads")).toEqual(["refs/heads/main"]);
    expect(refs(lab.repo, "refs/tutti")).toEqual([
      `refs/tutti/${RUN}/dropped/${lab.result.slice(0, 12)}`,
      attemptRef(),
    ]);
    expect(git(lab.repo, "rev-parse", refs(lab.repo, "refs/tutti")[0]!)).toBe(lab.result);
    expect(await lab.workspaces.dropBranch(lab.repo, RUN)).toBeNull();
    expect(observe(lab.repo)).toEqual(before);
  });

  it("is refused while the branch is checked out", async () => {
    const lab = withResult();
    const linked = join(lab.top, "linked");
    git(lab.repo, "worktree", "add", "--quiet", linked, BRANCH);
    await expectFailure(lab.workspaces.dropBranch(lab.repo, RUN), "wrong_state", /is checked out in .*linked/);
    expect(git(lab.repo, "rev-parse", BRANCH)).toBe(lab.result);
  });
});
