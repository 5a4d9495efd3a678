// Priorities: numbers from 1, the most urgent, to 10 in one document, words in the others.
import { PRIORITY_WORDS } from "../../schema/task.ts";
import type { Protocol } from "./protocol-name.ts";

export interface CanonicalPriority {
  /** From 1, the most urgent, to 10. */
  level: number;
  /** What the message said, so that it can be said again. */
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

/** How the protocol says a level: the number itself, or the nearest of its three words. */
export function standardPriority(protocol: Protocol, level: number): number | string {
  if (protocol === "response") return level;
  if (level <= 3) return "high";
  return level <= 6 ? "medium" : "low";
}
