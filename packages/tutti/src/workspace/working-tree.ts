// From the files in a workspace to a tree in the repository.
//
// Invariants
// 1. The files are the truth. The worktree's own index and `.git` file are not read, because the agent can write both.
// 2. Every path that git would show as changed or untracked is in the tree, ignored ones are not.
// 3. Nothing is started but the filters that the person's project uses: no hook, no file watcher, no git inside a
//    nested repository.
import { copyFile, lstat, readdir, rm, stat, utimes } from "node:fs/promises";
import { relative } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { childOf, exists, isDenied, makeAccessible } from "./folder.ts";
import { bytes, git, items, text } from "./git.ts";
import type { GitOptions } from "./git.ts";
import type { Repository } from "./repository.ts";

export interface WorkingTree {
  folder: string;
  /** An index of ours that knows the files' times, so that only what was touched is read again; may be missing. */
  index: string | null;
  /** The index to fill; afterwards it lists the returned tree. */
  scratchIndex: string;
  /** Worktrees that the agent made inside its own; they are on branches of their own and are not part of this one. */
  skip: readonly string[];
}

/** Git's own mode for "a commit of another repository". */
const GITLINK = "160000";

/** Writes a tree with what the folder holds. `base` says which ignored paths are tracked all the same. */
export async function writeWorkingTree(
  repository: Repository,
  work: WorkingTree,
  base: string | null,
): Promise<string> {
  try {
    return await fill(repository, work, base);
  } catch (error) {
    // A file or folder that its owner may not read would be left out, or stop everything.
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
  };
  await loadIndex(work, base, where);
  const { changed, removed } = await trackedChanges(folder, where);
  await updateIndex(["--force-remove"], removed, where);
  const added = await untracked(work, where);
  await updateIndex(["--add", "--remove", "--replace"], [...changed, ...added], where);
  return (await git("write the tree of a workspace", ["write-tree"], where)).stdout.trim();
}

/** Starts the scratch index at `base`, with the known times of files where there are any. */
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

/** Copies with its time, by which git tells whether a file may have changed after the index was written. */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const seconds = Math.floor((await stat(from)).mtimeMs) / 1000;
  await utimes(to, seconds, seconds);
}

async function trackedChanges(folder: string, where: GitOptions): Promise<{ changed: string[]; removed: string[] }> {
  // Submodules are compared by their commit only; asking for more would start git inside them.
  const flags = ["--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
  const { stdout, stderr } = await git("compare a workspace", ["diff-files", ...flags], where);
  refuseDenied(stderr);
  const changed: string[] = [];
  const removed: string[] = [];
  const fields = stdout.split("\0");
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = "", newMode, , , status] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    // A submodule stays at the commit that the base records: a commit made in it lives only in this worktree.
    if (oldMode === `:${GITLINK}` && newMode === GITLINK) continue;
    const gone = status === "D" || !(await canBeCommitted(folder, path));
    (gone ? removed : changed).push(path);
  }
  return { changed, removed };
}

/** Pipes, sockets and devices have no place in a commit; a folder in a file's place makes the file a removed one. */
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
  // Git names a nested repository by its folder. As a link to a commit its files would be lost with the worktree, so
  // they are taken as ordinary files, without its history.
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

/** Git only warns about what it may not read, and would then treat it as not there. */
function refuseDenied(stderr: string): void {
  if (/Permission denied/.test(stderr)) throw new TuttiError("git_failed", text(stderr).trim());
}
