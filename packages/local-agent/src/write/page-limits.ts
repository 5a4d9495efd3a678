import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";
import { countNames, MAX_SECTIONS } from "../read/facts.ts";

/** `writePage` reduces the detail of a longer page. */
export const MAX_PAGE_LINES = 1_500;

/** Decides without writing sections with examples for thousands of names: each section has 8 lines or more. */
export function hasRoomForSections({ modules }: CodeAnalysis, { files }: Component): boolean {
  const read = files.flatMap((path) => modules.get(path) ?? []);
  return read.reduce((sum, module) => sum + countNames(module), 0) <= MAX_SECTIONS;
}
