import { TuttiError } from "../../schema/error.ts";
import { runBranch } from "../../schema/ids.ts";
import { updateRef } from "../dialogue/ref-updates.ts";
import { hardenRef } from "../harden.ts";
import { readRef, shortHash, writeRef } from "../refs.ts";
import { checkoutsOf } from "../registry.ts";
import { sharedPart, type Repository } from "../repository.ts";
import type { RunPaths } from "../workspace-paths.ts";
import { branchRefOf } from "./find-result.ts";

/** Removes the run's branch and returns its commit, which `refPrefix` keeps reachable. Null if there is no branch. */
export async function dropBranch(repository: Repository, run: RunPaths, runId: string): Promise<string | null> {
  const ref = branchRefOf(runId);
  const commit = await readRef(repository, ref);
  if (commit === null) return null;
  const folders = await checkoutsOf(repository, ref);
  if (folders.length > 0) {
    const message = `The branch "${runBranch(runId)}" is checked out in ${folders.join(" and ")}. Check out another branch there.`;
    throw new TuttiError("wrong_state", message);
  }
  const kept = `${run.refPrefix}dropped/${shortHash(commit)}`;
  await writeRef(repository, kept, commit, await readRef(repository, kept), [commit]);
  await updateRef({ ref, commit: null, old: commit }, sharedPart(repository));
  await hardenRef(repository, ref);
  return commit;
}
