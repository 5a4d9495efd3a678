// The person's repository: where it is, what state it is in, and the questions about commits that all parts ask.
import { lstat, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { git, items, text } from "./git.ts";
import type { GitOptions, GitOutput } from "./git.ts";
import { findObject } from "./object-names.ts";
import type { RepositoryFacts } from "./workspace.ts";

export interface Repository {
  /** Top folder of the checkout that was asked for, with symbolic links resolved. */
  root: string;
  /** Where the folder that was asked for lies below the root. */
  prefix: string;
  /** The checkout's own administration; differs from `commonDir` when the checkout is itself a linked worktree. */
  gitDir: string;
  /** What all checkouts share: objects, refs and configuration. */
  commonDir: string;
}

const OLDEST_GIT = [2, 38] as const;

/** Where repositories were found, by the folder that was asked for, with what must not have changed since. */
const located = new Map<string, { repository: Repository; signs: string }>();
/** More folders than one server works on at a time. */
const MAX_LOCATED = 200;

/** Every operation begins with this, so git is asked again only when the disk shows that its answer may be another. */
export async function locate(cwd: string): Promise<Repository> {
  if (!(await stat(cwd).catch(() => null))?.isDirectory()) {
    throw new TuttiError("folder_not_found", `The folder ${cwd} does not exist; give a folder that is there.`);
  }
  const folder = await realpath(cwd);
  const known = located.get(folder);
  if (known && (await signsOf(folder, known.repository)) === known.signs) return known.repository;
  const repository = await find(cwd, folder);
  if (located.size >= MAX_LOCATED) located.clear();
  located.set(folder, { repository, signs: await signsOf(folder, repository) });
  return repository;
}

/** What of the disk decides where the repository of a folder is: each `.git` on the way up, and what it leads to. */
async function signsOf(folder: string, { root, gitDir, commonDir }: Repository): Promise<string> {
  const between = relative(root, folder).split(sep);
  const above = between.map((_, depth) => join(root, ...between.slice(0, depth + 1)));
  const marks = [root, ...above].map((each) => join(each, ".git"));
  const signs = await Promise.all([...marks, gitDir, commonDir].map(signOf));
  return signs.join(" ");
}

/** A folder stays the same one whatever is written in it; a file that leads elsewhere may be written anew. */
async function signOf(path: string): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (!found) return "-";
  return [found.dev, found.ino, found.isDirectory() ? "" : found.mtimeMs].join(":");
}

/** Asking git where a repository is runs nothing from it, so this one command needs no explicit folders. */
async function find(cwd: string, folder: string): Promise<Repository> {
  const args = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
  const found = await git(`find the repository of ${cwd}`, args, { cwd: folder, accept: [128] });
  if (found.code !== 0) throw notFound(cwd, text(found.stderr).trim());
  const [root, gitDir, commonDir, ...rest] = text(found.stdout).replace(/\n$/, "").split("\n");
  if (!root || !gitDir || !commonDir || rest.length > 0) {
    throw new TuttiError("git_failed", `The path of the repository of ${cwd} holds a line break; rename that folder.`);
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
  // Without a work tree the folder is a bare repository or lies inside a .git folder.
  if (/not a git repository|must be run in a work tree/.test(reason)) {
    const advice = `run "git init" and make a first commit there, or choose another folder`;
    return new TuttiError(
      "not_a_repository",
      `The folder ${cwd} is not in the checkout of a git repository; ${advice}.`,
    );
  }
  return new TuttiError("git_failed", `Git could not find the repository of ${cwd}: ${reason}`);
}

export async function inspect(cwd: string): Promise<RepositoryFacts> {
  await checkVersion(cwd);
  const repository = await locate(cwd);
  const { root, prefix, gitDir } = repository;
  const own = { cwd: root, gitDir, workTree: root };
  const head = (await findObject("HEAD^{commit}", own)) ?? (await explainHead(root, own));
  const branch = await git("read the branch", ["symbolic-ref", "--quiet", "--short", "HEAD"], { ...own, accept: [1] });
  // Looking into submodules would start git inside them, with their own configuration.
  const status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"];
  const changes = await git("look for uncommitted changes", status, own);
  return {
    root,
    prefix,
    head,
    branch: branch.code === 0 ? text(branch.stdout).trim() : null,
    dirty: changes.stdout !== "",
  };
}

/** Why HEAD has no commit: a repository without any, or one that cannot be read, which is damage. */
async function explainHead(root: string, own: GitOptions): Promise<string> {
  const named = await git("read HEAD", ["rev-parse", "--verify", "--quiet", "HEAD"], { ...own, accept: [1] });
  if (named.code !== 0) {
    const advice = `make a first commit, for example with "git commit --allow-empty -m start"`;
    throw new TuttiError("empty_repository", `The repository at ${root} has no commit yet; ${advice}.`);
  }
  return (await git("read the commit of HEAD", ["rev-parse", "--verify", "HEAD^{commit}"], own)).stdout.trim();
}

/** Where programs were looked for when the git found there was new enough. */
let checkedPath: string | undefined;

async function checkVersion(cwd: string): Promise<void> {
  if (checkedPath !== undefined && checkedPath === process.env["PATH"]) return;
  const folder = (await stat(cwd).catch(() => null))?.isDirectory() ? cwd : process.cwd();
  const { stdout } = await git("tell its version", ["--version"], { cwd: folder });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const [oldMajor, oldMinor] = OLDEST_GIT;
  if (Number(major) > oldMajor || (Number(major) === oldMajor && Number(minor) >= oldMinor)) {
    checkedPath = process.env["PATH"];
    return;
  }
  throw new TuttiError("git_missing", `Tutti needs git ${oldMajor}.${oldMinor} or newer, but found: ${stdout.trim()}.`);
}

/** A command on what all checkouts share: objects, refs, the list of worktrees. */
export function onRepository(
  repository: Repository,
  purpose: string,
  args: readonly string[],
  options: Partial<GitOptions> = {},
): Promise<GitOutput> {
  const { root, commonDir } = repository;
  return git(purpose, args, { cwd: root, gitDir: commonDir, workTree: root, ...options });
}

/** The full hash of the commit that a revision names; refuses what names none. */
export async function commitOf(repository: Repository, revision: string): Promise<string> {
  const found = await findCommit(repository, revision);
  if (found === null)
    throw new TuttiError("git_failed", `The repository at ${repository.root} has no commit ${revision}.`);
  return found;
}

export async function findCommit(repository: Repository, revision: string): Promise<string | null> {
  return named(repository, `${revision}^{commit}`);
}

export async function treeOf(repository: Repository, commit: string): Promise<string> {
  const tree = await named(repository, `${commit}^{tree}`);
  if (tree === null)
    throw new TuttiError("git_failed", `The repository at ${repository.root} has no tree of ${commit}.`);
  return tree;
}

const named = ({ root, commonDir }: Repository, name: string): Promise<string | null> =>
  findObject(name, { cwd: root, gitDir: commonDir, workTree: root });

export async function parentsOf(repository: Repository, commit: string): Promise<string[]> {
  const { stdout } = await onRepository(repository, `read ${commit}`, ["rev-parse", `${commit}^@`]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Whether `ancestor` is in the history of `commit`; a commit is in its own. */
export async function isAncestor(repository: Repository, ancestor: string, commit: string): Promise<boolean> {
  if (ancestor === commit) return true;
  const args = ["merge-base", "--is-ancestor", ancestor, commit];
  return (await onRepository(repository, `compare ${ancestor} and ${commit}`, args, { accept: [1] })).code === 0;
}

/** The newest committer date among the commits, in seconds. */
export async function newestDate(repository: Repository, commits: readonly string[]): Promise<number> {
  const args = ["rev-list", "--no-walk", "--timestamp", ...commits];
  const { stdout } = await onRepository(repository, "read the dates of commits", args);
  return Math.max(0, ...stdout.split("\n").map((line) => Number.parseInt(line, 10) || 0));
}

export async function changedFiles(repository: Repository, from: string, to: string): Promise<string[]> {
  const flags = ["-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv"];
  const { stdout } = await onRepository(repository, "compare two commits", [
    "diff-tree",
    ...flags,
    "--end-of-options",
    from,
    to,
  ]);
  return items(stdout).map(text).sort();
}

export async function commitTree(
  repository: Repository,
  commit: { tree: string; parents: readonly string[]; message: string; date?: number },
): Promise<string> {
  const { tree, parents, message, date } = commit;
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  const options = { input: Buffer.from(message), ...(date === undefined ? {} : { date }) };
  return (await onRepository(repository, "commit", args, options)).stdout.trim();
}
