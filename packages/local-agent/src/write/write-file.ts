// Writing pages, and nothing but pages: a file that a person wrote, and anything behind a symbolic link, is left alone.
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isGeneratedPage } from "../read/marker.ts";
import { passesThroughLink, readText } from "../read/read-repository.ts";

/** Writes a page and returns whether its text is new. */
export function writeGenerated(root: string, path: string, text: string): boolean {
  mustBeOurs(root, path);
  if (readText(root, path) === text) return false;
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  // The page appears as a whole or not at all, also when the session is ended in this moment.
  const draft = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return true;
}

export function removeGenerated(root: string, path: string): void {
  mustBeOurs(root, path);
  rmSync(join(root, path), { force: true });
}

function mustBeOurs(root: string, path: string): void {
  if (passesThroughLink(root, path)) throw new Error(`${path} is reached through a symbolic link and is not written.`);
  const facts = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (facts && !isGeneratedPage(readText(root, path)))
    throw new Error(`${path} was written by a person and is not overwritten.`);
}
