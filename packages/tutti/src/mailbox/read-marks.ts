// Which messages a reader has had. The format has one `lastRead` for a whole box and no mark on a message, so Tutti keeps
// an index of its own: one file of JSON lines for each box and reader, which only grows until the box is cleared.
//
// Messages have no ids. A message is known by its content and by how many equal ones stand before it, so that the index
// stays right when others rewrite the file.
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../protocol/canonical-json.ts";
import { isRecord } from "../protocol/json-value.ts";
import { appendLines, parseLines } from "./append-lines.ts";
import { readFileText } from "./read-text.ts";
import { makeFolder } from "./replace-file.ts";

/** Key of a message and when it was read. */
export type ReadMarks = ReadonlyMap<string, string>;

/** The keys of the messages of one box, in their order. */
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

/** The caller holds the reader's lock. */
export function addMarks(folder: string, consumer: string, keys: readonly string[], readAt: string): void {
  makeFolder(folder);
  const lines = keys.map((key) => JSON.stringify({ key, readAt }));
  // A mark that a power cut takes back only means that a message is handed out again.
  appendLines(marksFile(folder, consumer), lines, { durable: false });
}

/** Who has read a message and when, for the archive. */
export function marksOfAll(folder: string): Map<string, Record<string, string>> {
  const all = new Map<string, Record<string, string>>();
  for (const name of listMarks(folder)) {
    const consumer = name.slice(0, -".jsonl".length);
    for (const [key, readAt] of readMarks(folder, consumer)) all.set(key, { ...all.get(key), [consumer]: readAt });
  }
  return all;
}

/** Once a box is cleared, an equal message is a new one. */
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
