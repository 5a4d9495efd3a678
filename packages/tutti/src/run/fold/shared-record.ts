// `SharedRecord` is an immutable record for parts of a run that may have 100,000 members, such as its workers. It reads like
// a plain object (`run.workers[id]`, `Object.values(run.workers)`, JSON), in insertion order. `withEntry` returns a new
// record that shares almost everything with the old one. The functions here are faster than access through the proxy, and
// they also accept plain objects.
import { NumberMap } from "./number-map.ts";

export type SharedRecord<T> = Record<string, T>;

/** `number` is the insertion number. A changed member keeps it. */
interface Member<T> {
  readonly key: string;
  readonly number: number;
  readonly value: T;
}

interface Table<T> {
  /** By insertion number. */
  readonly members: NumberMap<Member<T>>;
  /** By `hashOf` the key. */
  readonly numbers: NumberMap<readonly { key: string; number: number }[]>;
  readonly next: number;
}

const TABLE = Symbol("table");

export const emptyRecord = <T>(): SharedRecord<T> =>
  recordOf({ members: NumberMap.empty(), numbers: NumberMap.empty(), next: 0 });

/** Keeps the order of `entries`, even for keys such as "1" that a plain object would sort as numbers. */
export function recordFrom<T>(entries: Iterable<readonly [key: string, value: T]>): SharedRecord<T> {
  let table: Table<T> = { members: NumberMap.empty(), numbers: NumberMap.empty(), next: 0 };
  for (const [key, value] of entries) table = put(table, key, value);
  return recordOf(table);
}

export function entryOf<T>(record: SharedRecord<T>, key: string): T | undefined {
  const table = tableOf(record);
  if (table) return memberOf(table, key)?.value;
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function valuesOf<T>(record: SharedRecord<T>): T[] {
  const table = tableOf(record);
  return table ? table.members.values().map(({ value }) => value) : Object.values(record);
}

export function entriesOf<T>(record: SharedRecord<T>): [string, T][] {
  const table = tableOf(record);
  return table ? table.members.values().map(({ key, value }) => [key, value]) : Object.entries(record);
}

export const sizeOf = (record: SharedRecord<unknown>): number =>
  tableOf(record)?.members.size ?? Object.keys(record).length;

/** Returns the insertion number, or -1 for an unknown key. */
export function placeOf(record: SharedRecord<unknown>, key: string): number {
  const table = tableOf(record);
  return table ? (memberOf(table, key)?.number ?? -1) : Object.keys(record).indexOf(key);
}

export function withEntry<T>(record: SharedRecord<T>, key: string, value: T): SharedRecord<T> {
  const table = tableOf(record) ?? tableFrom(record);
  return recordOf(put(table, key, value));
}

export function withoutEntries<T>(record: SharedRecord<T>, keys: Iterable<string>): SharedRecord<T> {
  const table = tableOf(record) ?? tableFrom(record);
  let left = table;
  for (const key of keys) left = remove(left, key);
  return left === table ? record : recordOf(left);
}

/** The cost is proportional to the number of changed keys: `NumberMap.compare` skips what both tables share. */
export function changedKeys(before: SharedRecord<unknown>, after: SharedRecord<unknown>): ReadonlySet<string> {
  if (before === after) return NO_KEYS;
  const keys = new Set<string>();
  const [old, young] = [tableOf(before) ?? tableFrom(before), tableOf(after) ?? tableFrom(after)];
  NumberMap.compare(old.members, young.members, (was, is) => {
    if (was) keys.add(was.key);
    if (is) keys.add(is.key);
  });
  return keys;
}

const NO_KEYS: ReadonlySet<string> = new Set();

const tableOf = <T>(record: SharedRecord<T>): Table<T> | undefined =>
  (record as unknown as { [TABLE]?: Table<T> })[TABLE];

function tableFrom<T>(plain: SharedRecord<T>): Table<T> {
  let table: Table<T> = { members: NumberMap.empty(), numbers: NumberMap.empty(), next: 0 };
  for (const [key, value] of Object.entries(plain)) table = put(table, key, value);
  return table;
}

/** FNV-1a in 20 bits, which is four levels of a `NumberMap`. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return ((hash >>> 20) ^ hash) & 0xfffff;
}

function memberOf<T>({ members, numbers }: Table<T>, key: string): Member<T> | undefined {
  const found = numbers.get(hashOf(key));
  if (found === undefined) return undefined;
  for (let i = 0; i < found.length; i++) if (found[i]!.key === key) return members.get(found[i]!.number);
  return undefined;
}

function put<T>(table: Table<T>, key: string, value: T): Table<T> {
  const known = memberOf(table, key);
  const number = known?.number ?? table.next;
  const members = table.members.with(number, { key, number, value });
  if (known) return { ...table, members };
  const hash = hashOf(key);
  const numbers = table.numbers.with(hash, [...(table.numbers.get(hash) ?? []), { key, number }]);
  return { members, numbers, next: table.next + 1 };
}

function remove<T>(table: Table<T>, key: string): Table<T> {
  const known = memberOf(table, key);
  if (!known) return table;
  const hash = hashOf(key);
  const others = table.numbers.get(hash)!.filter((each) => each.key !== key);
  const numbers = others.length === 0 ? table.numbers.without(hash) : table.numbers.with(hash, others);
  return { members: table.members.without(known.number), numbers, next: table.next };
}

/** `LOOKS` makes a table look like a plain object, including the members of `Object.prototype`. */
const LOOKS: ProxyHandler<Table<unknown>> = {
  get(table, key) {
    if (key === TABLE) return table;
    const member = typeof key === "string" ? memberOf(table, key) : undefined;
    return member ? member.value : Reflect.get(Object.prototype, key);
  },
  has: (table, key) => (typeof key === "string" && memberOf(table, key) !== undefined) || key in Object.prototype,
  ownKeys: (table) => table.members.values().map(({ key }) => key),
  getOwnPropertyDescriptor(table, key) {
    const member = typeof key === "string" ? memberOf(table, key) : undefined;
    return member && { value: member.value, enumerable: true, configurable: true, writable: false };
  },
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false,
};

const recordOf = <T>(table: Table<T>): SharedRecord<T> => new Proxy(table, LOOKS) as unknown as SharedRecord<T>;
