// Lists and reads the files of the working folder. Reads and writes reject a path that `passesThroughLink`, because a
// link in a repository can point to any place on the machine.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isAbsolute, join, normalize, sep } from "node:path";
import { roleOf } from "./classify.ts";
import { compareText, type RepositoryFile } from "./facts.ts";
import { type IgnoreTest, readGitignore } from "./gitignore.ts";
import { isGeneratedPage } from "./marker.ts";

const SKIPPED_FOLDERS = new Set([
  "node_modules",
  "bower_components",
  "dist",
  "build",
  "out",
  "coverage",
  "vendor",
  "target",
  "__pycache__",
  "venv",
]);
const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** Bounds the memory of a process; see `docs/benchmarks.md`. */
export interface ReadLimits {
  files: number;
  /** The bytes of all code files together. */
  codeBytes: number;
}
export const READ_LIMITS: ReadLimits = { files: 60_000, codeBytes: 120 * 1024 * 1024 };

export interface RepositoryFiles {
  root: string;
  /** Sorted by path, without the pages in `generated`, so that a second run sees the same files. */
  files: RepositoryFile[];
  /** Pages of this agent in any folder; see `isGeneratedPage`. */
  generated: string[];
  /** Symbolic links at the root, with their targets inside the repository. They are not followed for code. */
  links: Map<string, string>;
  isIgnored: IgnoreTest;
  warnings: string[];
  /** Sentences about parts of the repository that a limit excludes. */
  cuts: string[];
}

/** Rejects if the turn was interrupted. Loops call `checkInterrupt` once per step. */
export type InterruptCheck = () => Promise<void>;

export async function readRepository(
  root: string,
  checkInterrupt: InterruptCheck,
  limits: ReadLimits = READ_LIMITS,
): Promise<RepositoryFiles> {
  const isIgnored = readGitignore(readText(root, ".gitignore") ?? "");
  const repository: RepositoryFiles = {
    root,
    files: [],
    generated: [],
    links: new Map(),
    isIgnored,
    warnings: [],
    cuts: [],
  };
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await checkInterrupt();
    const subfolders: string[] = [];
    for (const entry of listFolder(repository, folder)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (isIncludedFolder(repository, path, entry.name)) subfolders.push(path);
      } else if (entry.isSymbolicLink() && folder === "") {
        addLink(repository, entry.name);
      } else if (entry.isFile() && !entry.name.startsWith(".") && !isIgnored(path, false)) {
        addFile(repository, path);
        if (repository.files.length > limits.files) {
          repository.files.pop();
          // The pages of the agent do not count and are found behind the limit too, so all sessions see the same files.
          if (repository.cuts.length === 0)
            repository.cuts.push(
              `The repository has more than ${limits.files} files. Those from ${path} on were not read.`,
            );
        }
      }
    }
    folders.push(...subfolders.toReversed());
  }
  return sortPaths(repository);
}

/** Returns null for a file that is missing, binary, not regular or larger than `MAX_FILE_BYTES`. */
export function readText(root: string, path: string): string | null {
  try {
    if (passesThroughLink(root, path)) return null;
    const stats = lstatSync(join(root, path));
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return null;
    const bytes = readFileSync(join(root, path));
    if (bytes.subarray(0, 8_192).includes(0)) return null;
    return bytes
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  } catch {
    return null;
  }
}

/** Whether `path` or a folder above it, below `root`, is a symbolic link. */
export function passesThroughLink(root: string, path: string): boolean {
  const parts = path.split("/");
  return parts.some((_, index) => {
    const stats = lstatSync(join(root, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ?? false;
  });
}

function listFolder(repository: RepositoryFiles, folder: string) {
  try {
    return readdirSync(join(repository.root, folder), { withFileTypes: true }).toSorted((a, b) =>
      compareText(a.name, b.name),
    );
  } catch {
    repository.warnings.push(`The folder ${folder || "."} could not be read.`);
    return [];
  }
}

function isIncludedFolder(repository: RepositoryFiles, path: string, name: string): boolean {
  if (name.startsWith(".") || SKIPPED_FOLDERS.has(name) || repository.isIgnored(path, true)) return false;
  // A folder with its own `.git` is another repository: a submodule or a worktree.
  return lstatSync(join(repository.root, path, ".git"), { throwIfNoEntry: false }) === undefined;
}

function addLink(repository: RepositoryFiles, name: string): void {
  try {
    const target = normalize(readlinkSync(join(repository.root, name)));
    if (!isAbsolute(target) && !target.startsWith("..")) repository.links.set(name, target.split(sep).join("/"));
  } catch {
    // The link vanished after `listFolder`.
  }
}

function addFile(repository: RepositoryFiles, path: string): void {
  const stats = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
  if (!stats) {
    repository.warnings.push(`The file ${path} could not be read: its name is not valid text.`);
    return;
  }
  const role = roleOf(path);
  const file = { path, sizeBytes: stats.size, stamp: `${stats.size} ${stats.mtimeMs} ${stats.ino}` };
  if (path.endsWith(".md") && isGeneratedPage(readText(repository.root, path))) {
    repository.generated.push(path);
  } else if (stats.size > MAX_FILE_BYTES && role !== "other") {
    repository.warnings.push(`The file ${path} is larger than 2 MB and was not read.`);
    repository.files.push({ ...file, role: "other" });
  } else {
    repository.files.push({ ...file, role });
  }
}

function sortPaths(repository: RepositoryFiles): RepositoryFiles {
  repository.files.sort((a, b) => compareText(a.path, b.path));
  repository.generated.sort(compareText);
  return repository;
}
