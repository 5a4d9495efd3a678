import { sandboxOf } from "../choose-sandbox.ts";
import { runChecks, type CheckRunner } from "./run-checks.ts";
import { workerOf } from "../../run/lookup.ts";
import { sparseScope } from "../../run/plan/sparse-scope.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";
import type { PreparedWorkspace, WorkspaceKey, Workspaces } from "../../workspace/workspace.ts";
import type { World } from "../../world.ts";

interface PreparationOptions {
  workspaces: Workspaces;
  checks: CheckRunner;
  world: World;
  signal: AbortSignal;
}

/** Returns null for the main session, which needs all files: `sparseScope` limits only workers. */
const workerOfKey = (run: Run, { name, attempt }: WorkspaceKey): Worker | null => {
  const worker = workerOf(run, name);
  return worker?.attempt === attempt ? worker : null;
};

/** `MAX_OUTPUT` is in characters. */
const MAX_OUTPUT = 1000;

/** With `isNew`, the `setup` commands of the template run, again after a crash. */
export async function prepareWorkspace(
  run: Run,
  key: WorkspaceKey,
  start: string,
  isNew: boolean,
  options: PreparationOptions,
): Promise<PreparedWorkspace> {
  const { setup = [], copy, link } = run.template.workspace ?? {};
  const only = sparseScope(run, workerOfKey(run, key));
  const prepared = await options.workspaces.prepare(run.cwd, key, start, { copy, link, only });
  if (!isNew || setup.length === 0) return prepared;
  const sandbox = await sandboxOf(run, key, options.workspaces);
  for (const command of setup) {
    const done = await runChecks([command], { ...options, cwd: prepared.path, runId: run.id, sandbox });
    if (done === null) break;
    const { exitCode, output } = done[0]!;
    if (exitCode === 0) continue;
    const message = `The set-up command "${command.name}" failed with exit code ${exitCode}. Correct it in the template, then retry. The end of its output: ${output.slice(-MAX_OUTPUT)}`;
    throw new TuttiError("setup_failed", message);
  }
  return prepared;
}
