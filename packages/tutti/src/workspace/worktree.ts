// Creates a worktree for one attempt, or moves it to another commit.
import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootId } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";
import { exists, isFolder } from "./folder.ts";
import { git } from "./git.ts";
import { isInside } from "./place.ts";
import type { Place, RunPlace } from "./place.ts";
import { keepReachable, readRef, shortHash, writeRef } from "./refs.ts";
import { headOf, headRefOf, healRegistrations, registrations } from "./registry.ts";
import type { Registration } from "./registry.ts";
import { commitOf, isAncestor, onRepository } from "./repository.ts";
import type { Repository } from "./repository.ts";
import { commitLoose, removeWorkspace } from "./removal.ts";
import { copyIndex } from "./working-tree.ts";

export async function prepareWorktree(
  repository: Repository,
  run: RunPlace,
  place: Place,
  start: string,
): Promise<string> {
  if (!(await isComplete(repository, place))) {
    const commit = await commitOf(repository, start);
    await refuseVisibleFolder(repository, run.folder);
    // A crash may have left a folder, a worktree entry or a branch that would make git fail.
    await removeWorkspace(repository, run, place);
    await healRegistrations(repository, run.folder);
    try {
      await makeWorktree(repository, place, commit);
    } catch (error) {
      await removeWorkspace(repository, run, place).catch(() => undefined);
      throw error;
    }
  }
  return workFolder(repository, place);
}

/** An agent may be working in a complete workspace, so `prepareWorktree` leaves it untouched. */
async function isComplete(repository: Repository, place: Place): Promise<boolean> {
  if (!(await isFolder(place.path)) || !(await exists(place.index))) return false;
  if ((await readFile(place.boot, "utf8").catch(() => null)) !== bootId()) return false;
  return (await registrations(repository)).some(({ path }) => path === place.path);
}

async function makeWorktree(repository: Repository, place: Place, start: string): Promise<void> {
  await mkdir(place.runFolder, { recursive: true });
  const args = ["worktree", "add", "--no-track", "-b", place.branch, place.path, start];
  await onRepository(repository, `make the workspace ${place.path}`, args);
  const registration = await findRegistration(repository, place);
  await writeFile(place.boot, bootId());
  await copyIndex(join(registration.adminDir, "index"), place.scratchIndex);
  await rename(place.scratchIndex, place.index);
}

async function findRegistration(repository: Repository, place: Place): Promise<Registration> {
  const registration = (await registrations(repository)).find(({ path }) => path === place.path);
  if (registration && (await isFolder(place.path))) return registration;
  throw new TuttiError("workspace_failed", `The workspace "${place.path}" no longer exists.`);
}

/** Inside the user's checkout the folder would show up as untracked files, unless git ignores it. */
async function refuseVisibleFolder(repository: Repository, folder: string): Promise<void> {
  const { root, commonDir } = repository;
  const inGit = folder === commonDir || isInside(commonDir, folder);
  if (!inGit && folder !== root && !isInside(root, folder)) return;
  const ignored = await onRepository(repository, "find ignored folders", ["check-ignore", "-q", "--", folder], {
    accept: [1, 128],
  });
  if (!inGit && ignored.code === 0) return;
  const advice = "Choose a folder outside of it, or add this one to .gitignore.";
  throw new TuttiError(
    "workspace_failed",
    `The folder "${folder}" for workspaces lies in the checkout "${root}". ${advice}`,
  );
}

/** Returns the folder below `place.path` that corresponds to the folder in which the run was started. */
async function workFolder(repository: Repository, place: Place): Promise<string> {
  const path = join(place.path, repository.prefix);
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const message = `"${repository.prefix}" is not a folder in the commit at which the workspace starts. Start the run in another folder.`;
    throw new TuttiError("workspace_failed", message, { cause: error });
  }
  // A symbolic link could lead the agent out of its workspace.
  const real = await realpath(path);
  if (real === place.path || isInside(place.path, real)) return path;
  throw new TuttiError(
    "workspace_failed",
    `The folder "${repository.prefix}" leads out of the workspace "${place.path}". Start the run in another folder.`,
  );
}

export async function moveWorktree(repository: Repository, run: RunPlace, place: Place, to: string): Promise<void> {
  const commit = await commitOf(repository, to);
  const registration = await findRegistration(repository, place);
  const head = await headOf(repository, registration);
  const tip = await readRef(repository, place.branchRef);
  const worktrees = await registrations(repository);
  // `commitLoose` also leaves a scratch index that lists every file of the workspace.
  const loose = await commitLoose(repository, place, worktrees, head ?? tip);
  const backupRef = `${place.ref}-before-${shortHash(commit)}`;
  for (const held of new Set([loose, head, tip])) {
    if (held === null || (await isAncestor(repository, held, commit))) continue;
    await keepReachable(repository, held, backupRef, run.branchPrefix);
  }
  await checkOut(repository, place, commit);
  // Workspaces move only to heads of the run, which are on disk already.
  await writeRef(repository, place.branchRef, commit, tip, [commit]);
  if ((await headRefOf(repository, registration)) !== place.branchRef) {
    const args = ["symbolic-ref", `worktrees/${registration.id}/HEAD`, place.branchRef];
    await onRepository(repository, `put the workspace ${place.path} back on its branch`, args);
  }
  // The agent's index is replaced as a whole. A lock here belongs to a git that has died.
  await rm(join(registration.adminDir, "index.lock"), { force: true });
  await copyIndex(place.scratchIndex, join(registration.adminDir, "index"));
  await rename(place.scratchIndex, place.index);
  await workFolder(repository, place);
}

/** Makes the files equal to the commit. Ignored files and repositories that the agent created stay. */
async function checkOut(repository: Repository, place: Place, commit: string): Promise<void> {
  const { path, scratchIndex } = place;
  const where = { cwd: path, gitDir: repository.commonDir, workTree: path, indexFile: scratchIndex };
  const purpose = `move the workspace ${path}`;
  await git(purpose, ["read-tree", "--reset", "-u", commit], where);
  await git(purpose, ["clean", "--quiet", "--force", "-d"], where);
}
