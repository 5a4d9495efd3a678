// A `RawTemplate` is the content of a template file. Any member may be missing, because a parent or a default can
// provide it.
import { pathText } from "../explain-issue.ts";

export type RawTemplate = Record<string, unknown>;

/** `MAX_TEMPLATE_BYTES` applies to files and to templates received over the network. */
export const MAX_TEMPLATE_BYTES = 1_000_000;
const MAX_DEPTH = 30;
/** `UNSAFE_NAMES` could reach a shared prototype when objects are merged. */
const UNSAFE_NAMES = ["__proto__", "constructor", "prototype"];

export const isObject = (value: unknown): value is RawTemplate =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `findUnsafe` must run before any other code reads `value`. */
export function findUnsafe(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (path.length > MAX_DEPTH) return [`${quotePath(path.slice(0, 3))} is nested more than ${MAX_DEPTH} levels deep.`];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = [...path, name];
    if (UNSAFE_NAMES.includes(name)) return [`${quotePath(inner)} is not allowed as a name in a template.`];
    return findUnsafe(member, inner);
  });
}

/** `quotePath` formats as in a program, in quotes: `"config.maxWorkers"`. */
export function quotePath(path: readonly PropertyKey[]): string {
  return JSON.stringify(pathText(path));
}
