// How one kind of message of one protocol corresponds to the canonical model: a table of members, read in both
// directions by the two functions below, so that what is read can never drift from what is written.
import { isRecord } from "../json-value.ts";
import type { CanonicalKind, CanonicalMessage } from "./canonical-message.ts";
import { putAt, segmentsOf, unknownAt, valueAt } from "./member-path.ts";
import type { Bag } from "./member-path.ts";
import type { Protocol } from "./protocol-name.ts";

/** One member of a message and the canonical member that means the same. */
export interface Member {
  /** The path in the message, with dots. */
  wire: string;
  /** The path in the canonical message, with dots. */
  name: string;
  /** From the message's value; undefined leaves the canonical member out. `soFar` is what was read before it. */
  read?: (value: unknown, soFar: Bag) => unknown;
  /** From the canonical value; undefined leaves the message's member out. */
  write?: (value: unknown, canonical: CanonicalMessage) => unknown;
  /** What to write where the canonical message says nothing, but the message must say something. */
  fill?: (canonical: CanonicalMessage, at: string | undefined) => unknown;
}

export interface Mapping {
  kind: CanonicalKind;
  /** Whether a message of the protocol is of this kind. */
  matches: (message: Bag) => boolean;
  /** What makes it this kind on the wire, by path. */
  fixed: Record<string, unknown>;
  /** Objects that must be there even if they hold nothing. */
  objects?: readonly string[];
  /** What the kind says without words, by canonical member. */
  implied?: Bag;
  members: readonly Member[];
  /** Why a canonical message of this kind cannot be written, if so. */
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

/** The message, not yet checked. Members of the protocol's own that the model does not know go back where they were. */
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

/** An object that is written anyway says nothing by being there. */
function isEmptyObject({ objects = [] }: Mapping, path: readonly string[], value: unknown): boolean {
  return objects.includes(path.join(".")) && isRecord(value) && Object.keys(value).length === 0;
}
