// `writeRef` is a compare-and-swap and never follows a symbolic ref: an agent can turn its branch into a symbolic ref
// to the user's branch, and a write or delete would hit that.
import { lstat, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "../world.ts";
import { TuttiError } from "../schema/error.ts";
import { findObject } from "./dialogue/objects.ts";
import { updateRef } from "./dialogue/ref-updates.ts";
import { isHash, readRefFiles } from "./disk/ref-files.ts";
import { items, text } from "./git.ts";
import { hardenCommit, hardenRef } from "./harden.ts";
import { findCommit, isAncestor, onRepository, sharedPart, type Repository } from "./repository.ts";

/** Git holds the lock of a single ref for milliseconds, so one older than `STALE_LOCK_MS` belongs to a dead process. */
const STALE_LOCK_MS = 2000;

export const shortHash = (commit: string): string => commit.slice(0, 12);

export function readRef(repository: Repository, ref: string): Promise<string | null> {
  return findCommit(repository, ref);
}

/** Git allows no ref below another one. The user's refs with these names would prevent those of every run. */
const REFS_IN_THE_WAY = [
  ["refs/heads/tutti", 'has a branch "tutti"', 'Rename it with "git branch -m tutti NEW-NAME"'],
  ["refs/tutti", 'has a ref "refs/tutti"', 'Delete it with "git update-ref -d refs/tutti", after noting its commit'],
] as const;

export async function refuseRefsInTheWay(repository: Repository): Promise<void> {
  for (const [ref, problem, advice] of REFS_IN_THE_WAY) {
    if ((await findObject(ref, sharedPart(repository))) === null) continue;
    throw new TuttiError(
      "repository_unusable",
      `The repository "${repository.root}" ${problem}, so git cannot create the refs of a run below "${ref}/". ${advice}.`,
    );
  }
}

/** Unlike `readRef`, finds a ref that resolves to no commit. */
export async function hasRef(repository: Repository, ref: string): Promise<boolean> {
  return (await readRef(repository, ref)) !== null || (await listRefs(repository, ref)).includes(ref);
}

/** Lists `prefix`, if it is a ref, and the refs below it. `listRefs` includes refs that resolve to no commit. */
export async function listRefs(repository: Repository, prefix: string): Promise<string[]> {
  const files = await readRefFiles(repository.commonDir, [prefix]);
  if (files) return [...files.keys()].sort();
  const args = ["for-each-ref", "--format=%(refname)%00", prefix];
  const { stdout } = await onRepository(repository, "list refs", args);
  return items(stdout)
    .map((ref) => text(ref).trim())
    .filter((ref) => ref !== "");
}

/** Reads the commits of all refs that `listRefs` lists for one of the `prefixes`. */
export async function listCommits(repository: Repository, prefixes: readonly string[]): Promise<Map<string, string>> {
  const files = await readRefFiles(repository.commonDir, prefixes);
  // `isHash` is false for a ref that names another one, which only git resolves.
  if (files && [...files.values()].every(isHash)) {
    const found = await Promise.all(Array.from(files.values(), (value) => findCommit(repository, value)));
    return new Map([...files.keys()].flatMap((ref, i) => (found[i] ? [[ref, found[i]] as const] : [])));
  }
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", ...prefixes];
  const { stdout } = await onRepository(repository, "list refs", args);
  const lines = text(stdout).split("\n");
  return new Map(
    lines.filter((line) => line !== "").map((line) => [line.slice(line.indexOf(" ") + 1), line.split(" ")[0]!]),
  );
}

/**
 * `old` is the expected value, null if the ref must not exist. `writeRef` resolves when the ref and its history are on
 * disk. The history of `held`, or of any ref written by this function, is on disk already.
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
    await updateRef({ ref, commit, old }, sharedPart(repository));
  }
  // `hardenRef` also runs if the ref exists already: its writer may have died before the sync.
  await hardenRef(repository, ref);
}

/** Only Tutti writes these refs. An agent's branch is not among them, because the agent's own git writes it. */
function refsOfRun(ref: string): string[] {
  const [, run] = /^refs\/(?:tutti|heads\/(?:tutti|agent))\/([^/]+)/.exec(ref) ?? [];
  return run === undefined ? [] : [`--glob=refs/tutti/${run}/*`, `--glob=refs/heads/tutti/${run}*`];
}

export async function deleteRef(repository: Repository, ref: string): Promise<void> {
  await updateRef({ ref, commit: null }, sharedPart(repository));
}

/**
 * Sets one of Tutti's refs. `replaceRef` gives a ref of its own to a commit that would become unreachable. `start` is
 * the parent of `commit` and is on disk. It bounds the history to sync if the user has deleted the run's refs.
 */
export async function replaceRef(repository: Repository, ref: string, commit: string, start: string): Promise<void> {
  const old = await readRef(repository, ref);
  if (old !== null && !(await isAncestor(repository, old, commit)) && !(await isHeldTwice(repository, ref, old))) {
    await writeFree(repository, `${ref}-before-${shortHash(commit)}`, old);
  }
  await writeRef(repository, ref, commit, old, [...refsOfRun(ref), start]);
}

/** Whether another ref of the same run holds `commit`, too. The main session starts from the snapshots of tasks. */
async function isHeldTwice(repository: Repository, ref: string, commit: string): Promise<boolean> {
  const [prefix] = /^refs\/tutti\/[^/]+\//.exec(ref) ?? [];
  if (prefix === undefined) return false;
  const commits = await listCommits(repository, [prefix]);
  return [...commits].some(([name, each]) => name !== ref && each === commit);
}

/** Makes `commit` reachable, at `ref` if that is free. Branches below `doomedPrefix` are about to be deleted. */
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

/** If `ref` holds another commit, `writeFree` writes beside it. */
async function writeFree(repository: Repository, ref: string, commit: string): Promise<void> {
  const taken = await readRef(repository, ref);
  if (taken === null || taken === commit) return writeRef(repository, ref, commit, taken);
  const beside = `${ref}-${shortHash(commit)}`;
  return writeRef(repository, beside, commit, await readRef(repository, beside));
}

/**
 * Removes obstacles that a dead process or an agent has left: a stale lock, or a ref without a commit, which git
 * neither writes nor deletes. `clearWay` is only for Tutti's refs, and never breaks locks that all refs share.
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
    // A lock with a negative `age` (the clock was set back) is stale, too.
    const age = realWorld.now() - found.mtimeMs;
    if (age < 0 || age >= STALE_LOCK_MS) return rm(lock, { force: true });
    await realWorld.sleep(50);
  }
}
