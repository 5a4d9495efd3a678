import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TuttiError } from "../../schema/error.ts";
import { exists } from "../folder.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";

/** `folder` must be new or empty. Throws `wrong_state` otherwise, and leaves `folder` as it was if git fails. */
export async function restoreFiles(repository: Repository, commit: string, folder: string): Promise<void> {
  const isNew = !(await exists(folder));
  if (!isNew && !(await isEmptyFolder(folder))) {
    const advice = "Choose a new or an empty folder with --into.";
    throw new TuttiError("wrong_state", `"${folder}" exists, and its content could be overwritten. ${advice}`);
  }
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), "tutti-restore-"));
  try {
    const { commonDir: gitDir, settings } = repository;
    const where = { cwd: folder, gitDir, workTree: folder, indexFile: join(scratch, "index"), settings };
    // The user's setting for sparse checkouts would leave out files of `commit`.
    const args = ["-c", "core.sparseCheckout=false", "read-tree", "--reset", "-u", commit];
    await git(`restore ${commit} to ${folder}`, args, where);
  } catch (error) {
    // `folder` was new or empty, so everything in it comes from this call.
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
    if (isNew) await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const isEmptyFolder = async (path: string): Promise<boolean> => (await readdir(path).catch(() => null))?.length === 0;
