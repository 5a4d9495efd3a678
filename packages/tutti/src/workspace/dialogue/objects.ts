// Reads objects with `CAT_FILE` processes. Only commits are cached, by their hashes: each look for an ancestor reads a
// part of the history again. Whether an object exists is never cached, and `findObject` asks git.
import { isHash } from "../disk/ref-files.ts";
import { ask, type DialogueOptions } from "./git-dialogue.ts";

export interface CommitObject {
  tree: string;
  parents: readonly string[];
  /** The committer's date in seconds since 1970. */
  date: number;
}

const CAT_FILE = ["cat-file", "--batch-command"];

/** `HEADER` is the line before an object's content: its hash, type and size. A missing object has another line. */
const HEADER = /^([0-9a-f]{40,64}) (\w+) (\d+)$/;

/** `name` is a ref or a hash, also with `^{commit}` or `^{tree}`. `findObject` returns null if it does not resolve. */
export async function findObject(name: string, options: DialogueOptions): Promise<string | null> {
  if (!isRequest(name)) return null;
  const read = (output: string) => {
    const line = lineOf(output);
    return line === null ? null : { value: HEADER.exec(line)?.[1] ?? null, length: line.length + 1 };
  };
  return ask(CAT_FILE, { purpose: `find ${name}`, input: `info ${name}\n`, read }, options);
}

/** The keys of `commits` are the git folder and the hash. A commit takes about 300 bytes, and 60 for each further parent. */
const commits = new Map<string, CommitObject>();
const MAX_COMMITS = 10_000;
/** A commit with more parents is not cached. An agent can make one with thousands. */
const MAX_PARENTS = 16;

/**
 * Returns null if `name` is no commit, or a parent that a shallow clone lacks. With a hash as `name`, a commit that was
 * read before may have been deleted since.
 */
export async function findCommitObject(name: string, options: DialogueOptions): Promise<CommitObject | null> {
  if (!isRequest(name)) return null;
  const key = isHash(name) ? `${options.gitDir}\0${name}` : null;
  const known = key === null ? undefined : commits.get(key);
  if (known) return known;
  const request = { purpose: `read ${name}`, input: `contents ${name}\n`, read: readCommit };
  const found = await ask(CAT_FILE, request, options);
  if (commits.size >= MAX_COMMITS) commits.clear();
  if (key !== null && found && found.parents.length <= MAX_PARENTS) commits.set(key, found);
  return found;
}

/** Returns the bytes of a file as latin1, or null if `name` is no file of at most `maxBytes`. */
export async function findBlob(name: string, maxBytes: number, options: DialogueOptions): Promise<string | null> {
  if (!isRequest(name)) return null;
  const readInfo = (output: string) => {
    const line = lineOf(output);
    if (line === null) return null;
    const [, hash, type, size] = HEADER.exec(line) ?? [];
    const isRead = type === "blob" && Number(size) <= maxBytes;
    return { value: isRead ? { hash, size: Number(size) } : null, length: line.length + 1 };
  };
  const found = await ask(CAT_FILE, { purpose: `find ${name}`, input: `info ${name}\n`, read: readInfo }, options);
  if (found === null) return null;
  const read = (output: string) => {
    const start = (lineOf(output)?.length ?? output.length) + 1;
    const end = start + found.size;
    // `contents` ends with a line break.
    return output.length <= end ? null : { value: output.slice(start, end), length: end + 1 };
  };
  return ask(CAT_FILE, { purpose: `read ${name}`, input: `contents ${found.hash}\n`, read }, options);
}

export interface TreeEntry {
  /** Without leading zeros. */
  mode: string;
  hash: string;
}

/** Returns the entries of a tree by their names in latin1, or null if `hash` is no tree. */
export async function readTree(hash: string, options: DialogueOptions): Promise<Map<string, TreeEntry> | null> {
  const read = (output: string) => readContent(output, "tree", (content) => parseTree(content, hash.length / 2));
  return ask(CAT_FILE, { purpose: `read ${hash}`, input: `contents ${hash}\n`, read }, options);
}

function parseTree(content: string, hashBytes: number): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < content.length;) {
    const [space, end] = [content.indexOf(" ", at), content.indexOf("\0", at)];
    const hash = Buffer.from(content.slice(end + 1, end + 1 + hashBytes), "latin1").toString("hex");
    entries.set(content.slice(space + 1, end), { mode: content.slice(at, space), hash });
    at = end + 1 + hashBytes;
  }
  return entries;
}

/** A request is one line, so `isRequest` rejects names that would end it early. */
const isRequest = (name: string): boolean => name !== "" && !/[\n\0]/.test(name);

function lineOf(output: string): string | null {
  const end = output.indexOf("\n");
  return end === -1 ? null : output.slice(0, end);
}

const readCommit = (output: string) => readContent(output, "commit", parseCommit);

/** The answer has the value null for an object of another type. */
function readContent<T>(
  output: string,
  wanted: string,
  parse: (content: string) => T,
): { value: T | null; length: number } | null {
  const line = lineOf(output);
  if (line === null) return null;
  const [, , type, size] = HEADER.exec(line) ?? [];
  if (size === undefined) return { value: null, length: line.length + 1 };
  const start = line.length + 1;
  const end = start + Number(size);
  if (output.length <= end) return null;
  return { value: type === wanted ? parse(output.slice(start, end)) : null, length: end + 1 };
}

/** The header ends with an empty line. `parseCommit` must not read the message, which may look like a header. */
function parseCommit(content: string): CommitObject {
  const [header = ""] = content.split("\n\n", 1);
  return {
    tree: copyOf(/^tree (\S+)/.exec(header)?.[1] ?? ""),
    parents: Array.from(header.matchAll(/^parent (\S+)/gm), ([, parent]) => copyOf(parent!)),
    date: Number(/^committer .*> (\d+) /m.exec(header)?.[1] ?? 0),
  };
}

/** A part of a string keeps the whole of it in memory, here the message. */
const copyOf = (part: string): string => Buffer.from(part, "latin1").toString("latin1");
