// Attacks by an agent without a sandbox: it tries to make Tutti start a program or change the user's refs.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  attemptRef,
  canary,
  commitOn,
  content,
  git,
  integrate,
  key,
  laboratory,
  observe,
  refs,
  RUN,
  write,
} from "./laboratory.ts";
import type { Laboratory } from "./laboratory.ts";

/** Every operation on a workspace during and after an agent's work. */
async function wholeCycle(lab: Laboratory): Promise<void> {
  const { workspaces, repo, head } = lab;
  const to = commitOn(lab, head, { "to.txt": "t" });
  await workspaces.inspect(repo);
  await workspaces.prepare(repo, key("other"), head);
  const { commit } = await workspaces.snapshot(repo, key(), head, "m");
  await workspaces.combine(repo, RUN, head, [to, commit], "m");
  await workspaces.openBranch(repo, RUN, head);
  await integrate(lab, commit, "m");
  await workspaces.changedFiles(repo, head, commit);
  await workspaces.move(repo, key(), to);
  await workspaces.remove(repo, key());
  await workspaces.release(repo, RUN);
}

const NAMES_PROGRAM =
  /(?:command|cmd|program|editor|\.pager|helper|\.driver|\.clean|\.smudge|textconv|external|fsmonitor|askPass|gitProxy|hook|viewer|browser|receivepack|uploadpack|vcs)$(?<!color\.pager|cachetextconv|column\.clean|advice\..*)/i;

describe("Tutti does not run a program that an agent plants", () => {
  it("in a repository to which its rewritten .git file points", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const { program, wasRun } = canary(lab.top);
    const fake = join(lab.top, "fake");
    git(lab.top, "clone", "--quiet", lab.repo, fake);
    git(fake, "config", "core.fsmonitor", program);
    git(fake, "config", "core.worktree", path);
    rmSync(join(path, ".git"));
    writeFileSync(join(path, ".git"), `gitdir: ${join(fake, ".git")}\n`);
    write(path, { "work.txt": "w" });
    git(path, "status");
    expect(wasRun()).toBe(true);
    rmSync(join(lab.top, "canary-was-run"));
    await wholeCycle(lab);
    expect(wasRun()).toBe(false);
    expect(content(lab.repo, attemptRef(), "work.txt")).toBe("w");
  });

  it("in a .git folder that replaces the .git file", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const { program, wasRun } = canary(lab.top);
    rmSync(join(path, ".git"));
    git(path, "init", "--quiet");
    git(path, "config", "core.fsmonitor", program);
    write(path, { "work.txt": "w" });
    await wholeCycle(lab);
    expect(wasRun()).toBe(false);
    expect(content(lab.repo, attemptRef(), "work.txt")).toBe("w");
  });

  it("as a hook of the repository", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const { program, wasRun } = canary(lab.top);
    const hooks = join(lab.repo, ".git/hooks");
    mkdirSync(hooks, { recursive: true });
    const names = ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"];
    for (const name of [...names, "post-merge", "pre-auto-gc"]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\n'${program}'\n`);
      chmodSync(join(hooks, name), 0o755);
    }
    // Git has hooks in settings since 2.54; an earlier one ignores them.
    const events = [...names, "post-merge", "pre-auto-gc"].map((name) => `\tevent = ${name}\n`);
    appendFileSync(join(lab.repo, ".git/config"), `[hook "evil"]\n\tcommand = ${program}\n${events.join("")}`);
    write(path, { "work.txt": "w" });
    const to = lab.head;
    await lab.workspaces.snapshot(lab.repo, key(), to, "m");
    await lab.workspaces.prepare(lab.repo, key("other"), to);
    await lab.workspaces.move(lab.repo, key(), to);
    await lab.workspaces.release(lab.repo, RUN);
    expect(wasRun()).toBe(false);
  });

  it("as a setting of the repository", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const { program, wasRun } = canary(lab.top);
    // Every setting that git documents and that may name a program, so that a newer git brings its own.
    const names = git(lab.repo, "help", "--config")
      .split("\n")
      .filter((name) => NAMES_PROGRAM.test(name));
    expect(names.length).toBeGreaterThan(25);
    const settings = [...names, "gpg.ssh.program", "gpg.x509.program"].map((name) => {
      const [section, ...rest] = name.replaceAll(/<\w+>/g, "x").split(".");
      const part = rest.length > 1 ? ` "${rest[0]}"` : "";
      return `[${section}${part}]\n\t${rest.at(-1)} = ${program}\n`;
    });
    appendFileSync(join(lab.repo, ".git/config"), settings.join(""));
    expect(git(lab.repo, "config", "diff.x.textconv")).toBe(program);
    git(lab.repo, "config", "submodule.x.update", `!${program}`);
    git(lab.repo, "config", "commit.gpgsign", "true");
    git(lab.repo, "config", "log.showSignature", "true");
    git(lab.repo, "config", "core.hooksPath", lab.top);
    write(path, { "work.txt": "w", ".gitattributes": "* diff=x filter=x merge=x\n" });
    const { workspaces, repo, head } = lab;
    await workspaces.inspect(repo);
    const { commit } = await workspaces.snapshot(repo, key(), head, "m");
    await workspaces.openBranch(repo, RUN, head);
    await integrate(lab, commit, "m");
    await workspaces.prepare(repo, key("other"), head);
    await workspaces.move(repo, key(), head);
    await workspaces.release(repo, RUN);
    expect(wasRun()).toBe(false);
  });

  it("as a filter, driver or converter that attributes outside of every commit name", async () => {
    const lab = laboratory();
    const { workspaces, repo, head } = lab;
    const { path } = await workspaces.prepare(repo, key(), head);
    const other = commitOn(lab, head, { "a.txt": "other\n" });
    const { program, wasRun } = canary(lab.top);
    write(repo, { ".git/info/attributes": "* filter=x diff=x merge=x\n" });
    for (const name of ["filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.x.command", "merge.x.driver"])
      git(repo, "config", name, `${program}; cat #`);
    git(repo, "config", "diff.external", program);
    write(path, { "a.txt": "changed\n", "work.txt": "w" });
    // Plain git runs a filter even with the switches against hooks, file watchers, external diffs and converters.
    git(path, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "diff", "--no-ext-diff", "--no-textconv");
    expect(wasRun()).toBe(true);
    rmSync(join(lab.top, "canary-was-run"));
    await workspaces.saveWork(repo, key(), head, "m");
    const { commit, files } = await workspaces.snapshot(repo, key(), head, "m");
    await workspaces.findUnproven(repo, key(), { commit, files }, ["a.txt", "missing.txt"]);
    const diff = await workspaces.diff(repo, head, commit, {});
    expect(diff!.files.map(({ path: name }) => name)).toEqual(["a.txt", "work.txt"]);
    expect(await workspaces.readText(repo, commit, "a.txt")).toBe("changed\n");
    expect(await workspaces.changedFiles(repo, head, commit)).toEqual(files);
    await workspaces.changesSince(repo, null);
    await workspaces.adopt(repo, key("again"), head, commit, "m");
    expect(wasRun()).toBe(false);
    await workspaces.prepare(repo, key("other"), commit);
    await workspaces.openBranch(repo, RUN, head);
    await integrate(lab, other, "m", "last");
    await integrate(lab, commit, "m", "last");
    await workspaces.move(repo, key(), other);
    await workspaces.release(repo, RUN);
    expect(wasRun()).toBe(false);
  });

  it("in a nested repository or in a submodule's folder", async () => {
    const lab = laboratory();
    git(lab.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lab.repo, "sub");
    git(lab.repo, "commit", "--quiet", "-m", "submodule");
    const start = git(lab.repo, "rev-parse", "HEAD");
    const { path } = await lab.workspaces.prepare(lab.repo, key(), start);
    const { program, wasRun } = canary(lab.top);
    for (const name of ["nested", "sub"]) {
      git(lab.top, "clone", "--quiet", lab.repo, join(path, name));
      git(join(path, name), "checkout", "--quiet", lab.head);
      for (const setting of ["core.fsmonitor", "filter.x.clean", "core.pager"]) {
        git(join(path, name), "config", setting, program);
      }
      write(path, { [`${name}/.git/info/attributes`]: "* filter=x\n", [`${name}/a.txt`]: "eno\n" });
    }
    await lab.workspaces.snapshot(lab.repo, key(), start, "m");
    await lab.workspaces.move(lab.repo, key(), lab.head);
    await lab.workspaces.remove(lab.repo, key());
    expect(wasRun()).toBe(false);
  });
});

describe("an agent that rewrites its worktree's registration", () => {
  it.each(["", "/nowhere\n"])("with the repository path %j does not block other workspaces", async (target) => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "w" });
    const damage = (): void => writeFileSync(join(lab.repo, ".git/worktrees/task-1/commondir"), target);
    damage();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    expect(await integrate(lab, commit, "m")).toMatchObject({ ok: true });
    await lab.workspaces.prepare(lab.repo, key("other"), lab.head);
    expect(git(path, "status", "--porcelain")).toBe("?? work.txt");
    damage();
    await lab.workspaces.release(lab.repo, RUN);
    expect(existsSync(join(lab.repo, ".git/worktrees"))).toBe(false);
  });

  it("to name the user's folder does not cause its deletion", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const mine = join(lab.top, "mine");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "mine", mine);
    write(path, { "work.txt": "w" });
    writeFileSync(join(lab.repo, ".git/worktrees/task-1/gitdir"), `${join(mine, ".git")}\n`);
    await lab.workspaces.release(lab.repo, RUN);
    expect(existsSync(path)).toBe(false);
    expect(git(mine, "status", "--porcelain")).toBe("");
    expect(content(lab.repo, attemptRef(), "work.txt")).toBe("w");
  });
});

describe("an agent that tampers with refs", () => {
  it("by linking refs and its HEAD to the user's branch neither moves nor deletes the user's branch", async () => {
    const lab = laboratory();
    const to = commitOn(lab, lab.head, { "to.txt": "t" });
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const before = observe(lab.repo);
    git(path, "symbolic-ref", "HEAD", "refs/heads/main");
    git(lab.repo, "symbolic-ref", attemptRef(), "refs/heads/main");
    git(lab.repo, "symbolic-ref", `refs/heads/tutti/${RUN}`, "refs/heads/main");
    write(path, { "work.txt": "w" });
    await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    await lab.workspaces.move(lab.repo, key(), to);
    await integrate(lab, to, "m");
    await lab.workspaces.remove(lab.repo, key());
    git(lab.repo, "symbolic-ref", `refs/heads/agent/${RUN}/task/2`, "refs/heads/main");
    await lab.workspaces.release(lab.repo, RUN);
    expect(git(lab.repo, "rev-parse", "main")).toBe(lab.head);
    expect(observe(lab.repo)).toEqual(before);
    expect(refs(lab.repo, "refs/heads/agent")).toEqual([]);
  });

  it("by replacing a commit does not change the merge", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "one.txt": "1" });
    const two = commitOn(lab, lab.head, { "two.txt": "2" });
    const evil = commitOn(lab, lab.head, { "evil.txt": "e" });
    git(lab.repo, "replace", two, evil);
    const merged = await lab.workspaces.combine(lab.repo, RUN, one, [two], "m");
    git(lab.repo, "replace", "-d", two);
    if (!merged.ok) throw new Error("conflict");
    expect(await lab.workspaces.changedFiles(lab.repo, one, merged.commit)).toEqual(["two.txt"]);
  });

  it("by grafting the history does not change the merge", async () => {
    const lab = laboratory();
    const one = commitOn(lab, lab.head, { "one.txt": "1", "a.txt": "one\nmore\n" });
    const two = commitOn(lab, lab.head, { "two.txt": "2" });
    // With this history the merge would take `one` for something that `two` has reverted.
    writeFileSync(join(lab.repo, ".git/info/grafts"), `${two} ${one}\n`);
    const merged = await lab.workspaces.combine(lab.repo, RUN, one, [two], "m");
    if (!merged.ok) throw new Error("conflict");
    expect(await lab.workspaces.changedFiles(lab.repo, one, merged.commit)).toEqual(["two.txt"]);
    expect(content(lab.repo, merged.commit, "a.txt")).toBe("one\nmore");
  });

  it("by damaging its HEAD or index does not prevent the removal of its workspace", async () => {
    const lab = laboratory();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "w" });
    writeFileSync(join(lab.repo, ".git/worktrees/task-1/HEAD"), "nonsense\n");
    writeFileSync(join(lab.repo, ".git/worktrees/task-1/index"), "nonsense\n");
    write(lab.repo, { [`.git/${attemptRef()}`]: `${"1".repeat(40)}\n` });
    const { files } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    expect(files).toEqual(["work.txt"]);
    await lab.workspaces.remove(lab.repo, key());
    expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
    expect(content(lab.repo, attemptRef(), "work.txt")).toBe("w");
  });

  it.each(["file", "link"])(
    "by damaging its HEAD (as a %s) or index does not prevent moving its workspace",
    async (kind) => {
      const lab = laboratory();
      const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
      const head = join(lab.repo, ".git/worktrees/task-1/HEAD");
      const mine = join(lab.top, "mine.txt");
      writeFileSync(mine, "nonsense\n");
      rmSync(head);
      if (kind === "link") symlinkSync(mine, head);
      else copyFileSync(mine, head);
      writeFileSync(join(lab.repo, ".git/worktrees/task-1/index"), "nonsense\n");
      writeFileSync(join(lab.folder, RUN, "task-1.index"), "nonsense\n");
      const to = commitOn(lab, lab.head, { "to.txt": "t" });
      await lab.workspaces.move(lab.repo, key(), to);
      expect(git(path, "status", "--porcelain")).toBe("");
      expect(git(path, "rev-parse", "HEAD")).toBe(to);
      expect(readFileSync(mine, "utf8")).toBe("nonsense\n");
    },
  );

  it.each(["HEAD", "index", "logs/HEAD"])(
    "with a pipe or a link as %s of its worktree neither blocks Tutti nor changes the target of the link",
    async (name) => {
      const lab = laboratory();
      const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
      write(path, { "work.txt": "w" });
      const file = join(lab.repo, ".git/worktrees/task-1", name);
      const mine = join(lab.top, "mine.txt");
      writeFileSync(mine, "mine\n");
      const replace = (make: () => void) => {
        rmSync(file, { force: true });
        mkdirSync(dirname(file), { recursive: true });
        make();
      };
      replace(() => execFileSync("sh", ["-c", 'mkfifo "$0"', file]));
      expect((await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m")).files).toEqual(["work.txt"]);
      for (const content of ["one", "two"]) {
        const to = commitOn(lab, lab.head, { "to.txt": content });
        replace(() => (content === "one" ? execFileSync("sh", ["-c", 'mkfifo "$0"', file]) : symlinkSync(mine, file)));
        await lab.workspaces.move(lab.repo, key(), to);
        expect(git(path, "rev-parse", "HEAD")).toBe(to);
        expect(git(path, "status", "--porcelain")).toBe("");
      }
      expect(readFileSync(mine, "utf8")).toBe("mine\n");
      replace(() => execFileSync("sh", ["-c", 'mkfifo "$0"', file]));
      await lab.workspaces.remove(lab.repo, key());
      expect(git(lab.repo, "worktree", "list").split("\n")).toHaveLength(1);
    },
  );
});
