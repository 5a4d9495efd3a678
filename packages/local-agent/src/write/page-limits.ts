import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";

/** `writePage` reduces the detail of a longer page. */
export const MAX_PAGE_LINES = 1_500;
/** A section of a name has at least a heading, a fenced line and a place, each with an empty line after it. */
const MIN_SECTION_LINES = 8;

/** Decides without writing sections with examples for thousands of names: each has `MIN_SECTION_LINES` or more. */
export function hasRoomForSections({ modules }: CodeAnalysis, { files }: Component): boolean {
  const names = files.reduce((sum, path) => sum + (modules.get(path)?.exports.length ?? 0), 0);
  return names * MIN_SECTION_LINES <= MAX_PAGE_LINES;
}
