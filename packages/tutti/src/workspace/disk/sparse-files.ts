// A sparse workspace has only some files of its commit; git's index marks the others as skipped. The agent can check
// out more of them, so `readSkipped` reads the worktree's own index: a missing file that it does not mark was deleted.
// `SETTINGS` are passed to commands of Tutti only, so the user's repository keeps its own.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  const patterns = conePatterns(only);
  await mkdir(join(adminDir, "info"));
  await writeFile(patternFile(adminDir), patterns);
  await writeFile(sparse, JSON.stringify({ adminDir, patterns }), { mode: 0o600 });
}

const patternFile = (adminDir: string): string => join(adminDir, "info/sparse-checkout");

async function readMark(sparse: string | undefined): Promise<{ adminDir: string; patterns: string } | null> {
  if (sparse === undefined) return null;
  try {
    return JSON.parse(await readFile(sparse, "utf8")) as { adminDir: string; patterns: string };
  } catch {
    // A crash can truncate the `sparse` file together with the workspace, which is then made anew.
    return null;
  }
}

/** `conePatterns` selects `paths`, which may be files, and the files directly in the folders above them. */
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
 * Returns the skipped paths in latin1, or null if the workspace is not sparse. `where` names the scratch index, and
 * `readSkipped` clears its marks for files that the agent has checked out.
 */
export async function readSkipped(
  { sparse }: { sparse?: string },
  where: GitOptions,
): Promise<ReadonlySet<string> | null> {
  const mark = await readMark(sparse);
  if (mark === null) return null;
  const known = await listSkipped(where);
  const indexFile = join(mark.adminDir, "index");
  // The agent may have damaged, deleted or rebuilt its index. Then `known` counts.
  const told = await listSkipped({ ...where, indexFile }).catch(() => known);
  const patterns = await readFile(patternFile(mark.adminDir), "utf8").catch(() => mark.patterns);
  const skipped = told.size === 0 && patterns === mark.patterns ? known : told;
  const present = [...known].filter((path) => !skipped.has(path));
  await clearSkipped(present, where);
  return skipped;
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
