// Reads objects with `CAT_FILE` processes. Nothing is cached: git reads the disk for each request.
import { ask, type DialogueOptions } from "./git-dialogue.ts";

export interface CommitObject {
  tree: string;
  parents: string[];
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

/** Returns null if `name` is no commit, or a parent that a shallow clone lacks. */
export async function findCommitObject(name: string, options: DialogueOptions): Promise<CommitObject | null> {
  if (!isRequest(name)) return null;
  return ask(CAT_FILE, { purpose: `read ${name}`, input: `contents ${name}\n`, read: readCommit }, options);
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

/** A request is one line, so `isRequest` rejects names that would end it early. */
const isRequest = (name: string): boolean => name !== "" && !/[\n\0]/.test(name);

function lineOf(output: string): string | null {
  const end = output.indexOf("\n");
  return end === -1 ? null : output.slice(0, end);
}

function readCommit(output: string): { value: CommitObject | null; length: number } | null {
  const line = lineOf(output);
  if (line === null) return null;
  const [, , type, size] = HEADER.exec(line) ?? [];
  if (size === undefined) return { value: null, length: line.length + 1 };
  const start = line.length + 1;
  const end = start + Number(size);
  if (output.length <= end) return null;
  return { value: type === "commit" ? parseCommit(output.slice(start, end)) : null, length: end + 1 };
}

/** The header ends with an empty line. `parseCommit` must not read the message, which may look like a header. */
function parseCommit(content: string): CommitObject {
  const [header = ""] = content.split("\n\n", 1);
  return {
    tree: /^tree (\S+)/.exec(header)?.[1] ?? "",
    parents: Array.from(header.matchAll(/^parent (\S+)/gm), ([, parent]) => parent!),
    date: Number(/^committer .*> (\d+) /m.exec(header)?.[1] ?? 0),
  };
}
