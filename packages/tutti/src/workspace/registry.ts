// Reads git's list of worktrees from the repository's own `worktrees` folder. The `.git` file of a worktree is not
// trusted, because an agent can rewrite it.
import { readdir, readlink, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readForeignFile } from "../foreign-file.ts";
import { isHash } from "./disk/ref-files.ts";
import { text } from "./git.ts";
import { isInside } from "./workspace-paths.ts";
import { findCommit, onRepository, type Repository } from "./repository.ts";

export interface Registration {
  /** `id` is the name of the entry in `.git/worktrees`. */
  id: string;
  adminDir: string;
  /** The worktree's folder, which may no longer exist. `path` is null if git was killed before it recorded one. */
  path: string | null;
}

export async function registrations(repository: Repository): Promise<Registration[]> {
  const folder = join(repository.commonDir, "worktrees");
  const ids = await readdir(folder).catch(() => []);
  return ids.map((id) => {
    const adminDir = join(folder, id);
    const pointer = readOrEmpty(join(adminDir, "gitdir")).replace(/\n$/, "");
    return { id, adminDir, path: pointer === "" ? null : dirname(resolve(adminDir, pointer)) };
  });
}

/** An agent can write to the entry of its worktree, so a file there may also be missing, a pipe or a device. */
function readOrEmpty(file: string): string {
  try {
    return readForeignFile(file);
  } catch {
    return "";
  }
}

/**
 * Removes pipes, on which git would wait for ever, and links, through which it would write to other files. Git itself
 * makes no other link than a HEAD that names a branch. Call `removeTraps` before git uses the entry.
 */
export async function removeTraps(adminDir: string): Promise<void> {
  const entries = await readdir(adminDir, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isFile() || entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const isBranch = entry.name === "HEAD" && (await readlink(path).catch(() => "")).startsWith("refs/heads/");
    if (!isBranch) await rm(path, { force: true });
  }
}

/** Returns null for a branch without a commit or an invalid HEAD. */
export async function headOf(repository: Repository, worktree: Registration): Promise<string | null> {
  await removeTraps(worktree.adminDir);
  return findCommit(repository, `worktrees/${worktree.id}/HEAD`);
}

/** `MAX_LOGGED` is more than an agent makes by hand. */
const MAX_LOGGED = 100;

/**
 * Lists the commits that HEAD was at, the newest first. `headLogOf` reads a log to which the agent can write anything.
 */
export function headLogOf({ adminDir }: Registration): string[] {
  const log = readOrEmpty(join(adminDir, "logs/HEAD"));
  const commits = [...log.matchAll(/^[0-9a-f]+ ([0-9a-f]{40}(?:[0-9a-f]{24})?) /gm)].map(([, commit]) => commit!);
  return [...new Set(commits.reverse())].filter((commit) => !/^0+$/.test(commit)).slice(0, MAX_LOGGED);
}

/** Returns the ref that HEAD names, or null if HEAD is detached. Without `worktree`, reads the main checkout. */
export async function headRefOf(repository: Repository, worktree?: Registration): Promise<string | null> {
  const written = readOrEmpty(join(worktree?.adminDir ?? repository.commonDir, "HEAD"));
  // Git would wait for a pipe in the place of HEAD.
  if (written === "") return null;
  // Usually the HEAD file names the branch. With the reftable backend it names an invalid ref, so `symbolic-ref`
  // decides.
  const [, ref] = /^ref: (refs\/heads\/[^\s.][^\s]*)\n$/.exec(written) ?? [];
  if (ref !== undefined) return ref;
  if (isHash(written.trim())) return null;
  const args = ["symbolic-ref", "--quiet", worktree === undefined ? "HEAD" : `worktrees/${worktree.id}/HEAD`];
  const { code, stdout } = await onRepository(repository, "read a worktree's HEAD", args, { accept: [1, 128] });
  return code === 0 ? text(stdout).trim() : null;
}

/** Includes the user's own checkout. */
export async function checkoutsOf(repository: Repository, ref: string): Promise<string[]> {
  const linked = (await registrations(repository)).map(async (worktree) =>
    (await headRefOf(repository, worktree)) === ref && worktree.path !== null ? [worktree.path] : [],
  );
  const { root, gitDir, commonDir } = repository;
  const main = (await headRefOf(repository)) === ref ? [gitDir === commonDir ? root : dirname(commonDir)] : [];
  return [...main, ...(await Promise.all(linked)).flat()];
}

/** Deletes `adminDir` directly: `git worktree remove` refuses a damaged entry, `prune` removes others too. */
export async function deregister(repository: Repository, worktree: Registration): Promise<void> {
  await rm(worktree.adminDir, { recursive: true, force: true });
  // Git leaves no empty `worktrees` folder behind either. `rmdir` fails on a folder that is not empty.
  await rmdir(join(repository.commonDir, "worktrees")).catch(() => undefined);
}

/**
 * Repairs the `commondir` file of each entry: a single damaged one keeps git from creating any worktree.
 * `healRegistrations` changes only entries of worktrees in `folder`.
 */
export async function healRegistrations(repository: Repository, folder: string): Promise<void> {
  for (const { path, adminDir } of await registrations(repository)) {
    if (path === null || !isInside(folder, path)) continue;
    const pointer = join(adminDir, "commondir");
    const target = readOrEmpty(pointer).trim();
    if (target !== "" && resolve(adminDir, target) === repository.commonDir) continue;
    // Not through a link.
    await rm(pointer, { force: true });
    await writeFile(pointer, "../..\n", { flag: "wx" });
  }
}
