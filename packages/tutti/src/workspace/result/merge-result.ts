// `mergeResult` takes the result of a run into the branch that the user has checked out. Nothing else in Tutti changes
// the user's checkout.
//
// Invariants
// 1. A refusal changes nothing: all checks are done, and the commit to move to exists, before the checkout changes.
// 2. A single git process changes files, index and branch, always as a fast-forward. It has its own session, so it
//    completes when Tutti dies. The same merge can then be repeated and finds nothing to do.
// 3. No file of the user is overwritten: changed files are refused before, untracked and ignored files by git.
import { join } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { runBranch } from "../../schema/ids.ts";
import { exists } from "../folder.ts";
import { git, items, text, type GitOptions, type GitSetting } from "../git.ts";
import { hardenCommit } from "../harden.ts";
import { writeCommit } from "../disk/write-commit.ts";
import { mergeTrees } from "../merging/merge.ts";
import { readRef } from "../refs.ts";
import { commitOf, inspect, isAncestor, onRepository, type Repository } from "../repository.ts";
import { branchRefOf } from "./find-result.ts";

export interface MergeOptions {
  noFf: boolean;
  message: string;
}

/**
 * `from` and `to` are the commits of `branch` before and after. Equal if `branch` contained the result. `added` are the
 * commits that the run's branch has beyond the result.
 */
export interface MergedResult {
  branch: string;
  from: string;
  to: string;
  added?: string[];
}

/** `head` is the result that the log recorded. The user may have committed onto it. */
export async function mergeResult(
  repository: Repository,
  runId: string,
  head: string,
  { noFf, message }: MergeOptions,
): Promise<MergedResult> {
  const { root } = repository;
  const { branch, head: from } = await inspect(repository);
  if (branch === null) throw refusal(`No branch is checked out in "${root}". Switch to the branch to merge into.`);
  const result = await readResult(repository, runId, head);
  if (branch === runBranch(runId))
    throw refusal(`The branch "${branch}" itself is checked out in "${root}". Switch to the branch to merge into.`);
  if (await isAncestor(repository, result, from)) return { branch, from, to: from };
  await refuseUnfinished(repository);
  const changed = await changedPaths(repository);
  if (changed.length > 0)
    throw refusal(`"${root}" has uncommitted changes: ${listed(changed)}. Commit or stash them, then merge again.`);
  const isForward = await isAncestor(repository, from, result);
  const to = isForward && !noFf ? result : await mergeCommit(repository, branch, from, result, message);
  await hardenCommit(repository, to, [from, result]);
  await fastForward(repository, branch, from, to);
  const added = await addedCommits(repository, head, result);
  return { branch, from, to, ...(added.length > 0 && { added }) };
}

/** The user may have made them. If not, they are the work of an agent of another run. */
async function addedCommits(repository: Repository, head: string, result: string): Promise<string[]> {
  if (result === head) return [];
  const args = ["rev-list", "--max-count=100", result, `^${await commitOf(repository, head)}`];
  const { stdout } = await onRepository(repository, "list the commits of the branch", args);
  return stdout.split("\n").filter((line) => line !== "");
}

/** The merge would start a program of `changed`, which an agent of any run may have written. */
export function refuseChanged(runId: string, changed: readonly GitSetting[]): void {
  const [name] = changed[0] ?? [];
  if (name === undefined) return;
  const advice = `Check it with "git config --get ${name}". If it is correct, merge with "git merge ${runBranch(runId)}".`;
  throw refusal(`While a run worked, the setting "${name}" changed, and a merge would start its program. ${advice}`);
}

const refusal = (message: string): TuttiError => new TuttiError("wrong_state", message);

const MAX_LISTED = 5;
const listed = (paths: readonly string[]): string =>
  [...paths.slice(0, MAX_LISTED), ...(paths.length > MAX_LISTED ? [`${paths.length - MAX_LISTED} more`] : [])].join(
    ", ",
  );

async function readResult(repository: Repository, runId: string, head: string): Promise<string> {
  const name = runBranch(runId);
  const result = await readRef(repository, branchRefOf(runId));
  if (result === null)
    throw refusal(`The branch "${name}" does not exist. Bring it back with "git branch ${name} ${head}".`);
  if (await isAncestor(repository, await commitOf(repository, head), result)) return result;
  const advice = `Put it back with "git branch --force ${name} ${head}".`;
  throw refusal(`The branch "${name}" no longer contains the result of the run. ${advice}`);
}

const UNFINISHED = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock"];

/** An `index.lock` belongs to another git, or to one that died. Only the user can know, so it is not removed. */
async function refuseUnfinished({ root, gitDir }: Repository): Promise<void> {
  for (const name of UNFINISHED) {
    const path = join(gitDir, name);
    if (!(await exists(path))) continue;
    throw refusal(
      name === "index.lock"
        ? `Another git works in "${root}". If none does, remove "${path}", then merge again.`
        : `A merge, rebase, cherry-pick or revert is unfinished in "${root}". Finish or abort it, then merge again.`,
    );
  }
}

/** Unlike `onRepository`, uses the user's own checkout and index. */
const onCheckout = ({ root, gitDir, settings }: Repository): GitOptions => ({
  cwd: root,
  gitDir,
  workTree: root,
  settings,
});

/** Lists tracked files that differ from HEAD, in the index or on disk. */
async function changedPaths(repository: Repository): Promise<string[]> {
  const flags = ["--untracked-files=no", "--ignore-submodules=dirty", "--no-renames"];
  const args = ["status", "--porcelain=v1", "-z", ...flags];
  const { stdout } = await git("look for uncommitted changes", args, onCheckout(repository));
  return items(stdout).map((item) => text(item.slice(3)));
}

async function mergeCommit(
  repository: Repository,
  branch: string,
  from: string,
  result: string,
  message: string,
): Promise<string> {
  const related = await onRepository(repository, "find a common commit", ["merge-base", from, result], { accept: [1] });
  if (related.code === 1)
    throw refusal(`The branch "${branch}" has no commit in common with the result. Switch to the branch of the run.`);
  const merged = await mergeTrees(repository, from, result);
  if (merged.ok) return commitAsUser(repository, merged.tree, [from, result], message);
  const advice = 'Resolve them with "git merge", or start a run on the current commit.';
  throw refusal(`The result conflicts with the branch "${branch}" in ${listed(merged.files)}. ${advice}`);
}

/** The commit is the user's, like one of `git merge`. Without a configured identity it is Tutti's. */
async function commitAsUser(
  repository: Repository,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  const options = { input: Buffer.from(message), asUser: true, accept: [128] };
  const { code, stdout } = await onRepository(repository, "commit the merge", args, options);
  return code === 0 ? stdout.trim() : writeCommit(repository, { tree, parents, message });
}

async function fastForward(repository: Repository, branch: string, from: string, to: string): Promise<void> {
  // With `--quiet` git prints nothing, so it does not end with the pipe when Tutti dies.
  const flags = ["--ff-only", "--no-squash", "--quiet", "--no-stat", "--no-autostash", "--no-overwrite-ignore"];
  const options = { ...onCheckout(repository), accept: [1, 2, 128] };
  const { code, stderr } = await git("merge the result", ["merge", ...flags, to], options);
  if (code === 0) return;
  const words = text(stderr).trim().replaceAll(/\s+/g, " ");
  const head = await commitOf(repository, `refs/heads/${branch}`);
  if (head === to) return;
  if (head !== from) throw refusal(`The branch "${branch}" has moved in the meantime. Merge again.`);
  // `changedPaths` is not empty if the user has just changed a file, or git failed halfway, for example in a filter or
  // on a full disk.
  const changed = await changedPaths(repository);
  if (changed.length > 0) {
    const advice = 'If you changed none of them, restore them with "git restore .", then merge again.';
    throw new TuttiError(
      "git_failed",
      `Git did not complete the merge (${words}) and left changes: ${listed(changed)}. ${advice}`,
    );
  }
  const blocking = [...text(stderr).matchAll(/^\t(.+)$/gm)].map(([, path]) => path!);
  throw refusal(
    blocking.length > 0
      ? `Untracked files would be overwritten: ${listed(blocking)}. Move or remove them, then merge again.`
      : `Git refused the merge: ${words}`,
  );
}
