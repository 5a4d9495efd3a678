// `mergeHunks` merges the versions of one file. Only the hunks in which they conflict are taken from the `favoured`
// side.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bytes, gitFault, items } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";
import type { RunPaths } from "../workspace-paths.ts";

interface FileVersions {
  base: string;
  ours: string;
  theirs: string;
}

/** `git merge-file` exits with the number of conflicts, at most 127, or with `NOT_MERGED`. */
const NOT_MERGED = 255;

/** Returns the hash of the merged content. `mergeHunks` returns null for a binary file, which has no hunks. */
export async function mergeHunks(
  repository: Repository,
  { runFolder }: RunPaths,
  versions: FileVersions,
  favoured: "ours" | "theirs",
): Promise<string | null> {
  const purpose = "merge the hunks of a file";
  const files: string[] = [];
  try {
    // `merge-file` expects the files in this order.
    for (const name of ["ours", "base", "theirs"] as const) {
      const content = await onRepository(repository, purpose, ["cat-file", "blob", versions[name]]);
      const file = join(runFolder, `merge.scratch-${name}`);
      files.push(file);
      await writeFile(file, bytes(content.stdout), { mode: 0o600 });
    }
    const args = ["merge-file", "-p", `--${favoured}`, ...files];
    const { code, stdout, stderr } = await onRepository(repository, purpose, args, { accept: [NOT_MERGED] });
    if (code === NOT_MERGED && stderr.includes("Cannot merge binary files")) return null;
    if (code === NOT_MERGED) throw gitFault(purpose, stderr, { cwd: runFolder, gitDir: repository.commonDir });
    const written = await onRepository(repository, purpose, ["hash-object", "-w", "--stdin"], { input: bytes(stdout) });
    return written.stdout.trim();
  } finally {
    for (const file of files) await rm(file, { force: true });
  }
}

/** Returns those of `paths` that no merge driver of the project handles: `mergeHunks` would bypass it. */
export async function findTextFiles(repository: Repository, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const input = bytes(paths.map((path) => `${path}\0`).join(""));
  const args = ["check-attr", "-z", "--stdin", "merge"];
  const { stdout } = await onRepository(repository, "read the attributes of files", args, { input });
  const fields = items(stdout);
  return new Set(fields.filter((_, i) => i % 3 === 0 && ["unspecified", "set", "text"].includes(fields[i + 2] ?? "")));
}
