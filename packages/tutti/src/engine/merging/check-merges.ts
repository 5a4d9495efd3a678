import { sandboxOf } from "../choose-sandbox.ts";
import { prepareWorkspace } from "../sessions/prepare-workspace.ts";
import { commandsToCheck, runChecks, type CheckRunner } from "../sessions/run-checks.ts";
import { pendingMerge } from "./merge-work.ts";
import type { Report } from "../../run/command.ts";
import { TuttiError } from "../../schema/error.ts";
import type { CheckedCommand } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { WorkspaceKey, Workspaces } from "../../workspace/workspace.ts";
import type { World } from "../../world.ts";

interface CheckedMerges {
  /** The tasks that may be merged, in this order. */
  accepted: string[];
  rejected: Extract<Report, { type: "mergeRejected" }> | null;
}

interface MergeCheckOptions {
  workspaces: Workspaces;
  checks: CheckRunner;
  world: World;
  signal: AbortSignal;
  report(report: Report): Promise<unknown>;
}

/** A name that no task can have. */
const FOLDER = "merge queue";

/**
 * Combines the work of `taskIds` with `head` one by one, without moving the run's branch, and runs the commands of the template
 * in the last of these trees. If they fail, a bisection finds the first tree in which they do, and so the task. It costs one
 * check if all is well, however many tasks wait. Returns null if `signal` is aborted.
 */
export async function checkMerges(
  run: Run,
  head: string,
  taskIds: readonly string[],
  options: MergeCheckOptions,
): Promise<CheckedMerges | null> {
  const { workspaces } = options;
  const key = { runId: run.id, name: FOLDER, attempt: 1 };
  const { path } = await prepareWorkspace(run, key, head, true, options);
  try {
    const commands = await commandsToCheck(run.template.phases.aggregation.commands, path, options.checks);
    if (commands.length === 0) return { accepted: [...taskIds], rejected: null };
    const sandbox = await sandboxOf(run, key, workspaces);
    const commits = await combinations(run, head, taskIds, workspaces);
    const failures = async (count: number): Promise<CheckedCommand[] | null> => {
      const commit = commits[count]!;
      await workspaces.move(run.cwd, key, commit, { discard: true });
      const done = await runChecks(commands, { ...options, cwd: path, runId: run.id, sandbox });
      if (done === null) return null;
      await options.report({ type: "mergeChecked", tasks: taskIds.slice(0, count), commit, commands: done });
      return done.filter(({ exitCode }) => exitCode !== 0);
    };
    return await bisect(run, taskIds, commits, failures);
  } finally {
    await cleanUp(run, key, head, workspaces);
  }
}

/** The first commit is `head`. Each following one adds the work of the next of `taskIds`. */
async function combinations(
  run: Run,
  head: string,
  taskIds: readonly string[],
  workspaces: Workspaces,
): Promise<string[]> {
  const commits = [head];
  for (const taskId of taskIds) {
    const { commit, message, favour } = pendingMerge(run, run.workers[taskId]!);
    const merge = await workspaces.combine(run.cwd, run.id, commits.at(-1)!, [commit], message, favour);
    if (!merge.ok)
      throw new TuttiError("workspace_failed", `The work of ${taskId} could not be merged. Retry the task.`);
    commits.push(merge.commit);
  }
  return commits;
}

async function bisect(
  run: Run,
  taskIds: readonly string[],
  commits: readonly string[],
  failures: (count: number) => Promise<CheckedCommand[] | null>,
): Promise<CheckedMerges | null> {
  let good = 0;
  let bad = taskIds.length;
  let failed = await failures(bad);
  if (failed === null) return null;
  if (failed.length === 0) return { accepted: [...taskIds], rejected: null };
  while (bad - good > 1) {
    const middle = good + Math.floor((bad - good) / 2);
    const found = await failures(middle);
    if (found === null) return null;
    if (found.length === 0) good = middle;
    else [bad, failed] = [middle, found];
  }
  if (good === 0) {
    // A task is to blame only if the branch passes without it.
    const before = await failures(0);
    if (before === null) return null;
    if (before.length > 0) return { accepted: [...taskIds], rejected: null };
  }
  const taskId = taskIds[bad - 1]!;
  const { commit } = run.workers[taskId]!;
  const trees = { head: commits[good]!, start: commits[bad]! };
  return {
    accepted: taskIds.slice(0, good),
    rejected: { type: "mergeRejected", taskId, commit: commit!, ...trees, commands: failed },
  };
}

/** The files that commands have left are no work, so no ref keeps them. */
async function cleanUp(run: Run, key: WorkspaceKey, head: string, workspaces: Workspaces): Promise<void> {
  await workspaces.move(run.cwd, key, head, { discard: true });
  await workspaces.remove(run.cwd, key);
}
