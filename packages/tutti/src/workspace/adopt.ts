// `adopt` reuses the result of one attempt as the result of another. Both attempts start from the same files but not
// always from the same commit. Merges compare commits, so `onTopOf` commits the tree of `result` on top of `start`.
import type { WorkspacePaths } from "./workspace-paths.ts";
import { replaceRef } from "./refs.ts";
import { changedFiles, findCommit, isAncestor, newestDate, treeOf, type Repository } from "./repository.ts";
import { writeCommit } from "./disk/write-commit.ts";
import type { WorkspaceSnapshot } from "./workspace.ts";

export async function adopt(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  result: string,
  message: string,
): Promise<WorkspaceSnapshot | null> {
  if ((await findCommit(repository, result)) === null) return null;
  const commit = await onTopOf(repository, start, result, message);
  await replaceRef(repository, paths.ref, commit, start);
  return { commit, files: await changedFiles(repository, start, commit) };
}

async function onTopOf(repository: Repository, start: string, result: string, message: string): Promise<string> {
  const tree = await treeOf(repository, result);
  if (tree === (await treeOf(repository, start))) return start;
  if (await isAncestor(repository, start, result)) return result;
  // `newestDate` is the same at each call, so a repeated `adopt` produces the same commit.
  const date = await newestDate(repository, [start, result]);
  return writeCommit(repository, { tree, parents: [start], message, date });
}
