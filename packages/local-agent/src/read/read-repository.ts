// The walk through the folder the agent was started in. It stays inside the root: symbolic links are never followed,
// neither to read nor to write, because a repository can point them anywhere.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { roleOf } from "./classify.ts";
import { byText, type RepositoryFile } from "./facts.ts";
import { type Ignores, readGitignore } from "./gitignore.ts";
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
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;

export interface RepositoryFiles {
  root: string;
  /** Sorted by path. Pages that this agent has written are not among them, so that a second run sees the same. */
  files: RepositoryFile[];
  /** The pages this agent has written, wherever they are. */
  generated: string[];
  ignores: Ignores;
  warnings: string[];
}

/** Called between folders and files, so that a long walk can be stopped. */
export type Breathe = () => Promise<void>;

export async function readRepository(root: string, breathe: Breathe): Promise<RepositoryFiles> {
  const ignores = readGitignore(readText(root, ".gitignore") ?? "");
  const repository: RepositoryFiles = { root, files: [], generated: [], ignores, warnings: [] };
  const folders = [""];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await breathe();
    const subfolders: string[] = [];
    for (const entry of listFolder(repository, folder)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (isWanted(repository, path, entry.name)) subfolders.push(path);
      } else if (entry.isFile() && !entry.name.startsWith(".") && !ignores(path, false)) {
        seen += 1;
        if (seen > MAX_FILES) {
          repository.warnings.push(`The repository has more than ${MAX_FILES} files; the rest was not read.`);
          return sorted(repository);
        }
        addFile(repository, path);
      }
    }
    folders.push(...subfolders.toReversed());
  }
  return sorted(repository);
}

/** The text of a file inside the root, or null when it is missing, too large, binary or not an ordinary file. */
export function readText(root: string, path: string): string | null {
  try {
    if (passesThroughLink(root, path)) return null;
    const facts = lstatSync(join(root, path));
    if (!facts.isFile() || facts.size > MAX_FILE_BYTES) return null;
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

/** Whether a folder on the way to the path, or the path itself, is a symbolic link. */
export function passesThroughLink(root: string, path: string): boolean {
  const parts = path.split("/");
  return parts.some((_, index) => {
    const facts = lstatSync(join(root, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return facts?.isSymbolicLink() ?? false;
  });
}

function listFolder(repository: RepositoryFiles, folder: string) {
  try {
    return readdirSync(join(repository.root, folder), { withFileTypes: true }).toSorted((a, b) =>
      byText(a.name, b.name),
    );
  } catch {
    repository.warnings.push(`The folder ${folder || "."} could not be read.`);
    return [];
  }
}

function isWanted(repository: RepositoryFiles, path: string, name: string): boolean {
  if (name.startsWith(".") || SKIPPED_FOLDERS.has(name) || repository.ignores(path, true)) return false;
  // A folder with a .git of its own is another repository: a submodule or a worktree.
  return lstatSync(join(repository.root, path, ".git"), { throwIfNoEntry: false }) === undefined;
}

function addFile(repository: RepositoryFiles, path: string): void {
  const facts = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
  if (!facts) {
    repository.warnings.push(`The file ${path} could not be read: its name is not valid text.`);
    return;
  }
  const role = roleOf(path);
  if (path.endsWith(".md") && isGeneratedPage(readText(repository.root, path))) {
    repository.generated.push(path);
  } else if (facts.size > MAX_FILE_BYTES && role !== "other") {
    repository.warnings.push(`The file ${path} is larger than 2 MB and was not read.`);
    repository.files.push({ path, sizeBytes: facts.size, role: "other" });
  } else {
    repository.files.push({ path, sizeBytes: facts.size, role });
  }
}

function sorted(repository: RepositoryFiles): RepositoryFiles {
  repository.files.sort((a, b) => byText(a.path, b.path));
  repository.generated.sort(byText);
  return repository;
}
