// A `CanonicalPriority` is a number from 1 (most urgent) to 10 in one document and a word in the others.
import { PRIORITY_WORDS } from "../../schema/task.ts";
import type { Protocol } from "./protocol-name.ts";

export interface CanonicalPriority {
  level: number;
  /** `original` can be written back unchanged. */
  original: number | string;
}

const WORDS: Record<string, number> = PRIORITY_WORDS;
const DEFAULT_LEVEL = PRIORITY_WORDS.medium;

export function priorityOf(original: unknown): CanonicalPriority | undefined {
  if (typeof original === "number") {
    return { level: Math.min(10, Math.max(1, Math.round(original))), original };
  }
  if (typeof original !== "string") return undefined;
  const word = original.toLowerCase();
  return { level: (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined) ?? DEFAULT_LEVEL, original };
}

/** `standardPriority` is the number, or the nearest of three words, as `protocol` writes it. */
export function standardPriority(protocol: Protocol, level: number): number | string {
  if (protocol === "response") return level;
  if (level <= 3) return "high";
  return level <= 6 ? "medium" : "low";
}
