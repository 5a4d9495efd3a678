import { isAbsolute, join, relative } from "node:path";
import { items, text } from "./git.ts";
import { onRepository, type Repository } from "./repository.ts";
import type { UnprovenFiles } from "../schema/outcome.ts";
import type { WorkspaceSnapshot } from "./workspace.ts";

/** An agent may claim any number of files; those beyond `MAX_CLAIMED` are not checked. */
const MAX_CLAIMED = 200;

export async function findUnproven(
  repository: Repository,
  folder: string,
  { commit, files }: WorkspaceSnapshot,
  claimed: readonly string[],
): Promise<UnprovenFiles> {
  const changed = new Set(files.flatMap(withFolders));
  const doubtful = [...new Set(claimed)]
    .slice(0, MAX_CLAIMED)
    .map((name) => ({ name, paths: pathsOf(name, folder, repository.prefix) }))
    .filter(({ paths }) => !paths.some((path) => changed.has(path)));
  const present = await existing(
    repository,
    commit,
    doubtful.flatMap(({ paths }) => paths),
  );
  const isPresent = ({ paths }: { paths: string[] }): boolean => paths.some((path) => present.has(path));
  return {
    missing: doubtful.filter((each) => !isPresent(each)).map(({ name }) => name),
    unchanged: doubtful.filter(isPresent).map(({ name }) => name),
  };
}

const withFolders = (path: string): string[] => path.split("/").map((_, i, names) => names.slice(0, i + 1).join("/"));

/**
 * Returns the paths from the root of the repository that `name` may mean: agents name files relative to the root or to
 * their folder. Empty for a name outside the workspace.
 */
function pathsOf(name: string, folder: string, prefix: string): string[] {
  const given = isAbsolute(name) ? [relative(folder, name)] : [join(prefix, name), join(name)];
  return given.map((path) => path.replace(/\/+$/, "")).filter((path) => path !== ".." && !path.startsWith("../"));
}

async function existing(repository: Repository, commit: string, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const names = paths.filter((path) => path !== "." && path !== "" && !path.includes("\0"));
  const args = ["ls-tree", "-z", "--name-only", "--full-tree", commit, "--", ...names];
  const { stdout } = await onRepository(repository, "look for files of a commit", args);
  return new Set(items(stdout).map(text));
}
