// `checkFolders` rejects repositories that lead to folders which a run must not use. Git follows its own pointers
// (`.git` files, `commondir`, alternates) and symbolic links, and all of them can change after a run was created.
// Therefore the check is repeated for every operation.
import { readdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { onRepository, type Repository } from "../repository.ts";
import { isInside } from "../workspace-paths.ts";

export interface FolderLimits {
  /** Tutti's own data, with symbolic links resolved. `checkFolders` rejects a repository inside it. */
  dataFolder?: string;
  /** `mayUse` throws for a folder that runs may not use. */
  mayUse?: (folder: string) => void;
}

/** Git follows chains of alternates up to `MAX_DEPTH`, too. */
const MAX_DEPTH = 5;

/** The folders of a git folder in which a link would let git read or write elsewhere. Names of runs are not foreseeable. */
const LINKED = [".", "objects", "refs", "refs/heads", "logs", "logs/refs", "logs/refs/heads"];

export async function checkFolders(repository: Repository, { dataFolder, mayUse }: FolderLimits): Promise<void> {
  const { root, gitDir, commonDir, isCopy } = repository;
  // With `isCopy`, Tutti itself made the git folder, in `dataFolder`.
  const folders = isCopy ? [root] : [root, gitDir, commonDir];
  if (dataFolder !== undefined && folders.some((folder) => folder === dataFolder || isInside(dataFolder, folder)))
    throw ownData(root, dataFolder);
  if (mayUse === undefined) return;
  if (isCopy) return mayUse(root);
  const objects = join(commonDir, "objects");
  const inside = [...new Set([gitDir, commonDir])].flatMap((folder) => LINKED.map((name) => join(folder, name)));
  const linked = await Promise.all(inside.map(linksIn));
  for (const folder of new Set([...folders, ...linked.flat(), ...(await alternatesOf(objects))])) mayUse(folder);
}

/** Rejects a `dataFolder` inside the checkout unless git ignores it. */
export async function refuseVisibleData(repository: Repository, { dataFolder }: FolderLimits): Promise<void> {
  if (dataFolder !== undefined && (await isVisibleIn(repository, dataFolder)))
    throw ownData(repository.root, dataFolder);
}

function ownData(root: string, dataFolder: string): TuttiError {
  const advice = "Choose another folder for the run, or another data folder with --data-dir.";
  return new TuttiError(
    "repository_unusable",
    `The repository "${root}" would contain Tutti's own data folder "${dataFolder}", or lies in it. ${advice}`,
  );
}

/** Whether git would show `folder` as untracked files of the checkout, or whether it is in the git folder. */
export async function isVisibleIn(repository: Repository, folder: string): Promise<boolean> {
  const { root, commonDir } = repository;
  if (folder === commonDir || isInside(commonDir, folder)) return true;
  if (folder !== root && !isInside(root, folder)) return false;
  const args = ["check-ignore", "-q", "--", folder];
  return (await onRepository(repository, "find ignored folders", args, { accept: [1, 128] })).code !== 0;
}

async function linksIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink()).map((entry) => join(folder, entry.name));
  return Promise.all(links.map((link) => realpath(link).catch(() => link)));
}

/** Returns the object folders that `objects` borrows from, directly or through another, up to `MAX_DEPTH`. */
async function alternatesOf(objects: string, depth = 1): Promise<string[]> {
  const listed = await readFile(join(objects, "info", "alternates"), "utf8").catch(() => "");
  const lines = listed.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const folders = await Promise.all(lines.map((line) => realAlternate(objects, line)));
  if (depth === MAX_DEPTH) return folders;
  const further = await Promise.all(folders.map((folder) => alternatesOf(folder, depth + 1)));
  return [...folders, ...further.flat()];
}

async function realAlternate(objects: string, line: string): Promise<string> {
  // Git accepts a quoted path. `realAlternate` does not decode it and returns "/", which fails closed.
  const folder = line.startsWith('"') ? "/" : resolve(objects, line);
  return realpath(folder).catch(() => folder);
}
