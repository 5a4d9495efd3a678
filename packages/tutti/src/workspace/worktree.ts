import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bootId } from "../durable-file.ts";
import { environmentFault, isTooSmall } from "../environment-fault.ts";
import { TuttiError } from "../schema/error.ts";
import { updateRef } from "./dialogue/ref-updates.ts";
import { addWorktree } from "./disk/add-worktree.ts";
import { checkOutAll, isSparse } from "./disk/sparse-files.ts";
import { exists, isFolder } from "./folder.ts";
import { git } from "./git.ts";
import { isVisibleIn } from "./guard/folder-limits.ts";
import { storePinned } from "./guard/pinned-settings.ts";
import { isInside, type WorkspacePaths, type RunPaths } from "./workspace-paths.ts";
import { keepReachable, shortHash } from "./refs.ts";
import { headOf, healRegistrations, registrations, type Registration } from "./registry.ts";
import { commitOf, isAncestor, onRepository, sharedPart, treeOf, type Repository } from "./repository.ts";
import { commitLoose, removeWorkspace } from "./removal.ts";
import type { PreparedWorkspace } from "./workspace.ts";
import { clearScratch, copyIndex, forgetTree, isUntouched, keepIndex, rememberCheckout } from "./working-tree.ts";

export async function prepareWorktree(
  repository: Repository,
  run: RunPaths,
  paths: WorkspacePaths,
  start: string,
  only?: readonly string[],
): Promise<Pick<PreparedWorkspace, "path" | "movedFrom">> {
  const used = (await isComplete(repository, paths)) ? await useAhead(repository, paths, start) : null;
  if (used === null) await makeAnew(repository, run, paths, start, { only });
  return { path: await workFolder(repository, paths), ...used };
}

/** A complete workspace stays as it is, whether an attempt uses it or not. Returns the folder for the agent. */
export async function makeAhead(
  repository: Repository,
  run: RunPaths,
  paths: WorkspacePaths,
  commit: string,
): Promise<string> {
  if (!(await isComplete(repository, paths))) await makeAnew(repository, run, paths, commit, { isAhead: true });
  return workFolder(repository, paths);
}

async function makeAnew(
  repository: Repository,
  run: RunPaths,
  paths: WorkspacePaths,
  start: string,
  { only, isAhead = false }: { only?: readonly string[] | undefined; isAhead?: boolean },
): Promise<void> {
  const commit = await commitOf(repository, start);
  await refuseVisibleFolder(repository, run.folder);
  // A crash may have left a folder, a worktree entry or a branch that would make git fail, so `removeWorkspace` comes
  // first.
  await removeWorkspace(repository, run, paths);
  await healRegistrations(repository, run.folder);
  await mkdir(run.runFolder, { recursive: true, mode: 0o700 });
  await storePinned(repository, run);
  try {
    // Written before the workspace is complete: after a crash it must not count as that of an attempt.
    if (isAhead) await writeFile(paths.ahead, "", { mode: 0o600 });
    await makeWorktree(repository, paths, commit, only);
  } catch (error) {
    await removeWorkspace(repository, run, paths).catch(() => undefined);
    throw error;
  }
}

/**
 * Moves a workspace that was made ahead to the start of its attempt. Leaves a workspace of an attempt untouched. Returns
 * null if the workspace cannot be moved and has to be made anew.
 */
async function useAhead(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
): Promise<Pick<PreparedWorkspace, "movedFrom"> | null> {
  if (!(await exists(paths.ahead))) return {};
  let movedFrom: string | null;
  const commit = await commitOf(repository, start);
  try {
    const registration = await findRegistration(repository, paths);
    const head = await headOf(repository, registration);
    movedFrom = head;
    const isClean = isUntouched(paths.path);
    await clearScratch(paths.scratchIndex);
    await copyIndex(paths.index, paths.scratchIndex);
    // `checkOut` also resets tracked files that another process has changed, and without `isClean` removes the others.
    if (!isClean || head !== commit) await checkOut(repository, paths, commit, { isClean });
    await finishMove(repository, paths, registration, head, commit);
    rememberCheckout(paths.path, await treeOf(repository, start));
  } catch {
    return null;
  }
  await rm(paths.ahead);
  return movedFrom === null ? {} : { movedFrom };
}

/**
 * Returns the error of a disk that is too small for the files of `commit`. Git does not report why it could not write
 * files, so `findFullDisk` compares their size with the free space.
 */
async function findFullDisk(
  repository: Repository,
  paths: WorkspacePaths,
  commit: string,
  purpose: string,
  output?: string,
): Promise<TuttiError | null> {
  const { stdout } = await onRepository(repository, "read the sizes of files", ["ls-tree", "-r", "-l", commit]);
  const sizes = [...stdout.matchAll(/^\d+ blob \S+ +(\d+)\t/gm)].map(([, size]) => Number(size));
  const neededBytes = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0);
  const folder = dirname(paths.path);
  if (!isTooSmall(folder, neededBytes)) return null;
  return environmentFault(`Git could not ${purpose}`, "ENOSPC", folder, { ...(output ? { output } : {}), neededBytes });
}

/** Most repositories are smaller than `AMPLE_BYTES`, so a disk with more free space needs no further check. */
const AMPLE_BYTES = 1024 ** 3;

/** File systems store files in blocks of at least `BLOCK_BYTES`. */
const BLOCK_BYTES = 4096;

/** An agent may be working in a complete workspace, so `prepareWorktree` leaves it untouched. */
async function isComplete(repository: Repository, paths: WorkspacePaths): Promise<boolean> {
  if (!(await isFolder(paths.path)) || !(await exists(paths.index))) return false;
  if ((await readFile(paths.boot, "utf8").catch(() => null)) !== bootId()) return false;
  return (await registrations(repository)).some(({ path }) => path === paths.path);
}

async function makeWorktree(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  only?: readonly string[],
): Promise<void> {
  const purpose = `make the workspace ${paths.path}`;
  // A workspace that fills the disk would stop the log, too, so `findFullDisk` runs before git does.
  const fault = isTooSmall(dirname(paths.path), AMPLE_BYTES) && (await findFullDisk(repository, paths, start, purpose));
  if (fault) throw fault;
  try {
    await addWorktree(repository, paths, start, purpose, only);
  } catch (error) {
    if (!(error instanceof TuttiError) || !/unable to (?:write|create) file/.test(error.message)) throw error;
    const { output } = error.details as { output: string };
    throw (await findFullDisk(repository, paths, start, purpose, output)) ?? error;
  }
  const registration = await findRegistration(repository, paths);
  await writeFile(paths.boot, bootId(), { mode: 0o600 });
  await copyIndex(join(registration.adminDir, "index"), paths.scratchIndex);
  await keepIndex(paths.path, paths, start);
  if (!(await isSparse(registration.adminDir))) rememberCheckout(paths.path, await treeOf(repository, start));
}

async function findRegistration(repository: Repository, paths: WorkspacePaths): Promise<Registration> {
  const registration = (await registrations(repository)).find(({ path }) => path === paths.path);
  if (registration && (await isFolder(paths.path))) return registration;
  throw new TuttiError("workspace_failed", `The workspace "${paths.path}" no longer exists. Retry its task.`);
}

/** Inside the user's checkout `folder` would show up as untracked files, unless git ignores it. */
async function refuseVisibleFolder(repository: Repository, folder: string): Promise<void> {
  if (!(await isVisibleIn(repository, folder))) return;
  const advice = "Choose a folder outside of it, or add this one to .gitignore.";
  throw new TuttiError(
    "workspace_failed",
    `The folder "${folder}" for workspaces lies in the checkout "${repository.root}". ${advice}`,
  );
}

/** Returns the folder below `paths.path` that corresponds to the folder in which the run was started. */
async function workFolder(repository: Repository, paths: WorkspacePaths): Promise<string> {
  const path = join(paths.path, repository.prefix);
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const message = `"${repository.prefix}" is not a folder in the commit at which the workspace starts. Start the run in another folder.`;
    throw new TuttiError("workspace_failed", message, { cause: error });
  }
  // A symbolic link at `prefix` could lead the agent out of its workspace.
  const real = await realpath(path);
  if (real === paths.path || isInside(paths.path, real)) return path;
  throw new TuttiError(
    "workspace_failed",
    `The folder "${repository.prefix}" leads out of the workspace "${paths.path}". Start the run in another folder.`,
  );
}

export async function moveWorktree(
  repository: Repository,
  run: RunPaths,
  paths: WorkspacePaths,
  to: string,
  { discard = false } = {},
): Promise<void> {
  const commit = await commitOf(repository, to);
  const registration = await findRegistration(repository, paths);
  const head = await headOf(repository, registration);
  const worktrees = await registrations(repository);
  // `commitLoose` also leaves a scratch index that lists every file of the workspace.
  const loose = await commitLoose(repository, paths, worktrees, head);
  const backupRef = `${paths.ref}-before-${shortHash(commit)}`;
  for (const held of new Set([discard ? null : loose, head])) {
    if (held === null || (await isAncestor(repository, held, commit))) continue;
    await keepReachable(repository, held, backupRef, run.oldBranchPrefix);
  }
  // Between two turns of the main session, the run's branch often stays where it was: `isThere`.
  const isThere = loose === null && head === commit && (await exists(paths.index));
  if (!isThere) await checkOut(repository, paths, commit, { isClean: loose === null });
  await finishMove(repository, paths, registration, head, commit);
}

/** Makes HEAD and both indexes match the files, which are those of `commit`. */
async function finishMove(
  repository: Repository,
  paths: WorkspacePaths,
  registration: Registration,
  head: string | null,
  commit: string,
): Promise<void> {
  await detach(repository, registration, head, commit);
  // The agent's index is replaced as a whole. A lock here belongs to a git that has died.
  await rm(join(registration.adminDir, "index.lock"), { force: true });
  await copyIndex(paths.scratchIndex, join(registration.adminDir, "index"));
  await keepIndex(paths.path, paths, commit);
  await workFolder(repository, paths);
}

/** Sets HEAD itself, also if the agent has checked out a branch. `detach` gets null as `head` of a damaged HEAD. */
async function detach(
  repository: Repository,
  { id, adminDir }: Registration,
  head: string | null,
  commit: string,
): Promise<void> {
  // `update-ref` reads the old value and fails on a damaged one. The `symbolic-ref` of git 2.55 rejects the name of a
  // HEAD in another worktree, so the file is replaced, also if it is a link.
  if (head === null) {
    const file = join(adminDir, "HEAD");
    await rm(`${file}.new`, { recursive: true, force: true });
    await writeFile(`${file}.new`, "ref: refs/heads/tutti-none\n", { flag: "wx" });
    await rename(`${file}.new`, file);
  }
  await updateRef({ ref: `worktrees/${id}/HEAD`, commit }, sharedPart(repository));
}

/** Makes the files equal to all files of the commit. Ignored files and repositories that the agent created stay. */
async function checkOut(
  repository: Repository,
  paths: WorkspacePaths,
  commit: string,
  { isClean }: { isClean: boolean },
): Promise<void> {
  const { path, scratchIndex } = paths;
  const { commonDir: gitDir, settings } = repository;
  const where = { cwd: path, gitDir, workTree: path, indexFile: scratchIndex, settings };
  const purpose = `move the workspace ${path}`;
  forgetTree(path);
  await checkOutAll(paths, where);
  await git(purpose, ["read-tree", "--reset", "-u", commit], where);
  if (!isClean) await git(purpose, ["clean", "--quiet", "--force", "-d"], where);
}
