// `assertOwnPage` protects files that a user wrote and paths through a symbolic link.
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isGeneratedPage } from "../read/marker.ts";
import { passesThroughLink, readText } from "../read/read-repository.ts";

/** Returns whether the text of the page has changed. */
export function writeGenerated(root: string, path: string, text: string): boolean {
  assertOwnPage(root, path);
  if (readText(root, path) === text) return false;
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  // The rename is atomic: if the session is killed now, the page is either complete or unchanged.
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
  assertOwnPage(root, path);
  rmSync(join(root, path), { force: true });
}

function assertOwnPage(root: string, path: string): void {
  if (passesThroughLink(root, path))
    throw new Error(`The path ${path} leads through a symbolic link, so it is not written. Remove the link.`);
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (stats && !isGeneratedPage(readText(root, path)))
    throw new Error(`A user wrote ${path}, so it is not overwritten. Move or rename it.`);
}
