import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";
import { countNames, MAX_SECTIONS } from "../read/facts.ts";

/** `writePage` reduces the detail of a longer page. */
export const MAX_PAGE_LINES = 1_500;

/**
 * Decides without writing sections with examples for thousands of names: each section has 8 lines or more. A file with
 * `moreNames` has no sections, because not all of its names are known any more.
 */
export function hasRoomForSections({ modules }: CodeAnalysis, { files }: Component): boolean {
  const read = files.flatMap((path) => modules.get(path) ?? []);
  const names = read.reduce((sum, module) => sum + countNames(module), 0);
  return names <= MAX_SECTIONS && read.every(({ moreNames }) => moreNames === 0);
}
