// Names the folder and refs of one workspace. All names are built from ids that `pathName` has sanitised, so no
// text of an agent reaches a path or a ref.
import { lstat, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { pathName } from "../schema/ids.ts";
import type { WorkspaceKey } from "./workspace.ts";

export interface WorkspacePaths {
  /** `runFolder` contains all workspaces of the run. */
  runFolder: string;
  path: string;
  /**
   * The index as git wrote it when the workspace was created or moved. It is written last and so marks the workspace as
   * complete. It is outside the worktree, where an agent could mark changed files as unchanged.
   */
  index: string;
  /** `indexedCommit` holds `indexMark` of the commit that `index` lists. Missing while that is unknown. */
  indexedCommit: string;
  /**
   * Boot id under which the workspace was created. Its files are not synced, so a power cut may truncate them: a
   * workspace from an earlier boot counts as incomplete.
   */
  boot: string;
  /** Exists while no attempt uses the workspace; see `prepareAhead`. It is removed when the workspace is at its start. */
  ahead: string;
  /** Exists if the workspace has only a part of the files; see `disk/sparse-files.ts`. */
  sparse: string;
  /** `scratchIndex` is the index that a snapshot builds. */
  scratchIndex: string;
  /** Keeps the attempt's commits reachable. */
  ref: string;
}

/** `folder` contains the `runFolder` of every run. */
export interface RunPaths {
  folder: string;
  runFolder: string;
  /** Runs of earlier versions gave each workspace a branch below `oldBranchPrefix`. */
  oldBranchPrefix: string;
  refPrefix: string;
}

export async function runPaths(folder: string, runId: string): Promise<RunPaths> {
  const run = pathName(runId);
  const top = await realpath(folder).catch(() => resolve(folder));
  const runFolder = join(top, run);
  // A link at `runFolder` would redirect every deletion.
  if ((await lstat(runFolder).catch(() => null))?.isSymbolicLink()) {
    throw new TuttiError("workspace_failed", `The folder "${runFolder}" is a symbolic link. Remove the link.`);
  }
  return { folder: top, runFolder, oldBranchPrefix: `refs/heads/agent/${run}/`, refPrefix: `refs/tutti/${run}/` };
}

export function workspacePaths(run: RunPaths, key: WorkspaceKey): WorkspacePaths {
  if (!Number.isSafeInteger(key.attempt) || key.attempt < 1) {
    throw new TuttiError("internal", `The attempt ${key.attempt} is not a number from 1. Pass such a number.`);
  }
  return pathsOfLeaf(run, `${pathName(key.name)}-${key.attempt}`);
}

/** `leaf` is the name of a folder in `runFolder`. An unknown name maps to attempt 0. */
export function pathsOfLeaf(run: RunPaths, leaf: string): WorkspacePaths {
  const [, name = pathName(leaf), attempt = "0"] = /^([a-z0-9_-]+)-([1-9]\d*)$/.exec(leaf) ?? [];
  const path = join(run.runFolder, leaf);
  return {
    runFolder: run.runFolder,
    path,
    index: `${path}.index`,
    indexedCommit: `${path}.indexed-commit`,
    boot: `${path}.boot`,
    ahead: `${path}.ahead`,
    sparse: `${path}.sparse`,
    scratchIndex: `${path}.scratch-index`,
    ref: `${run.refPrefix}${name}/${attempt}`,
  };
}

/** Returns the direct child of `folder` that contains `path`, or null if `path` is elsewhere. */
export function leafWithin(folder: string, path: string): string | null {
  if (!isInside(folder, path)) return null;
  return relative(folder, path).split(sep)[0] ?? null;
}

/** Compares whole path components, so `isInside("/a/b", "/a/bc")` is false. */
export function isInside(folder: string, path: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
