import { scopePath } from "./scopes.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** `WIDEN` adds a folder to a sparse workspace. The settings are not in the user's repository. */
export const WIDEN = "git -c core.sparseCheckout=true -c core.sparseCheckoutCone=true sparse-checkout add";

/**
 * Returns the paths that the workspace of `worker` needs. Empty if it needs all files: the task or the template names
 * no part, or an earlier `attempt` had too little with it.
 */
export function sparseScope({ template }: Run, worker: Worker | null): string[] {
  if (!template.workspace?.sparse || worker === null || worker.attempt > 1) return [];
  const paths = worker.task.scope.map((entry) => scopePath(entry).join("/"));
  return paths.includes("") ? [] : paths;
}
