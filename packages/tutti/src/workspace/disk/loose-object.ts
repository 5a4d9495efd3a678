// `writeLooseObject` writes one of git's objects itself, because a git process costs more than the write.
import { createHash, randomUUID } from "node:crypto";
import { chmod, link, mkdir, open, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { environmentFault, findErrno } from "../../environment-fault.ts";
import { TuttiError } from "../../schema/error.ts";
import { exists } from "../folder.ts";
import type { Repository } from "../repository.ts";

/** All hashes of a repository have one algorithm. */
export type HashName = "sha1" | "sha256";

export const hashNameOf = (hash: string): HashName => (hash.length === 64 ? "sha256" : "sha1");

export interface LooseObject {
  hash: string;
  bytes: Buffer;
}

export function looseObject(type: "commit" | "tree", content: Buffer, hashName: HashName): LooseObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { hash: createHash(hashName).update(bytes).digest("hex"), bytes };
}

/** Changes nothing if the object exists. `purpose` completes the sentence "Git could not …". */
export async function writeLooseObject(
  { commonDir }: Repository,
  { hash, bytes }: LooseObject,
  purpose: string,
): Promise<void> {
  const objects = join(commonDir, "objects");
  const file = join(objects, hash.slice(0, 2), hash.slice(2));
  if (await exists(file)) return;
  try {
    await makeFolder(dirname(file), objects);
    await writeFileOnce(file, await promisify(deflate)(bytes));
  } catch (error) {
    const errno = findErrno(error);
    if (errno) throw environmentFault(`Git could not ${purpose}`, errno, objects, { cause: error });
    throw new TuttiError("git_failed", `Git could not ${purpose}: ${(error as Error).message}. Try again.`, {
      cause: error,
    });
  }
}

/** The mode of `objects` decides who may write there; a repository may be shared by several users. */
async function makeFolder(folder: string, objects: string): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(folder, { recursive: true });
  await chmod(folder, (await stat(objects)).mode);
}

/** The object gets its name after its content is on disk. Git deletes an old `tmp_obj_` file by itself. */
async function writeFileOnce(file: string, content: Buffer): Promise<void> {
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
