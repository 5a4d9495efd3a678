import { readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { readBytes } from "../input/read-file.ts";
import { TuttiError } from "../../schema/error.ts";

export interface MessageSource {
  /** Path as given, or as `walk` found it in a given folder; `-` for stdin. */
  name: string;
  /** Null if the file is not UTF-8 text. */
  text: string | null;
  /** True for files from `walk`, which may have nothing to do with messages. */
  isFound: boolean;
}

const EXTENSIONS = [".json", ".txt", ".md", ".log"];
const IGNORED_FOLDERS = ["node_modules", ".git", ".tutti"];

/** Yields files, files in folders, and stdin. Calls `find` for all names first: a misspelt one fails at once. */
export async function* readSources(names: readonly string[]): AsyncGenerator<MessageSource, void> {
  const files = names.flatMap((name) => (name === "-" ? [{ name, isFound: false }] : find(name)));
  for (const { name, isFound } of files) yield { name, isFound, text: await readText(name) };
}

/** Returns null if `name` is a folder. */
export async function readSource(name: string): Promise<MessageSource | null> {
  const { value } = await readSources([name]).next();
  return value === undefined || value.isFound ? null : value;
}

function find(name: string): { name: string; isFound: boolean }[] {
  const stats = statSync(name, { throwIfNoEntry: false });
  if (stats === undefined) throw new TuttiError("item_not_found", `File "${name}" does not exist. Check the path.`);
  if (!stats.isDirectory()) return [{ name, isFound: false }];
  return walk(name).map((file) => ({ name: file, isFound: true }));
}

/** Does not follow links: they could leave the folder or form a cycle. */
function walk(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED_FOLDERS.includes(entry.name) ? [] : walk(path);
    return entry.isFile() && EXTENSIONS.includes(extname(entry.name)) ? [path] : [];
  });
}

/** Returns null if the bytes are not UTF-8. `TextDecoder` removes a byte-order mark. */
async function readText(name: string): Promise<string | null> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(name);
  } catch (error) {
    throw new TuttiError(
      "storage_failed",
      `"${name}" cannot be read: ${(error as Error).message}. Check its permissions.`,
      { cause: error },
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
