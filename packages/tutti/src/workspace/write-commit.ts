// `writeCommit` writes the object itself. Two commits are made for each task, and a git process for each would cost
// more than the write.
import { createHash, randomUUID } from "node:crypto";
import { chmod, link, mkdir, open, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { environmentFault, findErrno } from "../environment-fault.ts";
import { TuttiError } from "../schema/error.ts";
import { realWorld } from "../world.ts";
import { exists } from "./folder.ts";
import type { Repository } from "./repository.ts";

interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  /** In seconds since 1970. Without `date`, the current time. */
  date?: number;
}

const AUTHOR = "Tutti <tutti@localhost>";

/** Returns the hash. A repeated `writeCommit` with a `date` has the same hash, and changes nothing. */
export async function writeCommit({ commonDir }: Repository, commit: NewCommit): Promise<string> {
  const content = Buffer.from(textOf(commit));
  const object = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content]);
  // All hashes of a repository have the algorithm of `commit.tree`.
  const hash = createHash(commit.tree.length === 64 ? "sha256" : "sha1")
    .update(object)
    .digest("hex");
  const objects = join(commonDir, "objects");
  const file = join(objects, hash.slice(0, 2), hash.slice(2));
  if (await exists(file)) return hash;
  try {
    await makeFolder(dirname(file), objects);
    await writeObject(file, await promisify(deflate)(object));
  } catch (error) {
    const errno = findErrno(error);
    if (errno) throw environmentFault("Git could not commit", errno, objects, { cause: error });
    throw new TuttiError("git_failed", `Git could not commit: ${(error as Error).message}`, { cause: error });
  }
  return hash;
}

function textOf({ tree, parents, message, date = Math.floor(realWorld.now() / 1000) }: NewCommit): string {
  const author = `${AUTHOR} ${date} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  const end = message.endsWith("\n") ? "" : "\n";
  return [...lines, `author ${author}`, `committer ${author}`, "", `${message}${end}`].join("\n");
}

/** The mode of `objects` decides who may write there; a repository may be shared by several users. */
async function makeFolder(folder: string, objects: string): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(folder, { recursive: true });
  await chmod(folder, (await stat(objects)).mode);
}

/** The object gets its name after its content is on disk. Git deletes an old `tmp_obj_` file by itself. */
async function writeObject(file: string, content: Buffer): Promise<void> {
  const temporary = join(dirname(file), `tmp_obj_${randomUUID()}`);
  const handle = await open(temporary, "wx", 0o444);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(temporary);
  }
}
