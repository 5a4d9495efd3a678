// `writeIndexTree` does what `git write-tree` does, without a process. The index names the trees of all folders that have
// not changed (its extension `TREE`), so the work grows with the changed folders. An index that it does not understand
// completely is left to git.
import { readFile } from "node:fs/promises";
import { looseObject, writeLooseObject, type HashName, type LooseObject } from "./loose-object.ts";
import type { Repository } from "../repository.ts";

interface IndexEntry {
  /** In latin1: a path need not be valid UTF-8. */
  path: string;
  mode: number;
  hash: Buffer;
}

/** A folder in the extension `TREE`. Without `hash` it has changed. */
interface KnownFolder {
  /** The number of entries in the folder and below it. */
  entries: number;
  hash: Buffer | null;
  folders: Map<string, KnownFolder>;
}

/** Offsets in an entry, in bytes. */
const MODE_AT = 24;
const HASH_AT = 40;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const INTENT_TO_ADD = 0x2000;
const TREE_MODE = "40000";
/** With more changed folders than `MAX_TREES`, a process is the faster way. */
const MAX_TREES = 100;

/** Thrown by the functions below for an index that is left to git. */
class UnknownIndex extends Error {}

/** Returns the hash of the tree that `indexFile` lists, or null if `git write-tree` has to write it. */
export async function writeIndexTree(
  repository: Repository,
  indexFile: string,
  hashName: HashName,
): Promise<string | null> {
  const objects: LooseObject[] = [];
  let hash: Buffer | null;
  try {
    const index = new IndexReader(await readFile(indexFile), hashName === "sha1" ? 20 : 32);
    const { entries, root } = index.read();
    const tree = treeOf(entries, root, hashName, objects);
    if (tree.end !== entries.length) return null;
    ({ hash } = tree);
  } catch (error) {
    if (error instanceof UnknownIndex || error instanceof RangeError) return null;
    throw error;
  }
  if (hash === null) return null;
  await Promise.all(objects.map((object) => writeLooseObject(repository, object, "write the tree of a workspace")));
  return hash.toString("hex");
}

/** Reads versions 2 to 4 of the format. A read behind the end throws a `RangeError`. */
class IndexReader {
  readonly #bytes: Buffer;
  readonly #hashBytes: number;
  #at = 12;

  constructor(bytes: Buffer, hashBytes: number) {
    this.#bytes = bytes;
    this.#hashBytes = hashBytes;
  }

  read(): { entries: IndexEntry[]; root: KnownFolder } {
    const version = this.#bytes.readUInt32BE(4);
    if (this.#bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw new UnknownIndex();
    const entries: IndexEntry[] = [];
    let path = "";
    for (let left = this.#bytes.readUInt32BE(8); left > 0; left -= 1) {
      const start = this.#at;
      const mode = this.#bytes.readUInt32BE(start + MODE_AT);
      const hash = this.#bytes.subarray(start + HASH_AT, start + HASH_AT + this.#hashBytes);
      this.#at = start + HASH_AT + this.#hashBytes;
      const flags = this.#readUInt16();
      const more = flags & EXTENDED ? this.#readUInt16() : 0;
      if ((flags & STAGE) !== 0 || (more & INTENT_TO_ADD) !== 0) throw new UnknownIndex();
      const kept = version === 4 ? path.slice(0, path.length - this.#readOffset()) : "";
      path = kept + this.#readText();
      // Before version 4 an entry is filled up with zeros to a multiple of eight bytes.
      if (version < 4) this.#at = start + Math.ceil((this.#at - start) / 8) * 8;
      entries.push({ path, mode, hash });
    }
    return { entries, root: this.#readExtensions() };
  }

  #readExtensions(): KnownFolder {
    const end = this.#bytes.length - this.#hashBytes;
    let root: KnownFolder | null = null;
    while (this.#at < end) {
      const name = this.#bytes.toString("latin1", this.#at, this.#at + 4);
      const next = this.#at + 8 + this.#bytes.readUInt32BE(this.#at + 4);
      // An extension that begins with a small letter changes the meaning of the entries.
      if (!/^[A-Z]/.test(name)) throw new UnknownIndex();
      this.#at += 8;
      if (name === "TREE" && this.#at < next) root = this.#readFolder().folder;
      this.#at = next;
    }
    if (root === null) throw new UnknownIndex();
    return root;
  }

  #readFolder(): { name: string; folder: KnownFolder } {
    const name = this.#readText();
    const line = this.#bytes.indexOf("\n", this.#at);
    const [entries = -1, count = 0] = this.#bytes.toString("latin1", this.#at, line).split(" ").map(Number);
    this.#at = line + 1;
    const hash = entries >= 0 ? this.#bytes.subarray(this.#at, this.#at + this.#hashBytes) : null;
    if (hash) this.#at += this.#hashBytes;
    const folders = new Map<string, KnownFolder>();
    for (let left = count; left > 0; left -= 1) {
      const child = this.#readFolder();
      folders.set(child.name, child.folder);
    }
    return { name, folder: { entries, hash, folders } };
  }

  #readUInt16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  #readText(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1) throw new UnknownIndex();
    const text = this.#bytes.toString("latin1", this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Seven bits a byte, the highest ones first; each continuation adds one. */
  #readOffset(): number {
    let byte = this.#bytes.readUInt8(this.#at++);
    let value = byte & 0x7f;
    while (byte & 0x80) {
      byte = this.#bytes.readUInt8(this.#at++);
      value = ((value + 1) << 7) | (byte & 0x7f);
    }
    return value;
  }
}

/** Appends the trees of changed folders to `objects`. The order of an index is that of its trees. */
function treeOf(entries: readonly IndexEntry[], root: KnownFolder, hashName: HashName, objects: LooseObject[]) {
  const build = (prefix: string, known: KnownFolder | undefined, from: number): { hash: Buffer; end: number } => {
    const isInside = (at: number): boolean => entries[at]?.path.startsWith(prefix) === true;
    if (known?.hash) {
      const end = from + known.entries;
      if (known.entries === 0 || !isInside(from) || !isInside(end - 1) || isInsideOf(prefix, entries[end]))
        throw new UnknownIndex();
      return { hash: known.hash, end };
    }
    if (objects.length >= MAX_TREES) throw new UnknownIndex();
    const parts: Buffer[] = [];
    let at = from;
    while (isInside(at)) {
      const { path, mode, hash } = entries[at]!;
      const slash = path.indexOf("/", prefix.length);
      if (slash === -1) {
        parts.push(Buffer.from(`${mode.toString(8)} ${path.slice(prefix.length)}\0`, "latin1"), hash);
        at += 1;
        continue;
      }
      const name = path.slice(prefix.length, slash);
      const folder = build(path.slice(0, slash + 1), known?.folders.get(name), at);
      parts.push(Buffer.from(`${TREE_MODE} ${name}\0`, "latin1"), folder.hash);
      at = folder.end;
    }
    const object = looseObject("tree", Buffer.concat(parts), hashName);
    objects.push(object);
    return { hash: Buffer.from(object.hash, "hex"), end: at };
  };
  return build("", root, 0);
}

const isInsideOf = (prefix: string, entry: IndexEntry | undefined): boolean =>
  prefix !== "" && entry?.path.startsWith(prefix) === true;
