import { hashNameOf, looseObject, writeLooseObject } from "./loose-object.ts";
import { realWorld } from "../../world.ts";
import type { Repository } from "../repository.ts";

interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  /** In seconds since 1970. Without `date`, the current time. */
  date?: number;
}

const AUTHOR = "Tutti <tutti@localhost>";

/** Returns the hash. A repeated `writeCommit` with a `date` has the same hash, and changes nothing. */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<string> {
  const object = looseObject("commit", Buffer.from(textOf(commit)), hashNameOf(commit.tree));
  await writeLooseObject(repository, object, "commit");
  return object.hash;
}

function textOf({ tree, parents, message, date = Math.floor(realWorld.now() / 1000) }: NewCommit): string {
  const author = `${AUTHOR} ${date} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  const end = message.endsWith("\n") ? "" : "\n";
  return [...lines, `author ${author}`, `committer ${author}`, "", `${message}${end}`].join("\n");
}
