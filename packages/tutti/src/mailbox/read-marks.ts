// Records the messages that a reader has received. The format has one `lastRead` per box and no mark on a message, so
// `addMarks` keeps an index: one append-only file of JSON lines per box and reader, until the box is cleared.
//
// Messages have no ids. `messageKeys` identifies a message by its content and the number of equal messages before it,
// so the index stays valid when other programs rewrite the file.
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../protocol/json/canonical-json.ts";
import { isRecord } from "../protocol/json/json-value.ts";
import { appendLines, parseLines } from "./append-lines.ts";
import { readFileText } from "./read-text.ts";
import { makeFolder } from "./replace-file.ts";

/** Maps a key of `messageKeys` to the time of reading. */
type ReadMarks = ReadonlyMap<string, string>;

export function messageKeys(messages: readonly unknown[]): string[] {
  const seen = new Map<string, number>();
  return messages.map((message) => {
    const digest = createHash("sha256").update(canonicalJson(message)).digest("hex").slice(0, 32);
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    return `${digest}.${count}`;
  });
}

export function readMarks(folder: string, consumer: string): ReadMarks {
  const lines = parseLines(readFileText(marksFile(folder, consumer)).text ?? "");
  return new Map(
    lines.flatMap((line) =>
      isRecord(line) && typeof line["key"] === "string" ? [[line["key"], String(line["readAt"])] as const] : [],
    ),
  );
}

/** The caller must hold the lock of `consumer`. */
export function addMarks(folder: string, consumer: string, keys: readonly string[], readAt: string): void {
  makeFolder(folder);
  const lines = keys.map((key) => JSON.stringify({ key, readAt }));
  // If a power failure loses a mark, the message is only delivered again.
  appendLines(marksFile(folder, consumer), lines, { durable: false });
}

/** Maps a message key to the time of reading by reader, for the `readBy` of the archive. */
export function marksOfAll(folder: string): Map<string, Record<string, string>> {
  const all = new Map<string, Record<string, string>>();
  for (const name of listMarks(folder)) {
    const consumer = name.slice(0, -".jsonl".length);
    for (const [key, readAt] of readMarks(folder, consumer)) all.set(key, { ...all.get(key), [consumer]: readAt });
  }
  return all;
}

/** After `dropMarks` an equal message counts as new. */
export function dropMarks(folder: string): void {
  for (const name of listMarks(folder)) rmSync(join(folder, name), { force: true });
}

function listMarks(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

const marksFile = (folder: string, consumer: string): string => join(folder, `${consumer}.jsonl`);
