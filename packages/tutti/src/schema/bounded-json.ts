// `parseBoundedJson` reads JSON that a client, a file or an agent supplies. Validation, masking and encoding recurse
// over such a value, so a deep one would overflow the stack and a wide one would block the event loop.
import { TuttiError } from "./error.ts";

const MAX_NESTING = 64;
export const MAX_VALUES = 50_000;

interface JsonBounds {
  maxNesting?: number;
  maxValues?: number;
}

/**
 * `LOG_BOUNDS` are for logs that Tutti wrote: their values passed the limits of their sources, and an event may hold
 * several of them.
 */
export const LOG_BOUNDS: JsonBounds = { maxNesting: 256, maxValues: 1_000_000 };

/** Whether `value` and everything in it are more than `limit` values. Does not recurse, so depth does no harm. */
export function hasMoreValues(value: unknown, limit: number): boolean {
  const waiting: unknown[] = [value];
  let count = 1;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const members: unknown[] = Object.values(next);
    count += members.length;
    if (count > limit) return true;
    for (const member of members) if (typeof member === "object" && member !== null) waiting.push(member);
  }
  return false;
}

/** Throws a `SyntaxError` for text that is not JSON, and `invalid_input` for a value that exceeds a limit. */
export function parseBoundedJson(text: string, bounds: JsonBounds = {}): unknown {
  const { maxNesting = MAX_NESTING, maxValues = MAX_VALUES } = bounds;
  const value: unknown = JSON.parse(text);
  let level: unknown[] = [value];
  let count = 1;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxNesting)
      throw new TuttiError("invalid_input", `The JSON is nested more than ${maxNesting} levels deep. Flatten it.`);
    const next: unknown[] = [];
    for (const container of level) {
      if (typeof container !== "object" || container === null) continue;
      for (const member of Object.values(container) as unknown[]) {
        count += 1;
        if (typeof member === "object" && member !== null) next.push(member);
      }
      if (count > maxValues)
        throw new TuttiError("invalid_input", `The JSON has more than ${maxValues} values. Send fewer.`);
    }
    level = next;
  }
  return value;
}
