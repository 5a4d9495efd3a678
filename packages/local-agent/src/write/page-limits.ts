import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";

/** A longer page is written with less detail. */
export const MAX_PAGE_LINES = 1_500;
/** A section of a name has at least a heading, a fenced line and a place, each with an empty line after it. */
const MIN_SECTION_LINES = 8;

/** Whether the page may have sections with examples, decided without writing them for thousands of names. */
export function hasRoomForSections({ modules }: CodeAnalysis, { files }: Component): boolean {
  const names = files.reduce((sum, path) => sum + (modules.get(path)?.exports.length ?? 0), 0);
  return names * MIN_SECTION_LINES <= MAX_PAGE_LINES;
}
