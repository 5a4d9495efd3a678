// Folders without git. Their content is committed to a repository in Tutti's data folder, which has the folder as its work
// tree, so that runs, diffs and merges work as in any repository. The folder itself changes only by `mergeResult`.
import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { exists } from "./folder.ts";
import { git } from "./git.ts";
import { readRef, writeRef } from "./refs.ts";
import { treeOf, type Repository } from "./repository.ts";
import { keepIndex, writeWorkingTree } from "./working-tree.ts";
import { writeCommit } from "./disk/write-commit.ts";

/** Programs can create the `EXCLUDED` folders again, and they are too large to copy. */
const EXCLUDED = ["node_modules", ".venv", "__pycache__"];
/** A folder with more than `MAX_FILES` files is rather a home or a collection of projects than one project. */
const MAX_FILES = 20_000;
/** `COPIED_BRANCH` has the content of the folder. */
export const COPIED_BRANCH = "refs/heads/main";

/** `COPIES` is the folder in the data folder for the repositories of folders without git. */
export const COPIES = "copies";

/** Whether `locate` found no repository at all, not even a bare one. */
export const isPlainFolder = (error: unknown): boolean =>
  error instanceof TuttiError &&
  error.code === "not_a_repository" &&
  (error.details as { isPlain?: boolean } | undefined)?.isPlain === true;

/** Returns the repository that `openCopied` made for `cwd` at an earlier run, else null. */
export async function findCopied(copies: string, cwd: string): Promise<Repository | null> {
  const root = await realpath(cwd);
  const gitDir = await copyOf(copies, root);
  return (await exists(gitDir)) ? { root, prefix: "", gitDir, commonDir: gitDir, isCopy: true } : null;
}

/** Returns the path that the repository of `cwd` has or would have. The folder need not exist any more. */
export async function copyOf(copies: string, cwd: string): Promise<string> {
  return gitDirOf(await realpath(copies).catch(() => copies), await realpath(cwd).catch(() => cwd));
}

/** Lists all repositories in `copies`, also of folders that no longer exist. Their `root` is not the folder. */
export async function listCopies(copies: string): Promise<Repository[]> {
  const folder = await realpath(copies).catch(() => copies);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".git"));
  return names.map((name) => {
    const gitDir = join(folder, name);
    return { root: gitDir, prefix: "", gitDir, commonDir: gitDir, isCopy: true };
  });
}

const gitDirOf = (copies: string, root: string): string =>
  join(copies, `${createHash("sha256").update(root).digest("hex").slice(0, 24)}.git`);

export async function openCopied(copies: string, cwd: string, maxFiles = MAX_FILES): Promise<Repository> {
  const found = await findCopied(copies, cwd);
  if (found) return found;
  const root = await realpath(cwd);
  await refuseLargeFolder(root, maxFiles);
  await mkdir(copies, { recursive: true, mode: 0o700 });
  const gitDir = gitDirOf(await realpath(copies), root);
  const unfinished = `${gitDir}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const purpose = `make a repository for ${root}`;
  const flags = ["--quiet", "--bare", "--template=", "--initial-branch=main"];
  await git(purpose, ["init", ...flags, basename(unfinished)], { cwd: copies });
  await git(purpose, ["config", "core.bare", "false"], { cwd: copies, gitDir: unfinished, workTree: root });
  await mkdir(join(unfinished, "info"), { recursive: true });
  await writeFile(join(unfinished, "info/exclude"), EXCLUDED.map((name) => `${name}/\n`).join(""));
  await rename(unfinished, gitDir);
  return { root, prefix: "", gitDir, commonDir: gitDir, isCopy: true };
}

async function refuseLargeFolder(root: string, maxFiles: number): Promise<void> {
  const isHome = root === "/" || root === (await realpath(homedir()).catch(() => "/"));
  if (!isHome && (await countFiles(root, maxFiles)) <= maxFiles) return;
  const why = isHome ? "it is too large to copy" : `with more than ${maxFiles} files it is too large to copy`;
  const advice = `Run "git init" and make a first commit there, or choose another folder.`;
  throw new TuttiError("not_a_repository", `The folder "${root}" is not in a git repository, and ${why}. ${advice}`);
}

async function countFiles(folder: string, limit: number): Promise<number> {
  let count = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (EXCLUDED.includes(entry.name)) continue;
    count += entry.isDirectory() ? await countFiles(join(folder, entry.name), limit - count) : 1;
    if (count > limit) break;
  }
  return count;
}

/** Commits the current content of the folder. The next run starts from `COPIED_BRANCH`, and a result is merged into it. */
export async function commitFolder(repository: Repository): Promise<void> {
  const { root, gitDir } = repository;
  const paths = {
    index: join(gitDir, "index"),
    indexedCommit: join(gitDir, "indexed-commit"),
    scratchIndex: join(gitDir, "scratch-index"),
  };
  const head = await readRef(repository, COPIED_BRANCH);
  const tree = await writeWorkingTree(repository, { ...paths, folder: root, skip: [] }, head);
  if (head !== null && tree === (await treeOf(repository, head))) return keepIndex(root, paths, head);
  const message = "Content of the folder";
  const commit = await writeCommit(repository, { tree, parents: head === null ? [] : [head], message });
  await writeRef(repository, COPIED_BRANCH, commit, head, []);
  await keepIndex(root, paths, commit);
}

/** `gitCommand` appears in advice to the user. */
export const gitCommand = ({ gitDir, root }: Repository): string =>
  `git --git-dir=${quoted(gitDir)} --work-tree=${quoted(root)}`;

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
