// Measures workspaces: their cost in a repository of 20,000 files, how many are made in a second, merges and trial merges of
// small branches, and the way from one task's answer to the next one's.
// Run: npm run bench -- workspaces
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import type { Workspaces } from "../../src/workspace/workspace.ts";
import { EngineLab, untilOver } from "../../test/engine/engine-lab.ts";
import { goodWorker, mainSession } from "../../test/lab/scenarios.ts";
import { median } from "../protocol/compare.ts";

const FOLDERS = 200;
const FILES_PER_FOLDER = 100;
const SMALL = 20;
const ROUNDS = 3;
const BRANCHES = 50;
const CHAIN = 10;
const RUN = "run";

const folder = mkdtempSync(join(tmpdir(), "tutti-workspaces-"));
const git = (cwd: string, args: string[], input?: string): string =>
  execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
    ...(input && { input }),
  }).trim();

/** Makes a repository with one commit, without a work tree of its own. */
function makeRepository(name: string, folders: number, filesPerFolder: number): string {
  const repo = join(folder, name);
  mkdirSync(repo);
  git(repo, ["init", "--quiet", "--initial-branch=main"]);
  for (const setting of ["user.name", "user.email"]) git(repo, ["config", setting, "bench@localhost"]);
  const content = "one line of text\n".repeat(60);
  const files = Array.from({ length: folders * filesPerFolder }, (_, i) => {
    const path = `part-${Math.floor(i / filesPerFolder)}/file-${i}.txt`;
    return `M 644 inline ${path}\ndata ${content.length}\n${content}`;
  });
  const head = "commit refs/heads/main\ncommitter Bench <bench@localhost> 0 +0000\ndata 1\nx";
  git(repo, ["fast-import", "--quiet"], `${head}\n${files.join("\n")}\n`);
  return repo;
}

async function timed(task: () => unknown): Promise<number> {
  const began = performance.now();
  await task();
  return performance.now() - began;
}

const print = (name: string, value: string): void => console.log(`  ${name.padEnd(58)} ${value}`);
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
const keyOf = (name: string, attempt = 1) => ({ runId: RUN, name, attempt });

async function measureLargeRepository(workspaces: Workspaces): Promise<void> {
  const repo = makeRepository("large", FOLDERS, FILES_PER_FOLDER);
  const base = await timed(() => git(repo, ["worktree", "add", "--detach", join(folder, "by-git"), "main"]));
  const made: number[] = [];
  const taken: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const key = keyOf("sparse", round);
    made.push(await timed(() => workspaces.prepare(repo, key, "main", { only: ["part-7"] })));
    const { path } = await workspaces.prepare(repo, key, "main");
    writeFileSync(join(path, "part-7/new.txt"), "new\n");
    taken.push(await timed(() => workspaces.snapshot(repo, key, "main", "work")));
  }
  const aheads: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const key = keyOf("ahead", round);
    await workspaces.prepareAhead(repo, key, "main");
    aheads.push(await timed(() => workspaces.prepare(repo, key, `refs/tutti/${RUN}/sparse/${round}`)));
    await workspaces.remove(repo, key);
  }
  const compared = (values: number[]): string => `${ms(median(values))}, ${(median(values) / base).toFixed(3)} of it`;
  console.log(`\n${FOLDERS * FILES_PER_FOLDER} files, medians of ${ROUNDS} rounds`);
  print("git worktree add, once", ms(base));
  print(`a sparse workspace for a scope of ${FILES_PER_FOLDER} files`, compared(made));
  print("a snapshot of it", compared(taken));
  print("a workspace with all files that was made ahead", compared(aheads));
}

async function measureSmallRepository(workspaces: Workspaces): Promise<void> {
  const repo = makeRepository("small", 1, SMALL);
  const base = git(repo, ["rev-parse", "main"]);
  const names = Array.from({ length: BRANCHES }, (_, i) => `task-${i}`);
  const commits: string[] = [];
  const made = await timed(async () => {
    for (const name of names) await workspaces.prepare(repo, keyOf(name), base);
  });
  const byGit = await timed(() => {
    for (const name of names) git(repo, ["worktree", "add", "--detach", join(folder, `git-${name}`), base]);
  });
  for (const name of names) {
    const { path } = await workspaces.prepare(repo, keyOf(name), base);
    writeFileSync(join(path, `${name}.txt`), `${name}\n`);
    commits.push((await workspaces.snapshot(repo, keyOf(name), base, name)).commit);
  }
  const [first = "", ...others] = commits;
  const probed = await timed(async () => {
    for (const commit of others) await workspaces.combine(repo, RUN, first, [commit], "probe");
  });
  await workspaces.openBranch(repo, RUN, base);
  let head = base;
  const merged = await timed(async () => {
    for (const commit of commits) {
      const merge = await workspaces.integrate(repo, RUN, head, { commit, message: "merge", favour: "first" });
      if (merge.ok) head = merge.commit;
    }
  });
  console.log(`\n${BRANCHES} tasks in a repository of ${SMALL} files`);
  const perSecond = (time: number): string => ((BRANCHES * 1000) / time).toFixed(0);
  print("workspaces per second (git worktree add)", `${perSecond(made)} (${perSecond(byGit)})`);
  print("merges into the run's branch per second", perSecond(merged));
  print("trial merge of a pair", ms(probed / others.length));
}

/** The agents answer at once and in this process, so that only Tutti's own work is left. */
async function measureChain(): Promise<void> {
  const lab = new EngineLab();
  try {
    const engine = lab.open();
    const tasks = Array.from({ length: CHAIN + 1 }, (_, i) => ({
      id: `task-${i}`,
      dependencies: i === 0 ? [] : [`task-${i - 1}`],
    }));
    const agent = lab.scenario([...mainSession(tasks), goodWorker]);
    const { workers } = await untilOver(engine, await lab.begin(engine, agent, { config: { autoSpawn: true } }));
    const started = tasks.map(({ id }) => workers[id]!.session.turn?.startedAt ?? workers[id]!.startedAt!);
    const waits = started.slice(1).map((at, i) => at - workers[`task-${i}`]!.completedAt!);
    const whole = (workers[`task-${CHAIN}`]!.completedAt! - started[0]!) / (CHAIN + 1);
    console.log(`\na chain of ${CHAIN + 1} tasks whose agents answer at once`);
    print("from a stored answer to the next task in its workspace", ms(median(waits)));
    print("per task: prompt, answer, snapshot, merge and the next workspace", ms(whole));
    await engine.close();
  } finally {
    lab.tearDown();
  }
}

const workspaces = createGitWorkspaces({ folder: join(folder, "workspaces") });
try {
  await measureLargeRepository(workspaces);
  await measureSmallRepository(workspaces);
  await measureChain();
} finally {
  await workspaces.close();
  rmSync(folder, { recursive: true, force: true });
}
