// Frees disk space of the repositories in `COPIES`. `collectGarbage` must not run in a repository of the user: objects
// that no ref holds there may be work that the user still wants to find, and git's own gc decides about them.
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { COPIED_BRANCH } from "../copied-folder.ts";
import { text } from "../git.ts";
import { registrations } from "../registry.ts";
import { onRepository, type Repository } from "../repository.ts";

/**
 * A run that is just starting writes objects before the refs that hold them, and `commitFolder` writes `indexed-commit`.
 * Younger files than `RECENT_MS` may be of such a run. While runs are open, objects get the longer `USUAL_MS`.
 */
const RECENT_MS = 10 * 60_000;
const USUAL_MS = 24 * 60 * 60_000;

/** Deletes the objects that no ref and no worktree holds, and returns the bytes that this freed. */
export async function collectGarbage(
  copy: Repository,
  { isIdle, now }: { isIdle: boolean; now: number },
): Promise<number> {
  if (!copy.isCopy) throw new TuttiError("internal", `The repository "${copy.root}" is not Tutti's own.`);
  await refuseHook(copy);
  const before = await sizeOf(join(copy.commonDir, "objects"));
  const expiry = `--prune=${new Date(now - (isIdle ? RECENT_MS : USUAL_MS)).toISOString()}`;
  await onRepository(copy, "delete unused objects", ["gc", "--quiet", "--no-cruft", expiry]);
  return Math.max(0, before - (await sizeOf(join(copy.commonDir, "objects"))));
}

/**
 * From version 2.42 on, git starts the programs of this setting during gc, and no argument disables it. Only the user's
 * own settings may name one.
 */
async function refuseHook(copy: Repository): Promise<void> {
  const args = ["config", "--show-scope", "--get-all", "gc.recentObjectsHook"];
  const { stdout } = await onRepository(copy, "read its settings", args, { accept: [1] });
  if (!/^(?:local|worktree)\s/m.test(stdout)) return;
  const message = `The repository "${copy.commonDir}" names a program in gc.recentObjectsHook, which Tutti does not start, so its disk space was not freed. Remove the setting.`;
  throw new TuttiError("git_failed", message);
}

/**
 * Whether the only ref of `copy` besides `freed` ones is `COPIED_BRANCH`, or branches that it contains, and no run started
 * in the last minutes. The caller knows that no run uses the folder.
 */
export async function isUnused(copy: Repository, freed: ReadonlySet<string>, now: number): Promise<boolean> {
  if ((await registrations(copy)).length > 0) return false;
  const { mtimeMs } = await stat(join(copy.commonDir, "indexed-commit")).catch(() => stat(copy.commonDir));
  if (mtimeMs > now - RECENT_MS) return false;
  const args = ["for-each-ref", "--format=%(refname)", `--no-merged=${COPIED_BRANCH}`];
  // Git fails if `COPIED_BRANCH` does not exist yet.
  const { code, stdout } = await onRepository(copy, "list refs", args, { accept: [128, 129] });
  return (
    code === 0 &&
    text(stdout)
      .split("\n")
      .every((ref) => ref === "" || freed.has(ref))
  );
}

/** Returns the bytes that this freed. The new name keeps a run from opening a repository that is half deleted. */
export async function removeCopy({ commonDir }: Repository): Promise<number> {
  const bytes = await sizeOf(commonDir);
  const doomed = `${commonDir}.removed`;
  await rm(doomed, { recursive: true, force: true });
  await rename(commonDir, doomed);
  await rm(doomed, { recursive: true, force: true });
  return bytes;
}

export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) =>
    stat(join(parentPath, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
