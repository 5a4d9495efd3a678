import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { git } from "./git.ts";

export async function makeRepository(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const root = resolve(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const options = { cwd: root };
  await git("make a repository", ["init", "--quiet", "--initial-branch=main"], options);
  await git("add the sample's files", ["add", "--all"], options);
  await git("commit the sample's files", ["commit", "--quiet", "--message=A sample project"], options);
}

/** Writes the files of a commit into `folder`, which does not become a checkout. */
export async function exportCommit(cwd: string, commit: string, folder: string): Promise<void> {
  const target = resolve(folder);
  await mkdir(target, { recursive: true });
  const indexFile = join(target, ".index");
  try {
    await git("read the commit", ["read-tree", commit], { cwd, indexFile });
    await git("write the commit's files", ["checkout-index", "--all", `--prefix=${target}/`], { cwd, indexFile });
  } finally {
    await rm(indexFile, { force: true });
  }
}
