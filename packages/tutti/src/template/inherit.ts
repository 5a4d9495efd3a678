// `inherit` and `merge` have the rules of inheritance, on plain values.
//
// 1. Objects are merged member by member. All other values, including arrays, are replaced as a whole.
// 2. If parent and child both set a value, the child wins.
// 3. A chain is folded from the oldest ancestor to the child, and every value records the template it comes from.
import { isObject, type RawTemplate } from "./raw-template.ts";

/** A `Traced` value has its origin. The origin of an object is the youngest template with an object at that path. */
type Traced = { from: string; leaf: unknown } | { from: string; members: Map<string, Traced> };

/** `Origins` maps a path such as `/config/maxWorkers` to the name of the template that sets it. */
export type Origins = Map<string, string>;

export function merge(parent: RawTemplate, child: RawTemplate): RawTemplate {
  const merged: RawTemplate = { ...parent };
  for (const [name, value] of Object.entries(child)) {
    const inherited = Object.hasOwn(parent, name) ? parent[name] : undefined;
    merged[name] = isObject(inherited) && isObject(value) ? merge(inherited, value) : value;
  }
  return merged;
}

interface Ancestor {
  /** The name that `origins` uses for this template. */
  name: string;
  raw: RawTemplate;
}

export function inherit(chain: readonly Ancestor[]): { raw: RawTemplate; origins: Origins } {
  let traced: Traced | undefined;
  for (const { name, raw } of chain.toReversed()) traced = putOver(traced, raw, name);
  if (!traced) return { raw: {}, origins: new Map() };
  const origins: Origins = new Map();
  collectOrigins(traced, "", origins);
  return { raw: plain(traced) as RawTemplate, origins };
}

function putOver(parent: Traced | undefined, child: unknown, from: string): Traced {
  if (!isObject(child)) return { from, leaf: child };
  const members = new Map(parent && "members" in parent ? parent.members : []);
  for (const [name, value] of Object.entries(child)) members.set(name, putOver(members.get(name), value, from));
  return { from, members };
}

function plain(traced: Traced): unknown {
  if ("leaf" in traced) return traced.leaf;
  return Object.fromEntries([...traced.members].map(([name, member]) => [name, plain(member)]));
}

function collectOrigins(traced: Traced, path: string, into: Origins): void {
  into.set(path, traced.from);
  if ("leaf" in traced) return;
  for (const [name, member] of traced.members) collectOrigins(member, `${path}/${escapeName(name)}`, into);
}

/** Returns every value that is not an object, and every empty object, with its path. */
export function leavesOf(value: unknown, path = ""): [path: string, value: unknown][] {
  if (!isObject(value) || Object.keys(value).length === 0) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, `${path}/${escapeName(name)}`));
}

/** Like `leavesOf`, for a template. A hook that is a string is short for an object with the member `run`. */
export const settingsOf = (template: unknown): [path: string, value: unknown][] =>
  leavesOf(template).map(([path, value]) => [
    typeof value === "string" && /^\/hooks\/[^/]+$/.test(path) ? `${path}/run` : path,
    value,
  ]);

const escapeName = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
