// A template as it stands in its file: any part may be missing, because a parent or a default can bring it in.

export type RawTemplate = Record<string, unknown>;

/** The largest text a template may have, in a file and when it comes over the wire. */
export const MAX_TEMPLATE_BYTES = 1_000_000;
const MAX_DEPTH = 30;
/** Names through which a merged object could reach what all objects share. */
const UNSAFE_NAMES = ["__proto__", "constructor", "prototype"];

export const isObject = (value: unknown): value is RawTemplate =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What makes a value dangerous to merge, as sentences; nothing else may look at the value before this has. */
export function findUnsafe(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (path.length > MAX_DEPTH) return [`${quotePath(path.slice(0, 3))} is nested more than ${MAX_DEPTH} levels deep.`];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = [...path, name];
    if (UNSAFE_NAMES.includes(name)) return [`${quotePath(inner)} is a name that no template may use.`];
    return findUnsafe(member, inner);
  });
}

/** A path as one writes it in a program, in quotes: `"config.maxWorkers"`. */
export function quotePath(path: readonly PropertyKey[]): string {
  const texts = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return JSON.stringify(texts.join("").replace(/^\./, ""));
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
