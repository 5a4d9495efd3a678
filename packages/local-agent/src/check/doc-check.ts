// The types and helpers that all checks of pages share.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { CodeAnalysis } from "../understand/analyse.ts";
import { folderOf } from "../read/classify.ts";
import { joinPath } from "../read/paths.ts";
import { passesThroughLink } from "../read/read-repository.ts";

/**
 * An issue with `isFault` is a statement that the code contradicts or a defect of a page, and makes the run degraded.
 * Another one is a gap in the plan.
 */
interface DocIssue {
  isFault: boolean;
  description: string;
  location: string;
}

export interface DocCheck {
  issues: DocIssue[];
  pages: number;
  names: number;
  examples: number;
  links: number;
  edges: number;
}

export interface CheckContext {
  analysis: CodeAnalysis;
  check: DocCheck;
  /** Reads a file of the repository, or returns null. The checks compare the pages with these texts. */
  read: (path: string) => string | null;
}

export function reportFault({ issues }: DocCheck, description: string, location: string): void {
  issues.push({ isFault: true, description, location });
}

export function reportGap({ issues }: DocCheck, description: string, location: string): void {
  issues.push({ isFault: false, description, location });
}

/** Returns null for a link that leaves the repository. */
export function resolveLink(page: string, target: string): { path: string; anchor: string } | null {
  const [address, anchor = ""] = target.split("#");
  const path = joinPath(folderOf(page), decodeAddress(address!));
  return path.includes("\0") ? null : { path, anchor };
}

export function decodeAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function existsInside(root: string, path: string): boolean {
  return !passesThroughLink(root, path) && lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
}

/** Whether `text` contains `word`, and not only as a part of a longer name. */
export function containsWord(text: string, word: string): boolean {
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped}(?![\\p{L}\\p{N}_$])`, "u").test(text);
}
