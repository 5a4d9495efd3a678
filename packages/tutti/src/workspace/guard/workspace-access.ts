// `workspaceAccess` lists the files that an agent in the sandbox may use. Git works there as usual, with these limits:
//
// 1. Refs, hooks, settings and packs of the repository are read-only. Commits go to the detached HEAD of the worktree.
// 2. The files that connect the worktree with its repository are read-only.
// 3. New objects go to the repository's object store, so an agent could remove loose objects. Git notices a changed
//    one.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { SandboxPaths } from "../../schema/agent/sandbox.ts";
import { registrations } from "../registry.ts";
import type { Repository } from "../repository.ts";
import type { WorkspacePaths } from "../workspace-paths.ts";

export async function workspaceAccess(repository: Repository, { path }: WorkspacePaths): Promise<SandboxPaths> {
  const { root, commonDir } = repository;
  const objects = join(commonDir, "objects");
  const entry = (await registrations(repository)).find((each) => each.path === path);
  const ofEntry = entry ? ["commondir", "gitdir"].map((name) => join(entry.adminDir, name)) : [];
  const alternates = await readFile(join(objects, "info/alternates"), "utf8").catch(() => "");
  const borrowed = alternates.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return {
    hidden: [root],
    readable: [
      commonDir,
      join(objects, "pack"),
      join(objects, "info"),
      ...borrowed.map((line) => resolve(objects, line)),
      ...ofEntry,
      join(path, ".git"),
    ],
    writable: [path, objects, ...(entry ? [entry.adminDir] : [])],
  };
}
