// Reading and writing refs. Every write is a compare-and-swap and never follows a symbolic ref: an agent could have
// turned its branch into a link to the person's branch, and writing or deleting through it would hit that one.
import { lstat, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "../world.ts";
import { items, text } from "./git.ts";
import { hardenCommit, hardenRef } from "./harden.ts";
import { findCommit, isAncestor, onRepository } from "./repository.ts";
import type { Repository } from "./repository.ts";

/** Git holds the lock of a single ref for milliseconds; one that is older was left by a process that died. */
const STALE_LOCK_MS = 2000;

export const shortHash = (commit: string): string => commit.slice(0, 12);

export function readRef(repository: Repository, ref: string): Promise<string | null> {
  return findCommit(repository, ref);
}

/** Also one that leads to no commit, which only a list of all shows. */
export async function hasRef(repository: Repository, ref: string): Promise<boolean> {
  return (await readRef(repository, ref)) !== null || (await listRefs(repository, ref)).includes(ref);
}

export async function listRefs(repository: Repository, prefix: string): Promise<string[]> {
  const args = ["for-each-ref", "--format=%(refname)%00", prefix];
  const { stdout } = await onRepository(repository, "list refs", args);
  return items(stdout)
    .map((ref) => text(ref).trim())
    .filter((ref) => ref !== "");
}

/**
 * `old` is what the ref must hold now; null when it must not exist. Returns when the ref and all that it leads to are on
 * the disk. What `held` or a ref that was written here before leads to is there already.
 */
export async function writeRef(
  repository: Repository,
  ref: string,
  commit: string,
  old: string | null,
  held: readonly string[] = refsOfRun(ref),
): Promise<void> {
  if (commit !== old) {
    await clearWay(repository, ref);
    await hardenCommit(repository, commit, held);
    await onRepository(repository, `set ${ref}`, ["update-ref", "--no-deref", ref, commit, old ?? ""]);
  }
  // Also one that is there already: who wrote it may have died before this.
  await hardenRef(repository, ref);
}

/** The refs that only we write; an agent's branch holds what the agent's own git has written. */
function refsOfRun(ref: string): string[] {
  const [, run] = /^refs\/(?:tutti|heads\/(?:tutti|agent))\/([^/]+)/.exec(ref) ?? [];
  return run === undefined ? [] : [`--glob=refs/tutti/${run}/*`, `--glob=refs/heads/tutti/${run}*`];
}

export async function deleteRef(repository: Repository, ref: string): Promise<void> {
  await onRepository(repository, `delete ${ref}`, ["update-ref", "--no-deref", "-d", ref]);
}

/**
 * Sets a ref of ours; what it held before and would lose gets a ref of its own. `start` is what the commit goes on from:
 * that is on the disk, also if somebody has deleted the run's refs, and without it all of history would be read.
 */
export async function replaceRef(repository: Repository, ref: string, commit: string, start: string): Promise<void> {
  const old = await readRef(repository, ref);
  if (old !== null && !(await isAncestor(repository, old, commit))) {
    await writeFree(repository, `${ref}-before-${shortHash(commit)}`, old);
  }
  await writeRef(repository, ref, commit, old, [...refsOfRun(ref), start]);
}

/**
 * Makes a commit reachable, at `ref` if that is free. Branches below `doomedPrefix` do not count as keeping it, because
 * they are about to be deleted.
 */
export async function keepReachable(
  repository: Repository,
  commit: string,
  ref: string,
  doomedPrefix: string,
): Promise<void> {
  const args = ["for-each-ref", `--contains=${commit}`, "--format=%(refname)"];
  const { stdout } = await onRepository(repository, `find what holds ${commit}`, args);
  const holders = stdout.split("\n").filter((name) => name !== "" && !name.startsWith(doomedPrefix));
  if (holders.length === 0) await writeFree(repository, ref, commit);
}

/** Writes to `ref`, or next to it when it holds something else. */
async function writeFree(repository: Repository, ref: string, commit: string): Promise<void> {
  const taken = await readRef(repository, ref);
  if (taken === null || taken === commit) return writeRef(repository, ref, commit, taken);
  const beside = `${ref}-${shortHash(commit)}`;
  return writeRef(repository, beside, commit, await readRef(repository, beside));
}

/**
 * Takes away what a process that died, or an agent, has left in the way of a ref: a stale lock, or a ref that leads to no
 * commit, which git would neither write nor delete. Only for refs of ours; locks that all refs share are never broken.
 */
export async function clearWay(repository: Repository, ref: string): Promise<void> {
  const file = join(repository.commonDir, ref);
  await breakStaleLock(`${file}.lock`);
  const found = await lstat(file).catch(() => null);
  if (found === null || found.isDirectory() || (await readRef(repository, ref)) !== null) return;
  await rm(file, { force: true });
}

async function breakStaleLock(lock: string): Promise<void> {
  for (;;) {
    const found = await stat(lock).catch(() => null);
    if (found === null) return;
    // A lock from the future (a clock that was set back) counts as stale too.
    const age = realWorld.now() - found.mtimeMs;
    if (age < 0 || age >= STALE_LOCK_MS) return rm(lock, { force: true });
    await realWorld.sleep(50);
  }
}
