// `addWorktree` does the same as `git worktree add`, which starts two more processes and refreshes all files.
import { chmod, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { exists } from "../folder.ts";
import { git } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";
import type { WorkspacePaths } from "../workspace-paths.ts";
import { markSparse, withSparse } from "./sparse-files.ts";

/**
 * Creates `path` with the files of `commit` and a detached HEAD. Limits the checkout to `only`,
 * unless the user's repository has sparse patterns of its own.
 */
export async function addWorktree(
  repository: Repository,
  { path, sparse }: WorkspacePaths,
  commit: string,
  purpose: string,
  only: readonly string[] = [],
): Promise<void> {
  if (await hasUnusualLayout(repository)) {
    // `--detach` keeps the agents' work out of the user's list of branches.
    await onRepository(repository, purpose, ["worktree", "add", "--detach", path, commit]);
    return;
  }
  const { commonDir, settings } = repository;
  const adminDir = await reserveEntry(commonDir, basename(path));
  const lock = join(adminDir, "locked");
  // Without the lock, `git gc` would delete an entry that has no files yet.
  await writeFile(lock, "initializing\n");
  await writeFile(join(adminDir, "HEAD"), `${commit}\n`);
  await writeFile(join(adminDir, "commondir"), "../..\n");
  await writeFile(join(adminDir, "gitdir"), `${join(path, ".git")}\n`);
  await mkdir(path);
  await writeFile(join(path, ".git"), `gitdir: ${adminDir}\n`);
  const hasPatterns = await exists(join(commonDir, "info/sparse-checkout"));
  const isSparse = only.length > 0 && !hasPatterns;
  if (isSparse) await markSparse(sparse, adminDir, only);
  const args = ["read-tree", "--reset", "-u", commit];
  // With `adminDir` git reads settings that a running agent may just have put there, so only patterns need it.
  const gitDir = isSparse || hasPatterns ? adminDir : commonDir;
  const where = { cwd: path, gitDir, workTree: path, indexFile: join(adminDir, "index"), settings };
  try {
    await git(purpose, args, isSparse ? withSparse(where) : where);
  } catch (error) {
    // The checkout may have filled the disk, and the log needs some of it.
    await rm(path, { recursive: true, force: true });
    throw error;
  }
  await rm(lock);
}

/** In these repositories git stores more in a new entry than the files that `addWorktree` writes. */
async function hasUnusualLayout({ commonDir, gitDir }: Repository): Promise<boolean> {
  const signs = [join(commonDir, "reftable"), join(commonDir, "config.worktree"), join(gitDir, "config.worktree")];
  return (await Promise.all(signs.map(exists))).some(Boolean);
}

/** Appends a number if `name` is taken, as git does. Nothing depends on the name of an entry. */
async function reserveEntry(commonDir: string, name: string): Promise<string> {
  const folder = join(commonDir, "worktrees");
  const { mode } = await stat(commonDir);
  if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, mode);
  for (let number = 0; ; number++) {
    const adminDir = join(folder, number === 0 ? name : `${name}${number}`);
    try {
      await mkdir(adminDir);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw error;
    }
    await chmod(adminDir, mode);
    return adminDir;
  }
}
