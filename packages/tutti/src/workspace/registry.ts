// The worktrees that git knows. They are found in the repository's own administration, never by asking a worktree where
// it belongs, because that answer lies in a file the agent can rewrite.
import { readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { text } from "./git.ts";
import { isInside } from "./place.ts";
import { findCommit, onRepository } from "./repository.ts";
import type { Repository } from "./repository.ts";

export interface Registration {
  /** Name of its folder in `.git/worktrees`. */
  id: string;
  adminDir: string;
  /** The worktree's folder, which may be gone; null when git was stopped before it wrote that down. */
  path: string | null;
}

export async function registrations(repository: Repository): Promise<Registration[]> {
  const folder = join(repository.commonDir, "worktrees");
  const ids = await readdir(folder).catch(() => []);
  return Promise.all(
    ids.map(async (id) => {
      const adminDir = join(folder, id);
      const pointer = (await readFile(join(adminDir, "gitdir"), "utf8").catch(() => "")).replace(/\n$/, "");
      return { id, adminDir, path: pointer === "" ? null : dirname(resolve(adminDir, pointer)) };
    }),
  );
}

/** Where a worktree stands; null for a branch without a commit or a HEAD that makes no sense. */
export async function headOf(repository: Repository, worktree: Registration): Promise<string | null> {
  return findCommit(repository, `worktrees/${worktree.id}/HEAD`);
}

/** The ref that a worktree's HEAD names; null when it is detached. Without a worktree, that of the main checkout. */
export async function headRefOf(repository: Repository, worktree?: Registration): Promise<string | null> {
  const written = await readFile(join(worktree?.adminDir ?? repository.commonDir, "HEAD"), "utf8").catch(() => "");
  // Most often it stands in a file. Where refs are kept in another way, the file names a ref that cannot be.
  const [, ref] = /^ref: (refs\/heads\/[^\s.][^\s]*)\n$/.exec(written) ?? [];
  if (ref !== undefined) return ref;
  const args = ["symbolic-ref", "--quiet", worktree === undefined ? "HEAD" : `worktrees/${worktree.id}/HEAD`];
  const { code, stdout } = await onRepository(repository, "read a worktree's HEAD", args, { accept: [1, 128] });
  return code === 0 ? text(stdout).trim() : null;
}

/** The folders in which a branch is checked out, the person's own checkout included. */
export async function checkoutsOf(repository: Repository, ref: string): Promise<string[]> {
  const linked = (await registrations(repository)).map(async (worktree) =>
    (await headRefOf(repository, worktree)) === ref && worktree.path !== null ? [worktree.path] : [],
  );
  const { root, gitDir, commonDir } = repository;
  const main = (await headRefOf(repository)) === ref ? [gitDir === commonDir ? root : dirname(commonDir)] : [];
  return [...main, ...(await Promise.all(linked)).flat()];
}

/**
 * Forgets one worktree whose folder is gone; others are left alone, even when git would call them prunable. This is done
 * by hand, because git refuses when the entry is damaged, be it by an agent or by a crash while it was made.
 */
export async function deregister(repository: Repository, worktree: Registration): Promise<void> {
  await rm(worktree.adminDir, { recursive: true, force: true });
  // Like git, which leaves no empty folder behind; one that is not empty refuses to go.
  await rmdir(join(repository.commonDir, "worktrees")).catch(() => undefined);
}

/** Every entry says where the repository is, and a single damaged one keeps git from making a worktree at all. */
export async function healRegistrations(repository: Repository, folder: string): Promise<void> {
  for (const { path, adminDir } of await registrations(repository)) {
    if (path === null || !isInside(folder, path)) continue;
    const pointer = join(adminDir, "commondir");
    const target = (await readFile(pointer, "utf8").catch(() => "")).trim();
    if (target === "" || resolve(adminDir, target) !== repository.commonDir) await writeFile(pointer, "../..\n");
  }
}
