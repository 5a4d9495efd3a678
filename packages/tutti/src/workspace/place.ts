// Where one workspace and everything that belongs to it is found: its folder, its branch, its refs. All names are made
// from ids that have been made safe, so that no text of an agent ever reaches a path or a ref.
import { lstat, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { pathName } from "../schema/ids.ts";
import type { WorkspaceKey } from "./workspace.ts";

export interface Place {
  /** The folder of all workspaces of the run. */
  runFolder: string;
  /** The worktree. */
  path: string;
  /**
   * The index as git wrote it when the workspace was made or moved. Being written last it also says that the workspace
   * is complete. It lies outside the worktree, so that no agent can hide a change by marking it there as unchanged.
   */
  index: string;
  /**
   * The boot id under which the workspace was made. Its files are not synced, so after a power cut they may be in pieces,
   * and one that was made before the machine was started counts as not made.
   */
  boot: string;
  /** The index that a snapshot fills. */
  scratchIndex: string;
  branch: string;
  branchRef: string;
  /** Where the attempt stays reachable. */
  ref: string;
}

/** Everything of one run; `folder` is the one for all runs. */
export interface RunPlace {
  folder: string;
  runFolder: string;
  branchPrefix: string;
  refPrefix: string;
}

export async function runPlace(folder: string, runId: string): Promise<RunPlace> {
  const run = pathName(runId);
  const top = await realpath(folder).catch(() => resolve(folder));
  const runFolder = join(top, run);
  // A link in its place would lead every deletion somewhere else.
  if ((await lstat(runFolder).catch(() => null))?.isSymbolicLink()) {
    throw new TuttiError("workspace_failed", `The folder ${runFolder} is a symbolic link; remove the link.`);
  }
  return { folder: top, runFolder, branchPrefix: `refs/heads/agent/${run}/`, refPrefix: `refs/tutti/${run}/` };
}

export function placeOf(run: RunPlace, key: WorkspaceKey): Place {
  if (!Number.isSafeInteger(key.attempt) || key.attempt < 1) {
    throw new TuttiError("internal", `An attempt is a number from 1, not ${key.attempt}.`);
  }
  return place(run, `${pathName(key.name)}-${key.attempt}`);
}

/** The place that a folder name found in a run's folder stands for; a foreign name is treated as attempt 0. */
export function place(run: RunPlace, leaf: string): Place {
  const [, name = pathName(leaf), attempt = "0"] = /^([a-z0-9_-]+)-([1-9]\d*)$/.exec(leaf) ?? [];
  const path = join(run.runFolder, leaf);
  const branchRef = `${run.branchPrefix}${name}/${attempt}`;
  return {
    runFolder: run.runFolder,
    path,
    index: `${path}.index`,
    boot: `${path}.boot`,
    scratchIndex: `${path}.scratch-index`,
    branch: branchRef.slice("refs/heads/".length),
    branchRef,
    ref: `${run.refPrefix}${name}/${attempt}`,
  };
}

/** The name of the folder directly below `folder` in which `path` lies, or null when it lies elsewhere. */
export function leafWithin(folder: string, path: string): string | null {
  if (!isInside(folder, path)) return null;
  return relative(folder, path).split(sep)[0] ?? null;
}

/** Whether `path` lies below `folder`; compares whole components, so that /a/bc is not inside /a/b. */
export function isInside(folder: string, path: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
