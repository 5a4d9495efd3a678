// `writeWorkingTree` turns the files of a workspace into a tree.
//
// Invariants
// 1. The files decide. The worktree's index and `.git` file are not read, because the agent can write both. Only for
//    missing files `openSkipped` finds in the index which of them git skips: those are not deleted.
// 2. Every path that git would show as changed or untracked is in the tree; ignored paths are not.
// 3. Only the filters of the user's project run: no hook, no file watcher, no git inside a nested repository.
import { constants, copyFile, lstat, lutimes, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { bootId } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";
import { isSparse, readMark, readSkipped, skippedByAgent, withSparse } from "./disk/sparse-files.ts";
import { writeIndexTree } from "./disk/index-tree.ts";
import { hashNameOf } from "./disk/loose-object.ts";
import { isUnchanged, readStamp, type FolderStamp } from "./disk/folder-stamp.ts";
import { childOf, exists, isDenied, makeAccessible } from "./folder.ts";
import { bytes, git, items, text, type GitOptions } from "./git.ts";
import { compareTrees } from "./dialogue/tree-changes.ts";
import { sharedPart, treeOf, type Repository } from "./repository.ts";
import type { WorkspacePaths } from "./workspace-paths.ts";

/** `index` has the files' times, so that only touched files are read again. Afterwards `scratchIndex` lists the tree. */
interface WorkingTree extends Pick<WorkspacePaths, "index" | "indexedCommit" | "scratchIndex"> {
  /** Missing for a folder that is no workspace. */
  sparse?: string;
  /** `adminDir` is git's folder of the worktree. It is missing for a folder that is none. */
  adminDir?: string | undefined;
  folder: string;
  /** Worktrees that the agent created inside its own. They have their own branches, so `withNested` leaves them out. */
  skip: readonly string[];
}

/** `GITLINK` is git's mode for a commit of another repository. */
const GITLINK = "160000";
/** As an index contains it. */
const GITLINK_MODE = Buffer.from([0, 0, 0o160000 >> 8, 0]);

/** The tree of a folder, valid while its files have `stamp`. `index` lists it if `isIndexed`. */
interface KnownTree {
  stamp: FolderStamp;
  tree: string;
  /** The tree of the `base` from which `tree` was made. */
  from: string;
  skip: string;
  isIndexed: boolean;
}

/** The keys of `knownTrees` are folders. */
const knownTrees = new Map<string, KnownTree>();
/** `MAX_KNOWN` is more than the open workspaces of one server. A forgotten tree is only computed again. */
const MAX_KNOWN = 1000;

/** `base` decides which ignored paths are tracked anyway. */
export async function writeWorkingTree(
  repository: Repository,
  work: WorkingTree,
  base: string | null,
): Promise<string> {
  const from = base === null ? "" : await treeOf(repository, base);
  const known = await reuseTree(work, from);
  if (known !== null) return known;
  // `readStamp` comes before git reads the files, so that a later change does not go unnoticed.
  const stamp = readStamp(work.folder);
  const { tree, isPartial } = await fillOrAllow(repository, work, base);
  // With `isPartial`, git can record the deletion of a file that is not in the folder anyway.
  const isKnown = stamp !== null && !isPartial;
  remember(work.folder, isKnown ? { stamp, tree, from, skip: work.skip.join("\0"), isIndexed: false } : null);
  return tree;
}

function remember(folder: string, known: KnownTree | null): void {
  knownTrees.delete(folder);
  if (knownTrees.size >= MAX_KNOWN) knownTrees.clear();
  if (known) knownTrees.set(folder, known);
}

/** Call `rememberCheckout` for a new workspace, which has exactly the files of `tree` in its index. */
export function rememberCheckout(folder: string, tree: string): void {
  const stamp = readStamp(folder);
  remember(folder, stamp && { stamp, tree, from: tree, skip: "", isIndexed: true });
}

/** Whether nothing has changed since `rememberCheckout`. False if that is unknown. */
export function isUntouched(folder: string): boolean {
  const known = knownTrees.get(folder);
  return known !== undefined && isUnchanged(folder, known.stamp);
}

/** Call `forgetTree` when anything but the agent changes or removes the files. */
export const forgetTree = (folder: string): void => remember(folder, null);

/** Returns the tree of the last time if nothing has changed since. Then `scratchIndex` lists it as well. */
async function reuseTree(work: WorkingTree, from: string): Promise<string | null> {
  const known = knownTrees.get(work.folder);
  if (!known?.isIndexed || known.skip !== work.skip.join("\0")) return null;
  if ((from !== known.from && from !== known.tree) || !isUnchanged(work.folder, known.stamp)) return null;
  if (!(await exists(work.index))) return null;
  await clearScratch(work.scratchIndex);
  await copyIndex(work.index, work.scratchIndex);
  return known.tree;
}

/** `isPartial` if some files of the tree are not in the folder. */
interface FilledTree {
  tree: string;
  isPartial: boolean;
}

async function fillOrAllow(repository: Repository, work: WorkingTree, base: string | null): Promise<FilledTree> {
  try {
    return await fill(repository, work, base);
  } catch (error) {
    // A file or folder without read permission would be omitted, or would stop git, so `makeAccessible` comes first.
    if (!isDenied(error)) throw error;
    await makeAccessible(work.folder);
    return fill(repository, work, base);
  }
}

async function fill(repository: Repository, work: WorkingTree, base: string | null): Promise<FilledTree> {
  const { folder, scratchIndex } = work;
  const whole: GitOptions = {
    cwd: folder,
    gitDir: repository.commonDir,
    workTree: folder,
    indexFile: scratchIndex,
    settings: repository.settings,
  };
  await loadIndex(work, base, whole);
  const marked = await readMark(work.sparse);
  const where = marked === null ? whole : withSparse(whole);
  const skipped = await openSkipped(work, marked, whole);
  if (base !== null && marked === null && !skipped.isSparse) {
    const tree = await addAll(repository, work, base, skipped, whole);
    if (tree !== null) return { tree, isPartial: false };
    await loadIndex(work, base, whole);
  }
  const found = await differences(work, where, skipped);
  await updateIndex(["--force-remove"], found.removed, where);
  // Git does not list the files below a folder that replaced a file until the file is gone from the index, so
  // `differences` runs again.
  const { added } = found.removed.length === 0 ? found : await differences(work, where, skipped);
  const written = [...found.changed, ...added];
  const isPartial = skipped.isSparse || found.isPartial;
  if (base !== null && found.removed.length + written.length === 0)
    return { tree: await treeOf(repository, base), isPartial };
  await updateIndex(["--add", "--remove", "--replace"], written, where);
  const known = base === null ? null : await writeIndexTree(repository, scratchIndex, hashNameOf(base));
  return {
    tree: known ?? (await git("write the tree of a workspace", ["write-tree"], where)).stdout.trim(),
    isPartial,
  };
}

/**
 * A single git process records most changes: it compares the files and reads those that differ. Returns the tree, or null
 * if there is a file that only `differences` treats right, and the index has to be loaded again.
 */
async function addAll(
  repository: Repository,
  work: WorkingTree,
  base: string,
  skipped: SkippedFiles,
  where: GitOptions,
): Promise<string | null> {
  const { folder, scratchIndex } = work;
  // `add` would look into a submodule, and would record a worktree of the agent as one.
  if (work.skip.length > 0 || (await hasGitlink(scratchIndex))) return null;
  const added = await git("compare a workspace", ["add", "--all"], { ...where, accept: [1, 128] });
  if (added.code !== 0 || (await hasGitlink(scratchIndex))) return null;
  refuseDenied(added.stderr);
  const known = await writeIndexTree(repository, scratchIndex, hashNameOf(base));
  const tree = known ?? (await git("write the tree of a workspace", ["write-tree"], where)).stdout.trim();
  const from = await treeOf(repository, base);
  if (tree === from) return tree;
  const changes = await compareTrees(from, tree, sharedPart(repository));
  const removed = changes.filter(({ hash, isFolder }) => hash === null && !isFolder).map(({ path }) => path);
  // `removed` also has paths at which a folder, a pipe or a socket is now; `differences` handles those.
  for (const path of removed) if (await exists(childOf(folder, bytes(path)))) return null;
  const hidden = await skipped.list(removed);
  return removed.some((path) => hidden.has(path)) ? null : tree;
}

/** Also true for an index that has the same bytes in another place. */
async function hasGitlink(index: string): Promise<boolean> {
  return (await readFile(index)).includes(GITLINK_MODE);
}

interface SkippedFiles {
  isSparse: boolean;
  /** Reads an index only if files are `missing`. */
  list(missing: readonly string[]): Promise<ReadonlySet<string>>;
}

const NONE: ReadonlySet<string> = new Set();

/** `openSkipped` trusts the agent's index for missing files only, and a damaged index not at all. */
async function openSkipped(work: WorkingTree, marked: string | null, where: GitOptions): Promise<SkippedFiles> {
  const adminDir = marked ?? work.adminDir;
  if (adminDir === undefined) return { isSparse: false, list: async () => NONE };
  if (await isSparse(adminDir)) {
    const skipped = await readSkipped(adminDir, where);
    return { isSparse: true, list: async () => skipped };
  }
  const list = (): Promise<ReadonlySet<string>> => skippedByAgent(adminDir, where).catch(() => NONE);
  return { isSparse: false, list: async (missing) => (missing.length === 0 ? NONE : list()) };
}

/** Fills `scratchIndex` from `base`, with the file times of `index` if it exists. */
async function loadIndex(work: WorkingTree, base: string | null, where: GitOptions): Promise<void> {
  const { index, indexedCommit, scratchIndex } = work;
  await clearScratch(scratchIndex);
  const purpose = "read a commit into an index";
  if (base === null) {
    await git(purpose, ["read-tree", "--empty"], where);
    return;
  }
  if (await exists(index)) {
    await copyIndex(index, scratchIndex);
    if ((await readFile(indexedCommit, "utf8").catch(() => null)) === indexMark(base)) return;
    if ((await git(purpose, ["read-tree", "-i", "-m", base], { ...where, accept: [1, 128] })).code === 0) return;
    await clearScratch(scratchIndex);
  }
  await git(purpose, ["read-tree", base], where);
}

export async function clearScratch(scratchIndex: string): Promise<void> {
  for (const path of [scratchIndex, `${scratchIndex}.lock`]) await rm(path, { force: true });
}

/**
 * Keeps `mtimeMs`: git uses it to decide whether a file may have changed after the index was written. Replaces `to`, in
 * whose place an agent may have put a link to another file.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const seconds = Math.floor((await stat(from)).mtimeMs) / 1000;
  await lutimes(to, seconds, seconds);
}

/** `indexMark` contains the boot id, because a power cut may truncate an index. */
const indexMark = (commit: string): string => `${bootId()} ${commit}`;

/** Makes `scratchIndex`, which must list `commit`, the index of the workspace `folder`. */
export async function keepIndex(
  folder: string,
  { index, indexedCommit, scratchIndex }: Pick<WorkspacePaths, "index" | "indexedCommit" | "scratchIndex">,
  commit: string,
): Promise<void> {
  await rm(indexedCommit, { force: true });
  await rename(scratchIndex, index);
  await writeFile(indexedCommit, indexMark(commit), { mode: 0o600 });
  const known = knownTrees.get(folder);
  if (known) knownTrees.set(folder, { ...known, isIndexed: true });
}

interface Differences {
  /** `isPartial` if missing files are not `removed`, because git skips them. */
  isPartial: boolean;
  changed: string[];
  removed: string[];
  added: string[];
}

/** A single `ls-files` compares the files with the index: most workspaces have few changes or none. */
async function differences(work: WorkingTree, where: GitOptions, skipped: SkippedFiles): Promise<Differences> {
  const args = ["ls-files", "-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard"];
  const { stdout, stderr } = await git("compare a workspace", args, where);
  refuseDenied(stderr);
  // `-t` prints each item as a tag, a space and a path: `?` is untracked. A deleted path has the tags of a removal and
  // a change.
  const listed = items(stdout);
  const isUntracked = (item: string): boolean => item.startsWith("?");
  const tracked = new Set(listed.filter((item) => !isUntracked(item)).map((item) => item.slice(2)));
  const changed: string[] = [];
  const missing: string[] = [];
  const special: string[] = [];
  const folders: string[] = [];
  for (const path of tracked) {
    const found = await lstat(childOf(work.folder, bytes(path))).catch(() => null);
    // `canBeCommitted` is false for pipes, sockets and devices.
    const canBeCommitted = found !== null && (found.isFile() || found.isSymbolicLink());
    (found === null ? missing : canBeCommitted ? changed : found.isDirectory() ? folders : special).push(path);
  }
  const hidden = await skipped.list(missing);
  const deleted = missing.filter((path) => !hidden.has(path));
  // A folder at the path of a file is a removal of the file. `submodules` stay at the commit of `base`, because a
  // commit made inside one exists only in this worktree.
  const submodules = await submodulesAmong(folders, where);
  const removed = [...deleted, ...special, ...folders.filter((path) => !submodules.has(path))];
  const untracked = listed.filter(isUntracked).map((item) => item.slice(2));
  const isPartial = deleted.length < missing.length;
  return { isPartial, changed, removed, added: await withNested(work, untracked, where) };
}

async function submodulesAmong(paths: readonly string[], where: GitOptions): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const args = ["ls-files", "-z", "--stage", "--", ...paths.map((path) => `:(literal)${text(path)}`)];
  const { stdout } = await git("find the submodules of a workspace", args, where);
  const links = items(stdout).filter((item) => item.startsWith(GITLINK));
  return new Set(links.map((item) => item.slice(item.indexOf("	") + 1)));
}

/** Replaces each nested repository among the `untracked` paths by its files. */
async function withNested(work: WorkingTree, untracked: readonly string[], where: GitOptions): Promise<string[]> {
  const skipped = work.skip.map((path) => `${Buffer.from(relative(work.folder, path)).toString("latin1")}/`);
  const wanted = (path: string): boolean => !skipped.some((prefix) => path.startsWith(prefix));
  const found = untracked.filter(wanted);
  // Git lists a nested repository by its folder. Committed as a `GITLINK`, its files would be lost with the worktree.
  // They are committed as ordinary files instead, without their history.
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
  if (/Permission denied/.test(stderr))
    throw new TuttiError("git_failed", `${text(stderr).trim()}. Make these files readable.`);
}
