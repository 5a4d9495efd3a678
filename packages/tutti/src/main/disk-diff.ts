import { join, resolve } from "node:path";
import { readDiff, type DiffRequest } from "../engine/runs/read-diff.ts";
import type { ResultDiff } from "../schema/api/result-values.ts";
import type { Run } from "../schema/run.ts";
import { createGitWorkspaces } from "../workspace/git-workspaces.ts";

export async function diskDiff(dataDir: string, run: Run, options: DiffRequest): Promise<ResultDiff> {
  const dataFolder = resolve(dataDir);
  const workspaces = createGitWorkspaces({ folder: join(dataFolder, "worktrees"), dataFolder });
  try {
    return await readDiff(workspaces, run, options);
  } finally {
    await workspaces.close();
  }
}
