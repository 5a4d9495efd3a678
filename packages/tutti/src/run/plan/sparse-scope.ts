import { scopePath } from "./scopes.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** `WIDEN` adds a folder to a sparse workspace. The settings are not in the user's repository. */
export const WIDEN = "git -c core.sparseCheckout=true -c core.sparseCheckoutCone=true sparse-checkout add";

/**
 * Returns the paths of the repository that the workspace of `worker` needs: the scope of its task, else of the run, and
 * the files of an attempt that it reworks. Empty if it needs all files, because these or the template name no part.
 */
export function sparseScope({ template, scope: ofRun = [] }: Run, worker: Worker | null): string[] {
  if (!template.workspace?.sparse || worker === null) return [];
  const scope = worker.task.scope.length > 0 ? worker.task.scope : ofRun;
  if (scope.length === 0) return [];
  const paths = scope.map((entry) => scopePath(entry).join("/"));
  return paths.includes("") ? [] : [...paths, ...(worker.rework?.files ?? [])];
}
