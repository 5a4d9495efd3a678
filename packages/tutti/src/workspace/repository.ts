import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { bothOrFirstError } from "./both-or-first-error.ts";
import { readForeignFile } from "../foreign-file.ts";
import { TuttiError } from "../schema/error.ts";
import { isTooOld, readGitVersion } from "./git-version.ts";
import { git, items, OLDEST_GIT, text, type GitOptions, type GitOutput } from "./git.ts";
import type { DialogueOptions } from "./dialogue/git-dialogue.ts";
import { findBlob, findCommitObject, findObject, type CommitObject } from "./dialogue/objects.ts";
import { compareTrees } from "./dialogue/tree-changes.ts";
import type { RepositoryFacts } from "./workspace.ts";

export interface Repository {
  /** The top folder of the checkout, with symbolic links resolved. */
  root: string;
  /** Path of the folder that `locate` got, relative to `root`. */
  prefix: string;
  /** Git folder of this checkout. Differs from `commonDir` if the checkout is a linked worktree. */
  gitDir: string;
  /** The git folder that all checkouts share. `commonDir` has the objects, refs and configuration. */
  commonDir: string;
  /** True for the repository that Tutti keeps for a folder without git. */
  isCopy?: boolean;
  /** `settings` apply to every command on this repository. */
  settings?: GitOptions["settings"];
}

/** `located` caches `locate` by folder. `signs` is the state of the disk on which the entry depends. */
const located = new Map<string, { repository: Repository; signs: string }>();
/** `MAX_LOCATED` is more than the folders that one server works on at a time. */
const MAX_LOCATED = 200;

/** Every operation calls `locate`, so git runs again only if `signsOf` shows that its answer may have changed. */
export async function locate(cwd: string): Promise<Repository> {
  if (!(await stat(cwd).catch(() => null))?.isDirectory()) {
    throw new TuttiError("folder_not_found", `The folder "${cwd}" does not exist. Choose a folder that exists.`);
  }
  const folder = await realpath(cwd);
  const cached = located.get(folder);
  if (cached && (await signsOf(folder, cached.repository)) === cached.signs) return cached.repository;
  const repository = await find(cwd, folder);
  if (located.size >= MAX_LOCATED) located.clear();
  located.set(folder, { repository, signs: await signsOf(folder, repository) });
  return repository;
}

/** Identifies each `.git` from `root` down to `folder` and the git folders, which decide where the repository is. */
async function signsOf(folder: string, { root, gitDir, commonDir }: Repository): Promise<string> {
  const between = relative(root, folder).split(sep);
  const above = between.map((_, depth) => join(root, ...between.slice(0, depth + 1)));
  const marks = [root, ...above].map((each) => join(each, ".git"));
  const signs = await Promise.all([...marks, gitDir, commonDir].map(signOf));
  return signs.join(" ");
}

/**
 * `mtimeMs` of a folder changes with its content. That of a `.git` file shows that it may name another git folder.
 */
async function signOf(path: string): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (!found) return "-";
  return [found.dev, found.ino, found.isDirectory() ? "" : found.mtimeMs].join(":");
}

/** Locating a repository starts no program from it, so this command needs no explicit `gitDir`. */
async function find(cwd: string, folder: string): Promise<Repository> {
  const args = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
  const found = await git(`find the repository of ${cwd}`, args, { cwd: folder, accept: [128] });
  if (found.code !== 0) throw notFound(cwd, text(found.stderr).trim());
  const [root, gitDir, commonDir, ...rest] = text(found.stdout).replace(/\n$/, "").split("\n");
  if (!root || !gitDir || !commonDir || rest.length > 0) {
    throw new TuttiError(
      "git_failed",
      `The path of the repository of "${cwd}" contains a line break. Rename that folder.`,
    );
  }
  const top = await realpath(root);
  return {
    root: top,
    prefix: relative(top, folder),
    gitDir: await realpath(gitDir),
    commonDir: await realpath(commonDir),
  };
}

function notFound(cwd: string, reason: string): TuttiError {
  // Git says "must be run in a work tree" in a bare repository or inside a .git folder; these are not `isPlain`.
  if (/not a git repository|must be run in a work tree/.test(reason)) {
    const advice = `Run "git init" and make a first commit there, or choose another folder.`;
    return new TuttiError(
      "not_a_repository",
      `The folder "${cwd}" is not in the checkout of a git repository. ${advice}`,
      { details: { isPlain: reason.includes("not a git repository") } },
    );
  }
  if (reason.includes("dubious ownership")) {
    const [sentence = ""] = reason.replace(/^fatal: /, "").split("\n");
    const advice = `If you trust it, run "git config --global --add safe.directory FOLDER" with that folder.`;
    return new TuttiError("repository_unusable", `Git rejects the repository of "${cwd}": ${sentence}. ${advice}`);
  }
  return new TuttiError(
    "git_failed",
    `Git could not find the repository of "${cwd}": ${reason}. Correct this, then try again.`,
  );
}

export async function inspect(repository: Repository): Promise<RepositoryFacts> {
  const { root, prefix, gitDir, settings } = repository;
  const options = { cwd: root, gitDir, workTree: root, settings };
  // Without `--ignore-submodules` git would start itself inside submodules, with their configuration.
  const flags = ["--untracked-files=normal", "--ignore-submodules=dirty", "--branch", "--no-ahead-behind"];
  const args = ["status", "--porcelain=v2", "-z", ...flags];
  const looking = git("look for uncommitted changes", args, options);
  const [head, status] = await bothOrFirstError(findHead(root, gitDir), looking);
  const lines = items(status.stdout);
  const [, branch = null] =
    /^# branch\.head (.*)$/s.exec(lines.find((line) => line.startsWith("# branch.head ")) ?? "") ?? [];
  return {
    root,
    prefix,
    head,
    branch: branch === null || branch === "(detached)" ? null : text(branch),
    dirty: lines.some((line) => !line.startsWith("# ")),
    ...(await findGaps(repository, options)),
  };
}

export async function findHead(root: string, gitDir: string): Promise<string> {
  const options = { cwd: root, gitDir, workTree: root };
  return (await findObject("HEAD^{commit}", options)) ?? explainHead(root, options);
}

/** A new worktree lacks the files of submodules and, without the filter of Git LFS, the content of large files. */
async function findGaps(repository: Repository, options: GitOptions): Promise<{ gaps?: string[] }> {
  const { root } = repository;
  const gaps: string[] = [];
  if (await lstat(join(root, ".gitmodules")).catch(() => null))
    gaps.push("Submodules are not checked out in the workspaces of agents, whose folders are empty there.");
  if (await usesLfs(repository, options)) {
    const args = ["config", "--get-regexp", "^filter\\.lfs\\.(process|smudge)$"];
    const { code } = await git("look for git-lfs", args, { ...options, accept: [1] });
    if (code !== 0)
      gaps.push('The repository uses Git LFS, which is not set up. Agents see pointers; run "git lfs install" first.');
  }
  return gaps.length > 0 ? { gaps } : {};
}

/** Git runs only if the index has attributes below the root. A version 4 of it does not contain whole paths. */
async function usesLfs({ root, gitDir }: Repository, options: GitOptions): Promise<boolean> {
  if (/\bfilter=lfs\b/.test(readAttributes(root))) return true;
  const index = await readFile(join(gitDir, "index")).catch(() => Buffer.alloc(8));
  if (!index.includes(index[7] === 4 ? ".gitattributes" : "/.gitattributes")) return false;
  const args = [
    "grep",
    "--cached",
    "--quiet",
    "--word-regexp",
    "-e",
    "filter=lfs",
    "--",
    ":(top,glob)**/.gitattributes",
  ];
  return (await git("look for files of Git LFS", args, { ...options, accept: [1] })).code === 0;
}

function readAttributes(root: string): string {
  try {
    return readForeignFile(join(root, ".gitattributes"));
  } catch {
    // Git ignores what it cannot read, too.
    return "";
  }
}

/** Distinguishes a repository without commits (`empty_repository`) from a damaged one, where HEAD cannot be read. */
async function explainHead(root: string, options: GitOptions): Promise<string> {
  const named = await git("read HEAD", ["rev-parse", "--verify", "--quiet", "HEAD"], { ...options, accept: [1] });
  if (named.code !== 0) {
    const advice = `Make a first commit, for example with "git commit --allow-empty -m start".`;
    throw new TuttiError("empty_repository", `The repository "${root}" has no commit yet. ${advice}`);
  }
  return (await git("read the commit of HEAD", ["rev-parse", "--verify", "HEAD^{commit}"], options)).stdout.trim();
}

/** The PATH on which `checkVersion` last found a suitable git. */
let checkedPath: string | undefined;

export async function checkVersion(): Promise<void> {
  if (checkedPath !== undefined && checkedPath === process.env["PATH"]) return;
  const version = await readGitVersion();
  if (isTooOld(version))
    throw new TuttiError("git_missing", `"git version ${version}" is too old. Install git ${OLDEST_GIT} or newer.`);
  checkedPath = process.env["PATH"];
}

/** Unlike `git`, `onRepository` works on `commonDir`: objects, refs and the list of worktrees. */
export function onRepository(
  repository: Repository,
  purpose: string,
  args: readonly string[],
  options: Partial<GitOptions> = {},
): Promise<GitOutput> {
  const { root, commonDir, settings } = repository;
  return git(purpose, args, { cwd: root, gitDir: commonDir, workTree: root, settings, ...options });
}

const GET_COMMIT = 'Fetch it with "git fetch", or restore the repository from a copy.';

/** Returns the full hash. Throws if `revision` names no commit. */
export async function commitOf(repository: Repository, revision: string): Promise<string> {
  const found = await findCommit(repository, revision);
  if (found === null)
    throw new TuttiError(
      "git_failed",
      `The repository "${repository.root}" has no commit "${revision}". ${GET_COMMIT}`,
    );
  return found;
}

export async function findCommit(repository: Repository, revision: string): Promise<string | null> {
  return resolveName(repository, `${revision}^{commit}`);
}

export async function treeOf(repository: Repository, commit: string): Promise<string> {
  const tree = await resolveName(repository, `${commit}^{tree}`);
  if (tree === null)
    throw new TuttiError(
      "git_failed",
      `The repository "${repository.root}" has no tree for the commit "${commit}". ${GET_COMMIT}`,
    );
  return tree;
}

const resolveName = (repository: Repository, name: string): Promise<string | null> =>
  findObject(name, sharedPart(repository));

/** `DialogueOptions` have no settings, since dialogues use only objects and refs. */
export const sharedPart = ({ root, commonDir }: Repository): DialogueOptions => ({
  cwd: root,
  gitDir: commonDir,
  workTree: root,
});

export async function readCommit(repository: Repository, commit: string): Promise<CommitObject> {
  const found = await findCommitObject(commit, sharedPart(repository));
  if (found === null)
    throw new TuttiError("git_failed", `The repository "${repository.root}" has no commit "${commit}". ${GET_COMMIT}`);
  return found;
}

/** `LONGEST_TEXT` is in bytes. */
const LONGEST_TEXT = 500_000;

export async function readText(repository: Repository, commit: string, path: string): Promise<string | null> {
  const raw = await findBlob(`${commit}:${bytesAsLatin1(path)}`, LONGEST_TEXT, sharedPart(repository));
  return raw === null || raw.includes("\0") ? null : text(raw);
}

const bytesAsLatin1 = (path: string): string => Buffer.from(path).toString("latin1");

export async function parentsOf(repository: Repository, commit: string): Promise<readonly string[]> {
  return (await readCommit(repository, commit)).parents;
}

/** Returns whether `ancestor` is in the history of `commit`. A commit is its own ancestor. */
export async function isAncestor(repository: Repository, ancestor: string, commit: string): Promise<boolean> {
  const near = await isNearAncestor(repository, ancestor, commit);
  if (near !== null) return near;
  const args = ["merge-base", "--is-ancestor", ancestor, commit];
  return (await onRepository(repository, `compare ${ancestor} and ${commit}`, args, { accept: [1] })).code === 0;
}

/** Beyond `NEAR` commits a process of git is the faster way than reading them one by one. */
const NEAR = 100;
const NEAR_PARENTS = 8;

/** Reads the history of `commit` until it meets `ancestor` or older commits. Null: it is too long or incomplete. */
export async function isNearAncestor(
  repository: Repository,
  ancestor: string,
  commit: string,
): Promise<boolean | null> {
  if (ancestor === commit) return true;
  const found = new Set([commit]);
  const older = await nearParents(repository, ancestor);
  for (const at of found) {
    if (at === ancestor) return true;
    if (older.has(at)) continue;
    const read = await findCommitObject(at, sharedPart(repository));
    if (!read || found.size > NEAR) return null;
    for (const parent of read.parents) found.add(parent);
  }
  return false;
}

/** Returns the nearest proper ancestors of `commit`. It cannot be in the history of any of them. */
async function nearParents(repository: Repository, commit: string): Promise<Set<string>> {
  const found = new Set([commit]);
  for (const at of found) {
    if (found.size > NEAR_PARENTS) break;
    for (const parent of (await findCommitObject(at, sharedPart(repository)))?.parents ?? []) found.add(parent);
  }
  found.delete(commit);
  return found;
}

/** In seconds since 1970. `newestDate` gives merge commits a date that depends only on their parents. */
export async function newestDate(repository: Repository, commits: readonly string[]): Promise<number> {
  const found = await Promise.all(commits.map((commit) => readCommit(repository, commit)));
  return Math.max(0, ...found.map(({ date }) => date));
}

export async function changedFiles(repository: Repository, from: string, to: string): Promise<string[]> {
  if (from === to) return [];
  const trees = await Promise.all([treeOf(repository, from), treeOf(repository, to)]);
  const changes = await compareTrees(...trees, sharedPart(repository));
  return changes.flatMap(({ path, isFolder }) => (isFolder ? [] : [text(path)])).sort();
}
