// The refs below refs/tutti/RUN/NAME/ATTEMPT, which keep the work of attempts reachable after their workspaces are gone.
import { shortHash, writeRef } from "../refs.ts";
import { onRepository, type Repository } from "../repository.ts";
import { text } from "../git.ts";

export interface KeptRef {
  ref: string;
  /** The parts of the name: a run, a task id or `main`, and the number of an attempt with a suffix such as `-saved`. */
  run: string;
  name: string;
  attempt: string;
  commit: string;
  /** First line of the commit's message. */
  subject: string;
}

/** Part of the name of the ref that marks a run as removed. The run's data folder no longer knows it. */
const REMOVED = "removed";

export async function listKept(repository: Repository, runName?: string): Promise<KeptRef[]> {
  const args = ["for-each-ref", "--format=%(objectname) %(refname) %(contents:subject)"];
  const prefix = runName === undefined ? "refs/tutti/" : `refs/tutti/${runName}/`;
  const { stdout } = await onRepository(repository, "list kept work", [...args, prefix]);
  return [...text(stdout).matchAll(/^(\S+) (refs\/tutti\/([^/\s]+)\/([^/\s]+)\/(\S+)) (.*)$/gm)].map(
    ([, commit, ref, run, name, attempt, subject]) => ({
      ref: ref!,
      run: run!,
      name: name!,
      attempt: attempt!,
      commit: commit!,
      subject: subject!,
    }),
  );
}

export const isRemovalMark = ({ name }: KeptRef): boolean => name === REMOVED;

/** Lets `tutti gc` free the refs of a run although no log names the run any more. */
export async function markRemoved(repository: Repository, runName: string): Promise<void> {
  const kept = await listKept(repository, runName);
  const [first] = kept;
  if (!first || kept.some(isRemovalMark)) return;
  const mark = `refs/tutti/${runName}/${REMOVED}/${shortHash(first.commit)}`;
  await writeRef(repository, mark, first.commit, null, [first.commit]);
}

/** Deletes refs in one transaction, unless one of them has moved in the meantime. */
export async function deleteKept(
  repository: Repository,
  refs: readonly Pick<KeptRef, "ref" | "commit">[],
): Promise<void> {
  if (refs.length === 0) return;
  const lines = refs.flatMap(({ ref, commit }) => ["option no-deref", `delete ${ref} ${commit}`]);
  const input = Buffer.from(`${lines.join("\n")}\n`);
  await onRepository(repository, "delete refs", ["update-ref", "--stdin"], { input });
}
