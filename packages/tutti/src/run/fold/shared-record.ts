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
  /** May have keys that `members` does not have; see `Numbers`. */
  readonly numbers: Numbers;
  /** The insertion number of the next new key. */
  readonly next: number;
}

/**
 * Insertion numbers by key, for a table and its predecessors. A number never changes, so all of them share one `Map`. A key
 * that was removed and added again has several numbers, in ascending order. `members` has no entry for a number that was
 * given after the table, or whose key was removed.
 */
interface Numbers {
  readonly byKey: Map<string, number | number[]>;
  /** The largest `next` of a table. Only that one may add a new key; another one must copy `byKey` first. */
  next: number;
  /** How many numbers `byKey` has. */
  given: number;
}

/** A key with more numbers, all of which a search may try, is copied. */
const MOST_NUMBERS = 32;

const TABLE = Symbol("table");

const emptyTable = <T>(): Table<T> => ({
  members: NumberMap.empty(),
  numbers: { byKey: new Map(), next: 0, given: 0 },
  next: 0,
});

export const emptyRecord = <T>(): SharedRecord<T> => recordOf(emptyTable());

/** Keeps the order of `entries`, even for keys such as "1" that a plain object would sort as numbers. */
export function recordFrom<T>(entries: Iterable<readonly [key: string, value: T]>): SharedRecord<T> {
  let table: Table<T> = emptyTable();
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
  let table: Table<T> = emptyTable();
  for (const [key, value] of Object.entries(plain)) table = put(table, key, value);
  return table;
}

function memberOf<T>({ members, numbers }: Table<T>, key: string): Member<T> | undefined {
  const own = numbers.byKey.get(key);
  if (typeof own !== "object") return own === undefined ? undefined : members.get(own);
  for (let at = own.length - 1; at >= 0; at--) {
    const member = members.get(own[at]!);
    if (member) return member;
  }
  return undefined;
}

function put<T>(table: Table<T>, key: string, value: T): Table<T> {
  const known = memberOf(table, key);
  const { members, numbers, next } = table;
  if (known) return { members: members.with(known.number, { key, number: known.number, value }), numbers, next };
  const shared = mayAdd(table, key) ? numbers : copyOf(members);
  give(shared, key, next);
  return { members: members.with(next, { key, number: next, value }), numbers: shared, next: next + 1 };
}

/** Whether `numbers` may give the next number of this table to a key that the table does not have. */
function mayAdd<T>({ members, numbers, next }: Table<T>, key: string): boolean {
  // The numbers of removed keys stay until the next copy.
  if (numbers.given > 2 * members.size + 64) return false;
  const own = numbers.byKey.get(key);
  if (numbers.next === next) return typeof own !== "object" || own.length < MOST_NUMBERS;
  // A decision applies its events to a state to which the writer applies them again.
  return own === next || (typeof own === "object" && own.includes(next));
}

function give(numbers: Numbers, key: string, number: number): void {
  if (number < numbers.next) return;
  const own = numbers.byKey.get(key);
  if (typeof own === "object") own.push(number);
  else numbers.byKey.set(key, own === undefined ? number : [own, number]);
  numbers.next = number + 1;
  numbers.given += 1;
}

function copyOf(members: NumberMap<Member<unknown>>): Numbers {
  const byKey = new Map(members.values().map(({ key, number }) => [key, number]));
  return { byKey, next: 0, given: byKey.size };
}

function remove<T>(table: Table<T>, key: string): Table<T> {
  const known = memberOf(table, key);
  return known ? { ...table, members: table.members.without(known.number) } : table;
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
