// A disk below a cache that a power cut empties. It applies every operation in order and can return, at any moment, a
// state that may be found after a power cut.
//
// Invariants
// 1. The bytes of a file are safe once that file was synced; the names in a folder, once that folder was synced.
//    Syncing a file does not sync its name, nor the folder above a new folder. POSIX guarantees no more. Real file
//    systems do, each in its own way.
// 2. Any part of the unsynced changes may survive: the bytes of each file and each name independently. Only the changes
//    of one name keep their order, and a rename is atomic.
// 3. The second model, `journal`, is that of ext4 and similar file systems: the name changes of all folders form one
//    ordered journal, and any sync writes it up to that moment. Bytes behave as before.
import { basename, dirname } from "node:path";
import type { Operation } from "./operation.ts";

export type Model = "strict" | "journal";

export interface Luck {
  /** Number of `count` consecutive name changes that survive. */
  names(count: number): number;
  /** Unsynced bytes that survive: `none`, `all`, or the selected blocks. */
  bytes(): "none" | "all" | ((block: number) => boolean);
}

interface NameChange {
  order: number;
  /** Null removes the name. */
  names: Map<string, Node | null>;
}

interface Folder {
  kind: "folder";
  now: Map<string, Node>;
  safe: Map<string, Node>;
  unsafe: NameChange[];
}

interface File {
  kind: "file";
  mode: number;
  now: Buffer;
  safe: Buffer;
}

interface Link {
  kind: "link";
  target: string;
}

type Node = Folder | File | Link;

export type Found = { kind: "folder" } | { kind: "file"; mode: number; bytes: Buffer } | Link;

const BLOCK = 512;

export class Disk {
  readonly #top: string;
  readonly #root: Folder = newFolder();
  #order = 0;
  #lastSync = 0;

  constructor(top: string, content: ReadonlyMap<string, Found>) {
    this.#top = top;
    for (const [path, found] of content) {
      const node: Node =
        found.kind === "folder"
          ? newFolder()
          : found.kind === "file"
            ? { kind: "file", mode: found.mode, now: found.bytes, safe: found.bytes }
            : found;
      const folder = this.#folder(dirname(path));
      folder.now.set(basename(path), node);
      folder.safe.set(basename(path), node);
    }
  }

  apply(operation: Operation): void {
    this.#order++;
    switch (operation.type) {
      case "said":
        return;
      case "makeFile":
        if (this.#find(operation.path) !== null) return;
        return this.#name(operation.path, { kind: "file", mode: operation.mode, now: EMPTY, safe: EMPTY });
      case "makeFolder":
        return this.#name(operation.path, newFolder());
      case "makeLink":
        return this.#name(operation.path, { kind: "link", target: operation.target });
      case "write": {
        const file = this.#file(operation.path);
        file.now = written(file.now, operation.at ?? file.now.length, operation.bytes);
        return;
      }
      case "copy": {
        const bytes = this.#file(operation.from).now.subarray(operation.start, operation.start + operation.length);
        const file = this.#file(operation.path);
        file.now = written(file.now, file.now.length, bytes);
        return;
      }
      case "truncate": {
        const file = this.#file(operation.path);
        file.now = resized(file.now, operation.length);
        return;
      }
      case "rename":
        return this.#rename(operation.path, operation.to);
      case "link":
        return this.#name(operation.to, this.#mustFind(operation.path));
      case "remove":
        return this.#name(operation.path, null);
      case "sync":
        return this.#sync(operation.path);
    }
  }

  get live(): Map<string, Found> {
    return list(
      this.#top,
      this.#root,
      (folder) => folder.now,
      (file) => file.now,
    );
  }

  afterLoss(model: Model, luck: Luck): Map<string, Found> {
    // The `journal` model has one number for all folders.
    const kept = this.#lastSync + luck.names(this.#order - this.#lastSync);
    const names = (folder: Folder): Map<string, Node> => {
      const found = new Map(folder.safe);
      const survivors =
        model === "journal"
          ? folder.unsafe.filter(({ order }) => order <= kept)
          : chains(folder.unsafe).flatMap((chain) => chain.slice(0, luck.names(chain.length)));
      for (const change of survivors.toSorted((a, b) => a.order - b.order)) put(found, change);
      return found;
    };
    return list(this.#top, this.#root, names, (file) => bytesAfterLoss(file, luck.bytes()));
  }

  #rename(from: string, to: string): void {
    const node = this.#mustFind(from);
    if (dirname(from) === dirname(to)) {
      this.#change(this.#folder(dirname(to)), [
        [basename(from), null],
        [basename(to), node],
      ]);
      return;
    }
    this.#name(to, node);
    this.#name(from, null);
  }

  #name(path: string, node: Node | null): void {
    this.#change(this.#folder(dirname(path)), [[basename(path), node]]);
  }

  #change(folder: Folder, names: [string, Node | null][]): void {
    const change = { order: this.#order, names: new Map(names) };
    put(folder.now, change);
    folder.unsafe.push(change);
  }

  #sync(path: string): void {
    this.#lastSync = this.#order;
    const node = this.#find(path);
    if (node?.kind === "file") node.safe = node.now;
    if (node?.kind !== "folder") return;
    node.safe = new Map(node.now);
    node.unsafe = [];
  }

  #find(path: string): Node | null {
    if (path === this.#top) return this.#root;
    const parent = this.#find(dirname(path));
    return parent?.kind === "folder" ? (parent.now.get(basename(path)) ?? null) : null;
  }

  #mustFind(path: string): Node {
    const node = this.#find(path);
    if (node === null) throw new Error(`the record changes ${path}, which does not exist`);
    return node;
  }

  #file(path: string): File {
    const node = this.#mustFind(path);
    if (node.kind !== "file") throw new Error(`${path} is not a file`);
    return node;
  }

  #folder(path: string): Folder {
    const node = this.#mustFind(path);
    if (node.kind !== "folder") throw new Error(`${path} is not a folder`);
    return node;
  }
}

const EMPTY = Buffer.alloc(0);
const newFolder = (): Folder => ({ kind: "folder", now: new Map(), safe: new Map(), unsafe: [] });

function put(names: Map<string, Node>, change: NameChange): void {
  for (const [name, node] of change.names) {
    if (node === null) names.delete(name);
    else names.set(name, node);
  }
}

/** Changes that share a name, directly or through others, form one chain. */
function chains(changes: readonly NameChange[]): NameChange[][] {
  const chainOf = new Map<string, NameChange[]>();
  for (const change of changes) {
    const names = [...change.names.keys()];
    const joined = [...new Set(names.flatMap((name) => (chainOf.has(name) ? [chainOf.get(name)!] : [])))];
    const chain = [...joined.flat(), change].toSorted((a, b) => a.order - b.order);
    for (const each of chain) for (const name of each.names.keys()) chainOf.set(name, chain);
  }
  return [...new Set(chainOf.values())];
}

function written(old: Buffer, at: number, bytes: Buffer): Buffer {
  const next = resized(old, Math.max(old.length, at + bytes.length));
  bytes.copy(next, at);
  return next;
}

function resized(old: Buffer, length: number): Buffer {
  const next = Buffer.alloc(length);
  old.copy(next, 0, 0, Math.min(length, old.length));
  return next;
}

/** A lost block keeps its content of `safe`, or is missing if there was none. */
function bytesAfterLoss({ safe, now }: File, fate: ReturnType<Luck["bytes"]>): Buffer {
  if (now === safe || fate === "none") return safe;
  if (fate === "all") return now;
  const blocks = Math.ceil(now.length / BLOCK);
  const found = Array.from({ length: blocks }, (_, block) => fate(block));
  const last = found.lastIndexOf(true);
  const next = resized(safe, Math.max(safe.length, Math.min(now.length, (last + 1) * BLOCK)));
  for (const [block, survived] of found.entries())
    if (survived) now.copy(next, block * BLOCK, block * BLOCK, Math.min(now.length, (block + 1) * BLOCK));
  return next;
}

function list(
  top: string,
  root: Folder,
  names: (folder: Folder) => Map<string, Node>,
  bytes: (file: File) => Buffer,
): Map<string, Found> {
  const all = new Map<string, Found>();
  const walk = (path: string, folder: Folder): void => {
    for (const [name, node] of names(folder)) {
      const inner = `${path}/${name}`;
      if (node.kind === "folder") {
        all.set(inner, { kind: "folder" });
        walk(inner, node);
      } else all.set(inner, node.kind === "file" ? { kind: "file", mode: node.mode, bytes: bytes(node) } : node);
    }
  };
  walk(top, root);
  return all;
}
