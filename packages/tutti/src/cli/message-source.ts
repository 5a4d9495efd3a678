// Where a command finds the messages that it is to look at: files, folders and the standard input.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";

export interface MessageSource {
  /** The path as it was given, or found in a folder that was; `-` for the standard input. */
  name: string;
  text: string | null;
  /** Found in a folder, so it may have nothing to do with messages. */
  isFound: boolean;
}

const KINDS = [".json", ".txt", ".md", ".log"];
const NOT_OURS = ["node_modules", ".git", ".tutti"];

/** All files are looked for before the first is read, so that a misspelt name is told at once. */
export function* readSources(names: readonly string[]): Generator<MessageSource> {
  const files = names.flatMap((name) => (name === "-" ? [{ name, isFound: false }] : find(name)));
  for (const { name, isFound } of files) yield { name, isFound, text: readText(name) };
}

function find(name: string): { name: string; isFound: boolean }[] {
  const stats = statSync(name, { throwIfNoEntry: false });
  if (stats === undefined) throw new TuttiError("item_not_found", `there is no file ${name}`);
  if (!stats.isDirectory()) return [{ name, isFound: false }];
  return walk(name).map((file) => ({ name: file, isFound: true }));
}

/** Links are not followed: they could lead anywhere, and around in a circle. */
function walk(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.includes(entry.name) ? [] : walk(path);
    return entry.isFile() && KINDS.includes(extname(entry.name)) ? [path] : [];
  });
}

/** Null if the bytes are no text. A byte-order mark is taken off. */
function readText(name: string): string | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(name === "-" ? 0 : name);
  } catch (error) {
    throw new TuttiError("storage_failed", `${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
