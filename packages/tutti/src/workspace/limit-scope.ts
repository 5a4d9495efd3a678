import { bytes, items, text } from "./git.ts";
import { replaceRef } from "./refs.ts";
import { onRepository, readCommit, treeOf, type Repository } from "./repository.ts";
import { clearScratch } from "./working-tree.ts";
import type { WorkspacePaths } from "./workspace-paths.ts";
import { writeCommit } from "./disk/write-commit.ts";
import type { WorkspaceSnapshot } from "./workspace.ts";

const isWithin = (scope: readonly string[], path: string): boolean =>
  scope.some((folder) => path === folder || path.startsWith(`${folder}/`));

/**
 * Commits only the changes of `taken` inside `scope`, paths relative to the repository's root, on top of `start`.
 * `replaceRef` keeps the complete snapshot reachable beside the attempt's ref.
 */
export async function limitToScope(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  taken: WorkspaceSnapshot,
  scope: readonly string[],
): Promise<WorkspaceSnapshot> {
  const outside = taken.files.filter((path) => !isWithin(scope, path));
  if (outside.length === 0) return taken;
  const files = taken.files.filter((path) => isWithin(scope, path));
  const tree = await treeWithin(repository, paths, start, taken.commit, scope);
  const { message, date } = await describeCommit(repository, taken.commit);
  const commit =
    tree === (await treeOf(repository, start))
      ? start
      : await writeCommit(repository, { tree, parents: [start], message, date });
  await replaceRef(repository, paths.ref, commit, start);
  return { commit, files, outside };
}

/** `limitToScope` copies message and date, so a repeated snapshot gives the same commit. */
async function describeCommit(repository: Repository, commit: string): Promise<{ message: string; date: number }> {
  const { date } = await readCommit(repository, commit);
  const { stdout } = await onRepository(repository, "read a message", ["log", "-1", "--format=%B", commit]);
  return { message: text(stdout).trimEnd(), date };
}

async function treeWithin(
  repository: Repository,
  { scratchIndex: indexFile }: WorkspacePaths,
  start: string,
  commit: string,
  scope: readonly string[],
): Promise<string> {
  const flags = ["-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--full-index"];
  const purpose = "limit a snapshot to the scope";
  const { stdout } = await onRepository(repository, purpose, ["diff-tree", ...flags, start, commit]);
  const fields = items(stdout);
  const lines: string[] = [];
  // `--raw` prints each change as ":MODE MODE HASH HASH STATUS" and then its path. A removal has the mode 000000.
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, mode = "", , hash = ""] = fields[i]!.slice(1).split(" ");
    if (isWithin(scope, text(fields[i + 1]!)))
      lines.push(`${/^0+$/.test(mode) ? "0" : mode} ${hash}\t${fields[i + 1]!}\0`);
  }
  await clearScratch(indexFile);
  try {
    await onRepository(repository, purpose, ["read-tree", start], { indexFile });
    const args = ["update-index", "-z", "--index-info"];
    if (lines.length > 0) await onRepository(repository, purpose, args, { indexFile, input: bytes(lines.join("")) });
    return (await onRepository(repository, purpose, ["write-tree"], { indexFile })).stdout.trim();
  } finally {
    await clearScratch(indexFile);
  }
}
