// Reads a folder into a map, and writes a map to a folder.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Found } from "./disk.ts";

export function readTree(top: string): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const name of readdirSync(top).toSorted()) {
    const path = join(top, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      found.set(path, { kind: "folder" });
      for (const [inner, value] of readTree(path)) found.set(inner, value);
    } else if (stat.isSymbolicLink()) found.set(path, { kind: "link", target: readlinkSync(path) });
    else found.set(path, { kind: "file", mode: stat.mode & 0o777, bytes: readFileSync(path) });
  }
  return found;
}

export function writeTree(top: string, tree: ReadonlyMap<string, Found>): void {
  for (const name of readdirSync(top)) rmSync(join(top, name), { recursive: true, force: true });
  for (const [path, found] of tree) {
    if (found.kind === "folder") mkdirSync(path);
    else if (found.kind === "link") symlinkSync(found.target, path);
    else {
      writeFileSync(path, found.bytes);
      chmodSync(path, found.mode);
    }
  }
}
