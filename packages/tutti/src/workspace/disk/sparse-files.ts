// A sparse workspace has only some files of its commit: by its template, because the user's checkout is sparse, or because
// its agent made it so. Git's index marks the others as skipped. The agent can check out more of them, so `readSkipped`
// reads the worktree's own index: a missing file that it does not mark was deleted. `SETTINGS` are passed to commands of
// Tutti only, so the user's repository keeps its own.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { childOf, exists } from "../folder.ts";
import { bytes, git, items, type GitOptions, type GitSetting } from "../git.ts";
import type { WorkspacePaths } from "../workspace-paths.ts";

const SETTINGS: readonly GitSetting[] = [
  ["core.sparseCheckout", "true"],
  ["core.sparseCheckoutCone", "true"],
];

/** Lets git find changes of skipped files that exist after all. */
export const withSparse = (where: GitOptions): GitOptions => ({
  ...where,
  settings: async () => [...((await where.settings?.()) ?? []), ...SETTINGS],
});

/** Call `markSparse` before the files are checked out. */
export async function markSparse(sparse: string, adminDir: string, only: readonly string[]): Promise<void> {
  await mkdir(join(adminDir, "info"));
  await writeFile(patternFile(adminDir), conePatterns(only));
  await writeFile(sparse, JSON.stringify({ adminDir }), { mode: 0o600 });
}

const patternFile = (adminDir: string): string => join(adminDir, "info/sparse-checkout");

/** Returns git's folder of a workspace that is sparse by its template, and null for any other. */
export async function readMark(sparse: string | undefined): Promise<string | null> {
  if (sparse === undefined) return null;
  try {
    return (JSON.parse(await readFile(sparse, "utf8")) as { adminDir: string }).adminDir;
  } catch {
    // A crash can truncate the `sparse` file together with the workspace, which is then made anew.
    return null;
  }
}

/** True if git has patterns for the files of this worktree. */
export const isSparse = (adminDir: string): Promise<boolean> => exists(patternFile(adminDir));

/** Selects `paths`, which may be files, and the files directly in the folders above them. */
function conePatterns(paths: readonly string[]): string {
  const above = new Set(paths.flatMap((path) => path.split("/").map((_, i, names) => names.slice(0, i).join("/"))));
  above.delete("");
  const whole = new Set(paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`))));
  const escape = (path: string): string => path.replaceAll(/[\\*?[\]]/g, "\\$&");
  const parents = [...above].filter((path) => !whole.has(path)).toSorted();
  return [
    "/*\n!/*/\n",
    ...parents.map((path) => `/${escape(path)}/\n!/${escape(path)}/*/\n`),
    ...[...whole].toSorted().map((path) => `/${escape(path)}/\n`),
  ].join("");
}

/**
 * Returns the skipped paths of a sparse workspace in latin1. `where` names the scratch index, and `readSkipped` clears its
 * marks for files that the agent has checked out.
 */
export async function readSkipped(adminDir: string, where: GitOptions): Promise<ReadonlySet<string>> {
  const known = await listSkipped(where);
  const byAgent = await skippedByAgent(adminDir, where).catch(() => null);
  // The agent may have damaged, deleted or rebuilt its index. Then `known` counts.
  const skipped = byAgent === null || (byAgent.size === 0 && !(await hasMost(known, where))) ? known : byAgent;
  const present = [...known].filter((path) => !skipped.has(path));
  await clearSkipped(present, where);
  return skipped;
}

/** Lists the files that the agent's own index skips. */
export const skippedByAgent = (adminDir: string, where: GitOptions): Promise<Set<string>> =>
  listSkipped({ ...where, indexFile: join(adminDir, "index") });

/** `hasMost` shows that the agent has checked out `paths`. It may have deleted some of them since. */
async function hasMost(paths: ReadonlySet<string>, { cwd }: GitOptions): Promise<boolean> {
  let count = 0;
  for (const path of paths) if (await exists(childOf(cwd, bytes(path)))) count++;
  return count > paths.size / 2;
}

/** After `checkOutAll` the next checkout of `where` writes the skipped files too. */
export async function checkOutAll({ sparse }: Pick<WorkspacePaths, "sparse">, where: GitOptions): Promise<void> {
  if ((await readMark(sparse)) !== null) await clearSkipped([...(await listSkipped(where))], where);
}

async function listSkipped(where: GitOptions): Promise<Set<string>> {
  const { stdout } = await git("list the files of a sparse workspace", ["ls-files", "-z", "-t"], where);
  return new Set(items(stdout).flatMap((item) => (item.startsWith("S ") ? [item.slice(2)] : [])));
}

async function clearSkipped(paths: readonly string[], where: GitOptions): Promise<void> {
  if (paths.length === 0) return;
  const args = ["update-index", "--no-skip-worktree", "-z", "--stdin"];
  await git("update the index of a sparse workspace", args, { ...where, input: bytes(paths.join("\0")) });
}
