// Settings that name programs: those from before a run work, and those that an agent adds have no effect.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  attemptRef,
  canary,
  commitAll,
  commitOn,
  content,
  expectFailure,
  git,
  integrate,
  key,
  laboratory,
  RUN,
  write,
  type Laboratory,
} from "./laboratory.ts";

import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import { ChangedPrograms } from "../../src/workspace/guard/changed-programs.ts";
import { withEarlier } from "../../src/workspace/guard/pinned-settings.ts";
import { restoreFiles } from "../../src/workspace/kept/restore-files.ts";
import { locate } from "../../src/workspace/repository.ts";

const UPPER = "tr a-z A-Z";

const filterX = (program: string): string => `[filter "x"]\nclean = ${program}\nsmudge = ${program}\n`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Takes a snapshot in another process, which does not remember the settings. */
function snapshotElsewhere(lab: Laboratory & { head: string }): { commit?: string; code?: string; message?: string } {
  const script = `
    const { createGitWorkspaces } = await import(${JSON.stringify(join(import.meta.dirname, "../../src/workspace/git-workspaces.ts"))});
    const [folder, repo, key, head] = process.argv.slice(1);
    const taken = createGitWorkspaces({ folder }).snapshot(repo, JSON.parse(key), head, "m");
    const result = await taken.catch(({ code, message }) => ({ code, message }));
    console.log(JSON.stringify(result));
    process.exit();`;
  const args = [lab.folder, lab.repo, JSON.stringify(key()), lab.head];
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", script, ...args], { encoding: "utf8" }),
  );
}

/** A repository whose attributes name the filter and the merge driver `x`, and a program that must not run. */
function withAttributes() {
  const lab = laboratory();
  write(lab.repo, { ".gitattributes": "*.txt filter=x merge=x\n" });
  const head = commitAll(lab.repo, "attributes");
  return { ...lab, head, ...canary(lab.top) };
}

/** Every operation that reads files or merges. `other` is the work of another task. */
async function wholeCycle(lab: Laboratory, other: string): Promise<string> {
  const { workspaces, repo, head } = lab;
  await workspaces.openBranch(repo, RUN, head);
  const { commit } = await workspaces.snapshot(repo, key(), head, "m");
  await workspaces.prepare(repo, key("next"), commit);
  await workspaces.combine(repo, RUN, head, [other, commit], "m");
  await integrate(lab, other, "m", "last");
  await integrate(lab, commit, "m", "last");
  await workspaces.move(repo, key(), other);
  await workspaces.release(repo, RUN);
  return commit;
}

describe("a program that an agent adds to the configuration", () => {
  const plants: [string, (lab: Laboratory, program: string) => void][] = [
    [
      "as a filter",
      ({ repo }, program) => {
        for (const part of ["clean", "smudge"]) git(repo, "config", `filter.x.${part}`, program);
        git(repo, "config", "filter.x.required", "true");
      },
    ],
    [
      "as the process of a filter",
      ({ repo }, program) => {
        git(repo, "config", "filter.x.process", program);
        git(repo, "config", "filter.x.required", "true");
      },
    ],
    ["as a merge driver", ({ repo }, program) => void git(repo, "config", "merge.x.driver", program)],
    [
      "in an included file",
      ({ repo, top }, program) => {
        git(repo, "config", "include.path", join(top, "included"));
        git(top, "config", "--file", "included", "filter.x.clean", program);
      },
    ],
    [
      "in the configuration of a worktree",
      ({ repo }, program) => {
        git(repo, "config", "extensions.worktreeConfig", "true");
        git(repo, "config", "--worktree", "filter.x.clean", program);
        git(repo, "config", "--worktree", "merge.x.driver", program);
      },
    ],
  ];

  it.each(plants)("%s is not run by Tutti", async (_, plant) => {
    const lab = withAttributes();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    const other = commitOn(lab, lab.head, { "a.txt": "one\nother\n", "b.txt": "b" });
    plant(lab, lab.program);
    write(path, { "a.txt": "mine\none\n", "work.txt": "w" });
    const commit = await wholeCycle(lab, other);
    expect(lab.wasRun()).toBe(false);
    expect(content(lab.repo, commit, "work.txt")).toBe("w");
  });

  it("as a merge driver leaves the merge to git, with its conflicts", async () => {
    const lab = withAttributes();
    await lab.workspaces.openBranch(lab.repo, RUN, lab.head);
    git(lab.repo, "config", "merge.x.driver", "true");
    write(lab.repo, { "long.txt": "1\n2\n3\n4\n5\n" });
    const head = commitAll(lab.repo, "long");
    const one = commitOn(lab, head, { "long.txt": "one\n2\n3\n4\n5\n" });
    const two = commitOn(lab, head, { "long.txt": "1\n2\n3\n4\nfive\n" });
    const clash = commitOn(lab, head, { "long.txt": "clash\n2\n3\n4\n5\n" });
    const merged = await lab.workspaces.combine(lab.repo, RUN, head, [one, two], "m");
    if (!merged.ok) throw new Error("conflict");
    expect(content(lab.repo, merged.commit, "long.txt")).toBe("one\n2\n3\n4\nfive");
    expect(await lab.workspaces.combine(lab.repo, RUN, head, [one, clash], "m")).toEqual({
      ok: false,
      files: ["long.txt"],
    });
  });

  it("is not run by an engine that continues the run", async () => {
    const lab = withAttributes();
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "filter.x.clean", lab.program);
    write(path, { "work.txt": "w" });
    const { commit } = snapshotElsewhere(lab);
    expect([lab.wasRun(), content(lab.repo, commit!, "work.txt")]).toEqual([false, "w"]);
  });

  it("cannot be accepted by damaging the stored settings", async () => {
    const lab = withAttributes();
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    writeFileSync(join(lab.folder, RUN, "settings.json"), "{}");
    expect(snapshotElsewhere(lab)).toMatchObject({
      code: "workspace_failed",
      message: expect.stringMatching(/settings\.json" are damaged\. Check the filters/),
    });
  });

  it("is not used by later runs until the user agrees to it, and the earlier program still is", async () => {
    const lab = withAttributes();
    git(lab.repo, "config", "filter.x.clean", UPPER);
    const dataFolder = join(lab.top, "data");
    mkdirSync(dataFolder);
    const open = () => createGitWorkspaces({ folder: lab.folder, dataFolder });
    const workspaces = open();
    const take = async (runId: string, name: string, by = workspaces) => {
      const at = { ...key(), runId };
      const { path } = await by.prepare(lab.repo, at, lab.head);
      write(path, { [name]: "work" });
      const { commit } = await by.snapshot(lab.repo, at, lab.head, "m");
      return content(lab.repo, commit, name);
    };
    await workspaces.prepare(lab.repo, key(), lab.head);
    expect(await workspaces.locate(lab.repo)).not.toHaveProperty("programs");
    git(lab.repo, "config", "filter.x.clean", "tr k K");
    git(lab.repo, "config", "filter.x.smudge", lab.program);
    const programs = [
      ["filter.x.clean", "tr k K"],
      ["filter.x.smudge", lab.program],
    ];
    // The run that was open at the time of the change, its repetition, and a run of the next engine.
    expect(await take(RUN, "open.txt")).toBe("WORK");
    expect((await workspaces.locate(lab.repo)).programs).toEqual(programs);
    await workspaces.release(lab.repo, RUN);
    expect(await take(RUN, "again.txt")).toBe("WORK");
    const next = open();
    expect((await next.locate(lab.repo)).programs).toEqual(programs);
    expect(await take("orch_second", "next.txt", next)).toBe("WORK");
    for (const runId of [RUN, "orch_second"]) await next.release(lab.repo, runId);
    expect(lab.wasRun()).toBe(false);
    await next.acceptPrograms(lab.repo);
    expect(await next.locate(lab.repo)).not.toHaveProperty("programs");
    expect(await take("orch_third", "third.txt", next)).toBe("worK");
    writeFileSync(join(dataFolder, "changed-programs.json"), "{");
    await expectFailure(
      next.locate(lab.repo),
      "storage_failed",
      /changed-programs\.json" cannot be read\. Check the fil/,
    );
  });

  it("keeps results of all runs from being merged, and is not run when a run starts or work is restored", async () => {
    const lab = withAttributes();
    const dataFolder = join(lab.top, "data");
    mkdirSync(dataFolder);
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    const result = commitOn(lab, lab.head, { "new.txt": "by a task\n" });
    const start = async (runId: string) => {
      await workspaces.openBranch(lab.repo, runId, lab.head);
      await workspaces.integrate(lab.repo, runId, lab.head, { commit: result, message: "m" });
      return git(lab.repo, "rev-parse", `tutti/${runId}`);
    };
    const earlier = await start("orch_earlier");
    await workspaces.release(lab.repo, "orch_earlier");
    await workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "filter.x.smudge", lab.program);
    git(lab.repo, "config", "filter.x.clean", lab.program);
    const merge = () => workspaces.mergeResult(lab.repo, "orch_earlier", earlier, { noFf: false, message: "m" });
    const refusal = /While a run worked, the setting "filter\.x\.\w+" .* merge with "git merge tutti\/orch_earlier"/;
    // While the run is open, and after it.
    await expectFailure(merge(), "wrong_state", refusal);
    await workspaces.release(lab.repo, RUN);
    await expectFailure(merge(), "wrong_state", refusal);
    // Git compares a file whose times changed, and would start the filter for it.
    write(lab.repo, { "a.txt": "changed\n" });
    expect(await workspaces.inspect(lab.repo)).toMatchObject({ dirty: true });
    const opened = await locate(lab.repo);
    const restoring = await withEarlier(opened, new ChangedPrograms(dataFolder).of(opened));
    await restoreFiles(restoring, result, join(lab.top, "restored"));
    expect(lab.wasRun()).toBe(false);
    write(lab.repo, { "a.txt": "one\n" });
    for (const part of ["smudge", "clean"]) git(lab.repo, "config", "--unset", `filter.x.${part}`);
    expect(await merge()).toMatchObject({ to: earlier });
  });

  it("in the configuration of the user's own worktree keeps results from being merged, and is not run there", async () => {
    const lab = withAttributes();
    const dataFolder = join(lab.top, "data");
    mkdirSync(dataFolder);
    const mine = join(lab.top, "mine");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "mine", mine);
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    const result = commitOn(lab, lab.head, { "new.txt": "by a task\n" });
    await workspaces.openBranch(mine, "orch_earlier", lab.head);
    const { commit: earlier } = (await workspaces.integrate(mine, "orch_earlier", lab.head, {
      commit: result,
      message: "m",
    })) as { commit: string };
    await workspaces.release(mine, "orch_earlier");
    await workspaces.prepare(mine, key(), lab.head);
    git(lab.repo, "config", "extensions.worktreeConfig", "true");
    for (const part of ["smudge", "clean"]) git(mine, "config", "--worktree", `filter.x.${part}`, lab.program);
    await workspaces.release(mine, RUN);
    const merge = () => workspaces.mergeResult(mine, "orch_earlier", earlier, { noFf: false, message: "m" });
    await expectFailure(merge(), "wrong_state", /While a run worked, the setting "filter\.x\.\w+"/);
    write(mine, { "a.txt": "changed\n" });
    expect(await workspaces.inspect(mine)).toMatchObject({ dirty: true });
    expect(lab.wasRun()).toBe(false);
    write(mine, { "a.txt": "one\n" });
    for (const part of ["smudge", "clean"]) git(mine, "config", "--worktree", "--unset", `filter.x.${part}`);
    expect(await merge()).toMatchObject({ to: earlier });
  });

  const hidden: [string, (mine: string, lab: ReturnType<typeof withAttributes>) => void][] = [
    [
      "in the configuration of another worktree",
      (mine, { repo, program }) => {
        git(repo, "config", "extensions.worktreeConfig", "true");
        for (const part of ["smudge", "clean"]) git(mine, "config", "--worktree", `filter.x.${part}`, program);
      },
    ],
    [
      "in a file that only the configuration of another worktree includes",
      (mine, { repo, top, program }) => {
        git(repo, "config", "extensions.worktreeConfig", "true");
        git(mine, "config", "--worktree", "include.path", join(top, "included"));
        for (const part of ["smudge", "clean"]) git(top, "config", "--file", "included", `filter.x.${part}`, program);
      },
    ],
    [
      "in a file that the repository includes for another worktree only",
      (_, { repo, top, program }) => {
        git(repo, "config", "includeIf.gitdir:**/worktrees/mine.path", join(top, "included"));
        for (const part of ["smudge", "clean"]) git(top, "config", "--file", "included", `filter.x.${part}`, program);
      },
    ],
    [
      "in a file that the user's own configuration includes for another worktree only",
      (_, { top, program }) => {
        git(top, "config", "--global", "includeIf.gitdir:**/worktrees/mine.path", "~/included");
        for (const part of ["smudge", "clean"])
          git(top, "config", "--file", join(process.env["HOME"]!, "included"), `filter.x.${part}`, program);
      },
    ],
  ];

  it.each(hidden)("%s is not run there by a later run, before the user agrees to it", async (_, plant) => {
    const lab = withAttributes();
    const [dataFolder, home, mine] = ["data", "home", "mine"].map((name) => join(lab.top, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(dataFolder);
    mkdirSync(home);
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_CONFIG_HOME", "");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "mine", mine);
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    await workspaces.prepare(lab.repo, key(), lab.head);
    plant(mine, lab);
    expect(git(mine, "config", "filter.x.clean")).toBe(lab.program);
    // Also not while this run goes on.
    await workspaces.prepare(lab.repo, key("next"), lab.head);
    await workspaces.release(lab.repo, RUN);
    write(mine, { "a.txt": "changed\n" });
    expect(await workspaces.inspect(mine)).toMatchObject({ dirty: true });
    const programs = ["clean", "smudge"].map((part) => [`filter.x.${part}`, lab.program]);
    // The includes are listed, too.
    const filtersIn = async (cwd: string) =>
      ((await workspaces.locate(cwd)).programs ?? []).filter(([name]) => name.startsWith("filter."));
    const listed = await filtersIn(mine);
    expect(listed.toSorted(([a], [b]) => a.localeCompare(b))).toEqual(programs);
    const second = { ...key(), runId: "orch_second" };
    const { path } = await workspaces.prepare(mine, second, lab.head);
    write(path, { "work.txt": "w" });
    await workspaces.snapshot(mine, second, lab.head, "m");
    await workspaces.release(mine, "orch_second");
    expect(lab.wasRun()).toBe(false);
    // The user agrees to settings of one worktree, without seeing those of another.
    expect(await filtersIn(lab.repo)).toEqual([]);
    await workspaces.acceptPrograms(lab.repo);
    expect(await filtersIn(mine)).toHaveLength(2);
    await workspaces.acceptPrograms(mine);
    expect(await workspaces.locate(mine)).not.toHaveProperty("programs");
  });

  it("in the user's own configuration is not run in another repository, before the user agrees to it", async () => {
    const [lab, other] = [withAttributes(), withAttributes()];
    const [dataFolder, home] = ["data", "home"].map((name) => join(lab.top, name)) as [string, string];
    mkdirSync(dataFolder);
    mkdirSync(home);
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_CONFIG_HOME", "");
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    await workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "--global", "filter.x.clean", lab.program);
    git(lab.repo, "config", "filter.local.clean", "cat");
    git(other.repo, "config", "filter.local.clean", "cat");
    const programs = [["filter.x.clean", lab.program]];
    // While the run is open, and after it.
    expect((await workspaces.locate(other.repo)).programs).toEqual(programs);
    await workspaces.release(lab.repo, RUN);
    expect((await workspaces.locate(other.repo)).programs).toEqual(programs);
    write(other.repo, { "a.txt": "changed\n" });
    await workspaces.inspect(other.repo);
    expect(lab.wasRun()).toBe(false);
    await workspaces.acceptPrograms(other.repo);
    expect(await workspaces.locate(other.repo)).not.toHaveProperty("programs");
    const remaining = (await workspaces.locate(lab.repo)).programs!.map(([name]) => name);
    expect(remaining.toSorted()).toEqual(["filter.local.clean", "filter.x.clean"]);
  });

  it("in the user's own configuration needs consent also after that to another value in one repository", async () => {
    const [lab, mine, other] = [withAttributes(), withAttributes(), withAttributes()];
    const [dataFolder, home] = ["data", "home"].map((name) => join(lab.top, name)) as [string, string];
    mkdirSync(dataFolder);
    mkdirSync(home);
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_CONFIG_HOME", "");
    git(mine.repo, "config", "filter.x.clean", "cat");
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    await workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "--global", "filter.x.clean", lab.program);
    await workspaces.release(lab.repo, RUN);
    // This repository has a value of its own, which the user accepts once.
    await workspaces.acceptPrograms(mine.repo);
    expect(await workspaces.locate(mine.repo)).not.toHaveProperty("programs");
    const programs = [["filter.x.clean", lab.program]];
    expect((await workspaces.locate(other.repo)).programs).toEqual(programs);
    git(mine.repo, "config", "--unset", "filter.x.clean");
    expect((await workspaces.locate(mine.repo)).programs).toEqual(programs);
  });

  const NESTED = "[include]\npath = more.cfg\n";
  const included: [string, string, (program: string) => Record<string, string>][] = [
    ["a file that appears after the include", "include.path", (program) => ({ "tools.cfg": filterX(program) })],
    [
      "a file that such a file includes",
      "include.path",
      (program) => ({ "tools.cfg": NESTED, "more.cfg": filterX(program) }),
    ],
    [
      "a file that appears after the conditional include",
      "includeif.gitdir:**/.git.path",
      (program) => ({ "tools.cfg": filterX(program) }),
    ],
  ];

  it.each(included)("in %s is not run before the user agrees to the include", async (_, name, filesOf) => {
    const lab = withAttributes();
    const dataFolder = join(lab.top, "data");
    mkdirSync(dataFolder);
    git(lab.repo, "config", "filter.old.clean", UPPER);
    write(lab.repo, { "own.cfg": `[filter "own"]\nclean = ${UPPER}\n` });
    git(lab.repo, "config", "include.path", "../own.cfg");
    const head = commitAll(lab.repo, "own");
    const open = () => createGitWorkspaces({ folder: lab.folder, dataFolder });
    const workspaces = open();
    const { path } = await workspaces.prepare(lab.repo, key(), head);
    git(lab.repo, "config", "--add", name, "../tools.cfg");
    const include = [name, "../tools.cfg"];
    const programs = [["filter.x.clean", lab.program], ["filter.x.smudge", lab.program], include];
    expect((await workspaces.locate(lab.repo)).programs).toEqual([include]);
    write(path, { ...filesOf(lab.program), "new.txt": "by a task\n" });
    const { commit } = await workspaces.snapshot(lab.repo, key(), head, "m");
    await workspaces.release(lab.repo, RUN);
    // Git itself runs no program here, because the settings do not exist when it starts.
    git(lab.repo, "merge", "--quiet", commit);
    expect([git(lab.repo, "config", "filter.x.smudge"), lab.wasRun()]).toEqual([lab.program, false]);

    const next = open();
    expect((await next.locate(lab.repo)).programs).toEqual(programs);
    write(lab.repo, { "a.txt": "changed\n" });
    expect(await next.inspect(lab.repo)).toMatchObject({ dirty: true });
    const take = async (runId: string) => {
      const at = { ...key(), runId };
      const second = await next.prepare(lab.repo, at, commit);
      write(second.path, { "work.txt": "w" });
      await next.snapshot(lab.repo, at, commit, "m");
      await next.release(lab.repo, runId);
    };
    await take("orch_second");
    expect(lab.wasRun()).toBe(false);

    // Without the include, there is nothing to agree to.
    git(lab.repo, "config", "--unset", name, "tools");
    expect(await next.locate(lab.repo)).not.toHaveProperty("programs");
    git(lab.repo, "config", "--add", name, "../tools.cfg");
    expect((await next.locate(lab.repo)).programs).toEqual(expect.arrayContaining(programs));
    await next.acceptPrograms(lab.repo);
    expect(await next.locate(lab.repo)).not.toHaveProperty("programs");
    await take("orch_third");
    expect(lab.wasRun()).toBe(true);
    expect(await next.locate(lab.repo)).not.toHaveProperty("programs");
  });

  it("in a file that appears after the include is not run in other repositories or folders of agents", async () => {
    const [lab, other] = [withAttributes(), withAttributes()];
    const [dataFolder, home] = ["data", "home"].map((name) => join(lab.top, name)) as [string, string];
    mkdirSync(dataFolder);
    mkdirSync(home);
    vi.stubEnv("HOME", home);
    vi.stubEnv("XDG_CONFIG_HOME", "");
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    await workspaces.prepare(lab.repo, key(), lab.head);
    // The text of this path is that of the file that contains the include, but git follows the link.
    mkdirSync(join(home, "to/dir"), { recursive: true });
    symlinkSync("to/dir", join(home, "link"));
    git(lab.repo, "config", "--global", "include.path", "link/../.gitconfig");
    git(lab.repo, "config", "includeIf.gitdir:**/worktrees/**.path", "../tools.cfg");
    await workspaces.release(lab.repo, RUN);
    write(home, { "to/.gitconfig": filterX(lab.program) });
    write(lab.repo, { "tools.cfg": `[filter "x"]\nclean = ${lab.program}\nprocess = ${lab.program}\n` });
    const shared = ["include.path", "link/../.gitconfig"];
    const programs = ["clean", "smudge"].map((part) => [`filter.x.${part}`, lab.program]);
    expect((await workspaces.locate(other.repo)).programs).toEqual([...programs, shared]);
    write(other.repo, { "a.txt": "changed\n" });
    await workspaces.inspect(other.repo);
    const second = { ...key(), runId: "orch_second" };
    const { path } = await workspaces.prepare(lab.repo, second, lab.head);
    await workspaces.prepare(lab.repo, { ...key("sparse"), runId: "orch_second" }, lab.head, { only: ["dir"] });
    expect(git(path, "config", "filter.x.process")).toBe(lab.program);
    write(path, { "work.txt": "w" });
    await workspaces.snapshot(lab.repo, second, lab.head, "m");
    await workspaces.release(lab.repo, "orch_second");
    expect(lab.wasRun()).toBe(false);
    await workspaces.acceptPrograms(other.repo);
    expect(await workspaces.locate(other.repo)).not.toHaveProperty("programs");
    const conditional = ["includeif.gitdir:**/worktrees/**.path", "../tools.cfg"];
    expect((await workspaces.locate(lab.repo)).programs).toEqual(expect.arrayContaining([conditional, shared]));
  });

  it("for the folders of agents only is not run in them", async () => {
    const lab = withAttributes();
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "includeIf.gitdir:**/worktrees/**.path", join(lab.top, "included"));
    for (const part of ["smudge", "clean"])
      git(lab.top, "config", "--file", "included", `filter.x.${part}`, lab.program);
    await lab.workspaces.prepare(lab.repo, key("next"), lab.head);
    await lab.workspaces.prepare(lab.repo, key("sparse"), lab.head, { only: ["dir"] });
    expect(lab.wasRun()).toBe(false);
  });

  it("is rejected if it would replace a filter of the project", async () => {
    const lab = withAttributes();
    git(lab.repo, "config", "filter.x.clean", UPPER);
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "filter.x.process", lab.program);
    write(path, { "work.txt": "w" });
    const snapshot = lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    await expectFailure(snapshot, "git_failed", /"filter\.x\.process" was added .* Remove it with "git config --unset/);
    expect(lab.wasRun()).toBe(false);
  });
});

describe("a program of the project", () => {
  it("in another worktree or for another folder only is not held against it", async () => {
    const lab = withAttributes();
    const mine = join(lab.top, "mine");
    git(lab.repo, "worktree", "add", "--quiet", "-b", "mine", mine);
    git(lab.repo, "config", "extensions.worktreeConfig", "true");
    git(mine, "config", "--worktree", "filter.x.clean", UPPER);
    git(lab.repo, "config", "includeIf.gitdir:**/elsewhere/**.path", join(lab.top, "included"));
    git(lab.top, "config", "--file", "included", "merge.x.driver", "true");
    const dataFolder = join(lab.top, "data");
    mkdirSync(dataFolder);
    const workspaces = createGitWorkspaces({ folder: lab.folder, dataFolder });
    await workspaces.prepare(lab.repo, key(), lab.head);
    git(lab.repo, "config", "user.name", "Someone");
    await workspaces.release(lab.repo, RUN);
    expect(await workspaces.locate(mine)).not.toHaveProperty("programs");
    const { path } = await workspaces.prepare(mine, key(), lab.head);
    write(path, { "work.txt": "work" });
    const { commit } = await workspaces.snapshot(mine, key(), lab.head, "m");
    expect(content(mine, commit, "work.txt")).toBe("WORK");
  });

  it("works during the run, even if an agent changes or removes its settings", async () => {
    const lab = withAttributes();
    git(lab.repo, "config", "filter.x.clean", UPPER);
    git(lab.repo, "config", "filter.x.smudge", "tr A-Z a-z");
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "work" });
    const first = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    expect(content(lab.repo, first.commit, "work.txt")).toBe("WORK");
    git(lab.repo, "config", "filter.x.clean", lab.program);
    git(lab.repo, "config", "--unset", "filter.x.smudge");
    write(path, { "more.txt": "more" });
    const { commit } = await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    expect(content(lab.repo, commit, "more.txt")).toBe("MORE");
    const next = await lab.workspaces.prepare(lab.repo, key("next"), commit);
    expect(readFileSync(join(next.path, "more.txt"), "utf8")).toBe("more");
    expect(lab.wasRun()).toBe(false);
  });

  it("that is set up between two runs counts in the second one", async () => {
    const lab = withAttributes();
    await lab.workspaces.prepare(lab.repo, key(), lab.head);
    await lab.workspaces.release(lab.repo, RUN);
    git(lab.repo, "config", "filter.x.clean", UPPER);
    const { path } = await lab.workspaces.prepare(lab.repo, key(), lab.head);
    write(path, { "work.txt": "work" });
    await lab.workspaces.snapshot(lab.repo, key(), lab.head, "m");
    expect(content(lab.repo, attemptRef(), "work.txt")).toBe("WORK");
    expect(existsSync(join(lab.folder, RUN, "settings.json"))).toBe(true);
  });
});

describe("a repository with a missing object", () => {
  it("is not completed from a remote, whose programs the repository names", async () => {
    const lab = laboratory();
    const { program, wasRun } = canary(lab.top);
    const blob = git(lab.repo, "rev-parse", "HEAD:a.txt");
    rmSync(join(lab.repo, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    mkdirSync(join(lab.top, "remote"));
    git(join(lab.top, "remote"), "init", "--quiet", "--bare");
    const settings = {
      "remote.origin.url": join(lab.top, "remote"),
      "remote.origin.uploadpack": program,
      "remote.origin.promisor": "true",
      "extensions.partialClone": "origin",
      "core.repositoryFormatVersion": "1",
    };
    for (const [name, value] of Object.entries(settings)) git(lab.repo, "config", name, value);
    writeFileSync(join(lab.repo, "a.txt"), "changed");
    await lab.workspaces.inspect(lab.repo);
    const prepared = lab.workspaces.prepare(lab.repo, key(), lab.head);
    await expectFailure(prepared, "git_failed", /Fetch the missing objects first, with "git fetch --refetch/);
    expect(wasRun()).toBe(false);
  });
});
