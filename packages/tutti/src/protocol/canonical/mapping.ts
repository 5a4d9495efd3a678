// Maps one kind of message of one protocol to the canonical model by a table of members. `readMapped` and `writeMapped`
// use the same table, so reading and writing cannot drift apart.
import { isRecord } from "../json/json-value.ts";
import type { CanonicalKind, CanonicalMessage } from "./canonical-message.ts";
import { valueAt } from "../../explain-issue.ts";
import { putAt, segmentsOf, unknownAt, type Bag } from "./member-path.ts";
import type { Protocol } from "./protocol-name.ts";

export interface MappedMember {
  /** Dotted path in the message. */
  wire: string;
  /** Dotted path in the `CanonicalMessage`. */
  name: string;
  /**
   * Converts the value from the message; `undefined` omits the canonical member. `soFar` holds the members read before.
   */
  read?: (value: unknown, soFar: Bag) => unknown;
  /** Converts the canonical value; `undefined` omits the member from the message. */
  write?: (value: unknown, canonical: CanonicalMessage) => unknown;
  /** `fill` is for a required member that the canonical message does not have. */
  fill?: (canonical: CanonicalMessage, at: string | undefined) => unknown;
}

export interface Mapping {
  kind: CanonicalKind;
  matches: (message: Bag) => boolean;
  /** Values by path that identify this kind on the wire. */
  fixed: Record<string, unknown>;
  /** `objects` are required even if they are empty. */
  objects?: readonly string[];
  /** `implied` has the values that the kind itself implies, by canonical member. */
  implied?: Bag;
  members: readonly MappedMember[];
  /** The reason why a `CanonicalMessage` of this kind cannot be written, if there is one. */
  refuses?: (canonical: CanonicalMessage) => string | undefined;
}

export function readMapped(protocol: Protocol, mapping: Mapping, message: Bag): CanonicalMessage {
  const canonical: Bag = { protocol, kind: mapping.kind, ...structuredClone(mapping.implied) };
  for (const { wire, name, read } of mapping.members) {
    const value = valueAt(message, segmentsOf(wire));
    const meaning = value === undefined || !read ? value : read(value, canonical);
    if (meaning !== undefined) putAt(canonical, segmentsOf(name), meaning);
  }
  const known = [...mapping.members.map(({ wire }) => wire), ...Object.keys(mapping.fixed)].map(segmentsOf);
  const extra = unknownAt(message, known).filter(({ path, value }) => !isEmptyObject(mapping, path, value));
  return { ...canonical, extra, raw: message } as unknown as CanonicalMessage;
}

/** Returns the message, not validated yet. `writeMapped` puts `extra` back in place if the protocol is the same. */
export function writeMapped(protocol: Protocol, mapping: Mapping, canonical: CanonicalMessage, at?: string): Bag {
  const message: Bag = {};
  for (const [wire, value] of Object.entries(mapping.fixed)) putAt(message, segmentsOf(wire), structuredClone(value));
  for (const object of mapping.objects ?? []) putAt(message, segmentsOf(object), {});
  for (const { wire, name, write, fill } of mapping.members) {
    const meaning = valueAt(canonical, segmentsOf(name));
    const value = meaning === undefined || !write ? meaning : write(meaning, canonical);
    const written = value === undefined ? fill?.(canonical, at) : value;
    if (written !== undefined) putAt(message, segmentsOf(wire), written);
  }
  if (canonical.protocol === protocol) {
    for (const { path, value } of canonical.extra) putAt(message, path, value);
  }
  return structuredClone(message);
}

/** An empty object that is always written carries no information, so `readMapped` drops it. */
function isEmptyObject({ objects = [] }: Mapping, path: readonly string[], value: unknown): boolean {
  return objects.includes(path.join(".")) && isRecord(value) && Object.keys(value).length === 0;
}
