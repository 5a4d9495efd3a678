// A `KeptRef` is named refs/tutti/RUN/NAME/ATTEMPT and keeps the work of an attempt reachable after its workspace is
// gone.
import { shortHash, writeRef } from "../refs.ts";
import { onRepository, type Repository } from "../repository.ts";
import { text } from "../git.ts";

export interface KeptRef {
  ref: string;
  /** Parts of `ref`: a run, a task id or `main`, and the number of an attempt with a suffix such as `-saved`. */
  run: string;
  name: string;
  attempt: string;
  commit: string;
  /** First line of the message of `commit`. */
  subject: string;
}

/** A ref with the name `REMOVED` marks a run that no data folder knows any more. */
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

/** Deletes `refs` in one transaction, which fails if one of them has moved in the meantime. */
export async function deleteKept(
  repository: Repository,
  refs: readonly Pick<KeptRef, "ref" | "commit">[],
): Promise<void> {
  if (refs.length === 0) return;
  const lines = refs.flatMap(({ ref, commit }) => ["option no-deref", `delete ${ref} ${commit}`]);
  const input = Buffer.from(`${lines.join("\n")}\n`);
  await onRepository(repository, "delete refs", ["update-ref", "--stdin"], { input });
}
