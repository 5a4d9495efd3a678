// Shares the facts about the code between the sessions of a run, so that only the first one reads the tree. The facts are
// a blob in the repository's object store: every session can write there, also in the sandbox, and `git gc` removes what
// no commit contains. The analysis names the blob in its notes, which are part of every later prompt.
//
// 1. Facts belong to a path and to the id of its content. A file that differs from git's index is read again.
// 2. A blob that is missing, damaged or of another format counts as none. Then the session reads the files itself.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import type { ModuleFacts } from "./facts.ts";
import { readLines } from "../read-lines.ts";

/** Null for a file that is not documented, so that it is not read again either. */
export type FileFacts = ModuleFacts | null;

/**
 * The first line of the blob. The number in `FORMAT` changes with `ModuleFacts` and with the readers of the languages.
 */
const FORMAT = "facts of the local agent 3";
/** Git takes more time than it takes to parse fewer than `MIN_FILES` files. */
const MIN_FILES = 50;
const MAX_BYTES = 512 * 1024 * 1024;
/** Git must not start a program that the repository names. */
const OPTIONS = ["-c", "core.fsmonitor=false"];

/** Returns the id of the blob, or null if there are fewer than `MIN_FILES` files or no repository. */
export async function storeFacts(root: string, known: [string, FileFacts][]): Promise<string | null> {
  if (known.length < MIN_FILES) return null;
  try {
    const ids = await contentIds(root);
    const shared = known.filter(([path]) => ids.has(path));
    if (shared.length < MIN_FILES) return null;
    const git = spawn("git", [...OPTIONS, "hash-object", "-w", "--stdin"], {
      cwd: root,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const output = git.stdout.toArray();
    await pipeline(Readable.from(toLines(shared, ids)), git.stdin);
    const id = Buffer.concat(await output)
      .toString()
      .trim();
    return /^[0-9a-f]{40,64}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}

function* toLines(shared: [string, FileFacts][], ids: Map<string, string>): Generator<string> {
  yield `${FORMAT}\n`;
  for (const [path, facts] of shared) yield `${JSON.stringify([path, ids.get(path), facts])}\n`;
}

/**
 * Returns the stored facts of the files that have the same content in `root`, according to `contentIds`. The blob is read
 * line by line, because it is as large as all facts together.
 */
export async function loadFacts(root: string, id: string): Promise<Map<string, FileFacts>> {
  try {
    const ids = await contentIds(root);
    const known = new Map<string, FileFacts>();
    const format = await readBlob(root, id, (line) => {
      const [path, content, facts] = JSON.parse(line) as [string, string, FileFacts];
      if (ids.get(path) === content) known.set(path, facts);
    });
    return format === FORMAT ? known : new Map();
  } catch {
    return new Map();
  }
}

/**
 * Returns the first line of the blob, and calls `receive` with the others if it is `FORMAT`. Throws unless the content has
 * the `id`.
 */
async function readBlob(root: string, id: string, receive: (line: string) => void): Promise<string> {
  const size = Number((await runGit(root, ["cat-file", "-s", id])).toString());
  const hash = createHash(id.length === 40 ? "sha1" : "sha256").update(`blob ${size}\0`);
  const git = spawn("git", [...OPTIONS, "cat-file", "blob", id], { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  let format: string | null = null;
  for await (const line of readLines(git.stdout)) {
    hash.update(`${line}\n`);
    if (format === null) format = line;
    else if (format === FORMAT) receive(line);
  }
  if (hash.digest("hex") !== id) throw new Error(`The blob ${id} is damaged.`);
  return format ?? "";
}

/** Returns the ids of the files that are the same as in git's index, by the path from `root`. */
async function contentIds(root: string): Promise<Map<string, string>> {
  const [listed, changed] = await Promise.all([
    runGit(root, ["ls-files", "--stage", "-z"]),
    runGit(root, ["diff-files", "--relative", "--name-only", "-z"]),
  ]);
  const entries = listed.toString().split("\0").filter(Boolean);
  const ids = new Map(
    entries.map((entry) => {
      const tab = entry.indexOf("\t");
      return [entry.slice(tab + 1), entry.split(" ", 2)[1]!];
    }),
  );
  for (const path of changed.toString().split("\0")) ids.delete(path);
  return ids;
}

async function runGit(root: string, args: string[]): Promise<Buffer> {
  const options = { cwd: root, maxBuffer: MAX_BYTES, encoding: "buffer" } as const;
  return (await promisify(execFile)("git", [...OPTIONS, ...args], options)).stdout;
}
