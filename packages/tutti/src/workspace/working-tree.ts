// Turns the files of a workspace into a tree.
//
// Invariants
// 1. The files decide. The worktree's index and `.git` file are not read, because the agent can write both.
// 2. Every path that git would show as changed or untracked is in the tree; ignored paths are not.
// 3. Only the filters of the user's project run: no hook, no file watcher, no git inside a nested repository.
import { copyFile, lstat, readdir, rm, stat, utimes } from "node:fs/promises";
import { relative } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { childOf, exists, isDenied, makeAccessible } from "./folder.ts";
import { bytes, git, items, text, type GitOptions } from "./git.ts";
import type { Repository } from "./repository.ts";

export interface WorkingTree {
  folder: string;
  /** Tutti's index with the files' times, so that only touched files are read again. May be missing. */
  index: string | null;
  /** The index to build. Afterwards it lists the returned tree. */
  scratchIndex: string;
  /** Worktrees that the agent created inside its own. They have branches of their own and are left out. */
  skip: readonly string[];
}

/** Git's mode for a commit of another repository. */
const GITLINK = "160000";

/** Writes the files of the folder as a tree. `base` decides which ignored paths are tracked anyway. */
export async function writeWorkingTree(
  repository: Repository,
  work: WorkingTree,
  base: string | null,
): Promise<string> {
  try {
    return await fill(repository, work, base);
  } catch (error) {
    // A file or folder without read permission would be omitted, or would stop git.
    if (!isDenied(error)) throw error;
    await makeAccessible(work.folder);
    return fill(repository, work, base);
  }
}

async function fill(repository: Repository, work: WorkingTree, base: string | null): Promise<string> {
  const { folder, scratchIndex } = work;
  const where: GitOptions = {
    cwd: folder,
    gitDir: repository.commonDir,
    workTree: folder,
    indexFile: scratchIndex,
    settings: repository.settings,
  };
  await loadIndex(work, base, where);
  const { changed, removed } = await trackedChanges(folder, where);
  await updateIndex(["--force-remove"], removed, where);
  const added = await untracked(work, where);
  await updateIndex(["--add", "--remove", "--replace"], [...changed, ...added], where);
  return (await git("write the tree of a workspace", ["write-tree"], where)).stdout.trim();
}

/** Initialises the scratch index from `base`, with the file times of `index` if it exists. */
async function loadIndex(work: WorkingTree, base: string | null, where: GitOptions): Promise<void> {
  const { index, scratchIndex } = work;
  await clearScratch(scratchIndex);
  const purpose = "read a commit into an index";
  if (base === null) {
    await git(purpose, ["read-tree", "--empty"], where);
    return;
  }
  if (index !== null && (await exists(index))) {
    await copyIndex(index, scratchIndex);
    if ((await git(purpose, ["read-tree", "-i", "-m", base], { ...where, accept: [1, 128] })).code === 0) return;
    await clearScratch(scratchIndex);
  }
  await git(purpose, ["read-tree", base], where);
}

export async function clearScratch(scratchIndex: string): Promise<void> {
  for (const path of [scratchIndex, `${scratchIndex}.lock`]) await rm(path, { force: true });
}

/** Keeps the index's own time: git uses it to decide whether a file may have changed after the index was written. */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const seconds = Math.floor((await stat(from)).mtimeMs) / 1000;
  await utimes(to, seconds, seconds);
}

async function trackedChanges(folder: string, where: GitOptions): Promise<{ changed: string[]; removed: string[] }> {
  // Compare submodules by their commit only. More would start git inside them.
  const flags = ["--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
  const { stdout, stderr } = await git("compare a workspace", ["diff-files", ...flags], where);
  refuseDenied(stderr);
  const changed: string[] = [];
  const removed: string[] = [];
  const fields = stdout.split("\0");
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = "", newMode, , , status] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    // A submodule stays at the commit of `base`, because a commit made inside it exists only in this worktree.
    if (oldMode === `:${GITLINK}` && newMode === GITLINK) continue;
    const isRemoved = status === "D" || !(await canBeCommitted(folder, path));
    (isRemoved ? removed : changed).push(path);
  }
  return { changed, removed };
}

/** Pipes, sockets and devices cannot be committed. A folder at the path of a file counts as a removal of the file. */
async function canBeCommitted(folder: string, path: string): Promise<boolean> {
  const found = await lstat(childOf(folder, bytes(path))).catch(() => null);
  return found !== null && (found.isFile() || found.isSymbolicLink());
}

async function untracked(work: WorkingTree, where: GitOptions): Promise<string[]> {
  const args = ["ls-files", "-z", "--others", "--exclude-standard"];
  const { stdout, stderr } = await git("list the new files of a workspace", args, where);
  refuseDenied(stderr);
  const skipped = work.skip.map((path) => `${Buffer.from(relative(work.folder, path)).toString("latin1")}/`);
  const wanted = (path: string): boolean => !skipped.some((prefix) => path.startsWith(prefix));
  const found = items(stdout).filter(wanted);
  // Git lists a nested repository by its folder. Committed as a link, its files would be lost with the worktree. They
  // are committed as ordinary files instead, without their history.
  const nested = await Promise.all(
    found.filter((path) => path.endsWith("/")).map((path) => filesBelow(work.folder, path.slice(0, -1))),
  );
  const plain = found.filter((path) => !path.endsWith("/"));
  return [...plain, ...(await withoutIgnored(nested.flat().filter(wanted), where))];
}

async function filesBelow(top: string, folder: string): Promise<string[]> {
  const entries = await readdir(childOf(top, bytes(folder)), { withFileTypes: true, encoding: "buffer" });
  const files: string[] = [];
  for (const entry of entries) {
    const name = entry.name.toString("latin1");
    if (name.toLowerCase() === ".git") continue;
    const path = `${folder}/${name}`;
    if (entry.isDirectory()) files.push(...(await filesBelow(top, path)));
    else if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
  }
  return files;
}

async function withoutIgnored(paths: readonly string[], where: GitOptions): Promise<readonly string[]> {
  if (paths.length === 0) return paths;
  const options = { ...where, input: bytes(paths.join("\0")), accept: [1] };
  const { stdout } = await git("find ignored files", ["check-ignore", "-z", "--no-index", "--stdin"], options);
  const ignored = new Set(items(stdout));
  return paths.filter((path) => !ignored.has(path));
}

async function updateIndex(flags: readonly string[], paths: readonly string[], where: GitOptions): Promise<void> {
  if (paths.length === 0) return;
  const input = bytes(paths.join("\0"));
  await git("read the files of a workspace", ["update-index", ...flags, "-z", "--stdin"], { ...where, input });
}

/** Git only warns about files that it may not read and then treats them as missing. */
function refuseDenied(stderr: string): void {
  if (/Permission denied/.test(stderr)) throw new TuttiError("git_failed", text(stderr).trim());
}
