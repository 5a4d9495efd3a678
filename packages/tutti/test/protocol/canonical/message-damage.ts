// Damages a valid message: replaces a member by junk or removes it.
import fc from "fast-check";

type Message = Record<string, unknown>;
/** The position of the member and its new value; undefined removes the member. */
type Harm = [number, unknown];

const JUNK = [null, 0, 1, -1, 101, 0.5, "", "x", "failed", "2024-13-01T00:00:00Z", true, [], {}, [1], ["a"], [{}]];
const junk = fc.constantFrom<unknown[]>(...JUNK, [null], Number.POSITIVE_INFINITY, undefined);

export const damages: fc.Arbitrary<Harm[]> = fc.array(fc.tuple(fc.nat(), junk), { maxLength: 2 });

/** Returns a copy with one damaged member, at the top level or one level below. */
export function damage(message: Message, [at, value]: Harm): Message {
  const names = Object.keys(message);
  const name = names[at % names.length];
  if (name === undefined) return message;
  const member = message[name];
  if (at % 2 === 0 && isObject(member)) return { ...message, [name]: damage(member, [at >> 1, value]) };
  if (at % 3 === 0 && Array.isArray(member)) return { ...message, [name]: damageEntry(member, [at >> 1, value]) };
  if (value !== undefined) return { ...message, [name]: value };
  const { [name]: _gone, ...rest } = message;
  return rest;
}

function damageEntry(entries: unknown[], [at, value]: Harm): unknown[] {
  const index = at % Math.max(1, entries.length);
  const entry = entries[index];
  if (isObject(entry)) return entries.with(index, damage(entry, [at >> 1, value]));
  return entries.length === 0 || value === undefined ? entries : entries.with(index, value);
}

function isObject(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
