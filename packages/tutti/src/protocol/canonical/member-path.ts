// Paths address nested members. A numeric segment is an index in a list.
import { isRecord } from "../json/json-value.ts";

export type Bag = Record<string, unknown>;

export function segmentsOf(path: string): string[] {
  return path.split(".");
}

/** Creates missing objects and lists on the path. */
export function putAt(root: Bag, segments: readonly string[], value: unknown): void {
  // No message has such a member, and assigning it would change a prototype.
  if (segments.includes("__proto__")) return;
  let holder: object = root;
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    const existing: unknown = Object.hasOwn(holder, segment) ? Reflect.get(holder, segment) : undefined;
    const next = typeof existing === "object" && existing !== null ? existing : emptyFor(segments[index + 1]);
    Reflect.set(holder, segment, next);
    holder = next;
  }
  Reflect.set(holder, segments.at(-1) ?? "", value);
}

/** Returns the members that no `known` path reaches, and empty objects, outermost first. */
export function unknownAt(value: unknown, known: readonly (readonly string[])[]): { path: string[]; value: unknown }[] {
  if (!isRecord(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const below = known.filter(([first]) => first === name).map((path) => path.slice(1));
    if (member === undefined || below.some((path) => path.length === 0)) return [];
    if (below.length > 0 && typeof member === "object" && member !== null && Object.keys(member).length > 0) {
      return unknownAt(member, below).map((each) => ({ ...each, path: [name, ...each.path] }));
    }
    return [{ path: [name], value: member }];
  });
}

function emptyFor(segment: string | undefined): object {
  return segment !== undefined && /^\d+$/.test(segment) ? [] : {};
}
