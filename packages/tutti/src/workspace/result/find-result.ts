import { runBranch } from "../../schema/ids.ts";
import { readRef } from "../refs.ts";
import { isAncestor, type Repository } from "../repository.ts";

export const branchRefOf = (runId: string): string => `refs/heads/${runBranch(runId)}`;

/** Returns the tip of the run's branch if the user has committed onto the result `head`, else `head`. */
export async function findResult(repository: Repository, runId: string, head: string): Promise<string> {
  const tip = await readRef(repository, branchRefOf(runId));
  return tip !== null && (await isAncestor(repository, head, tip)) ? tip : head;
}
