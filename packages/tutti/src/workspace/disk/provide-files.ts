// `provideFiles` brings untracked files of the user's folder into a workspace, such as `.env` or `node_modules`.
import { constants } from "node:fs";
import { cp, lstat, mkdir, readdir, realpath, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { exists } from "../folder.ts";
import { bytes, items } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";
import { isInside, type WorkspacePaths } from "../workspace-paths.ts";
import type { ProvidedFiles } from "../workspace.ts";

/** Skips names that the user's folder lacks or the workspace has, so a repeated call completes an interrupted one. */
export async function provideFiles(
  repository: Repository,
  paths: WorkspacePaths,
  { copy = [], link = [] }: ProvidedFiles,
): Promise<void> {
  for (const [names, isLinked] of [
    [copy, false],
    [link, true],
  ] as const) {
    for (const name of names) {
      const from = join(repository.root, repository.prefix, name);
      const to = join(paths.path, repository.prefix, name);
      const found = await lstat(from).catch(() => null);
      if (!found || (await exists(to))) continue;
      await refuseTracked(repository, paths, join(repository.prefix, name), found.isDirectory());
      await makeParent(paths, to);
      // The copy gets its name when it is complete, so `exists` never finds a half-made one.
      const draft = `${paths.path}.provided`;
      await rm(draft, { recursive: true, force: true });
      if (!isLinked)
        await cp(from, draft, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
      else if (found.isDirectory()) await linkChildren(from, draft);
      else await symlink(from, draft);
      await rename(draft, to);
    }
  }
}

/** A folder of links, because a pattern such as `node_modules/` in .gitignore does not match a link to a folder. */
async function linkChildren(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const child of await readdir(from)) await symlink(join(from, child), join(to, child));
}

/** Throws `setup_failed` for a file that git does not ignore: it would become part of the result. */
async function refuseTracked(
  repository: Repository,
  paths: WorkspacePaths,
  name: string,
  isFolder: boolean,
): Promise<void> {
  // The path does not exist yet, and a pattern for folders matches only paths below a folder, so `check-ignore` gets
  // one.
  const input = bytes(isFolder ? join(name, "file") : name);
  const where = { cwd: paths.path, workTree: paths.path, input, accept: [1] };
  const args = ["check-ignore", "-z", "--no-index", "--stdin"];
  if (items((await onRepository(repository, "find ignored files", args, where)).stdout).length > 0) return;
  throw new TuttiError(
    "setup_failed",
    `Git does not ignore "${name}", so a copy of it would become part of the result. Add it to .gitignore, or remove it from "workspace" in the template.`,
  );
}

/** Throws if a symbolic link of the repository leads `makeParent` out of the workspace. */
async function makeParent(paths: WorkspacePaths, to: string): Promise<void> {
  let parent = dirname(to);
  while (!(await exists(parent))) parent = dirname(parent);
  const real = await realpath(parent);
  if (real !== paths.path && !isInside(paths.path, real))
    throw new TuttiError("setup_failed", `The folder "${parent}" leads out of the workspace. Remove the link.`);
  await mkdir(dirname(to), { recursive: true });
}
