// Puts asterisks where secrets stand. The length in bytes never changes, so that offsets into a file stay right, and what
// was valid JSON stays valid: escapes are kept or replaced as a whole, and line ends stay.
import { CONTEXT_BYTES, type Secrets } from "./find-secrets.ts";

const ASTERISK = 0x2a;
const BACKSLASH = 0x5c;
const NINE = 0x39;
const NUMBER = /^[0-9.eE+-]+$/;
/** Members of members: what lies deeper is nothing that a person reads. */
const MAX_DEPTH = 64;

/** Masks a region in place. */
export function maskRegion(bytes: Buffer, from: number, to: number): void {
  const start = afterEscape(bytes, from);
  const end = beforeEscape(bytes, start, to);
  // A number that is a secret may stand in JSON without quotes, and must stay one there.
  const isNumber = end > start && NUMBER.test(bytes.toString("latin1", start, Math.min(end, start + 64)));
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (isNumber) bytes[at] = byte >= 0x30 && byte <= NINE ? NINE : byte;
    else if (byte >= 0x20) bytes[at] = ASTERISK;
  }
}

/** Where an escape that began before this place ends, else the place itself. */
function afterEscape(bytes: Buffer, at: number): number {
  if (isEscape(bytes, at - 1)) return at + (bytes[at] === 0x75 ? 5 : 1);
  for (let back = 1; back <= 4; back++)
    if (bytes[at - back] === 0x75 && isEscape(bytes, at - back - 1)) return at - back + 5;
  return at;
}

/** Whether a backslash stands here that escapes what follows: one that is not escaped itself. */
function isEscape(bytes: Buffer, at: number): boolean {
  let first = at;
  while (bytes[first] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Where an escape that goes on after this place begins, else the place itself. */
function beforeEscape(bytes: Buffer, start: number, end: number): number {
  const tail = bytes.toString("latin1", Math.max(start, end - 8), end);
  return end - (/\\+(u[0-9a-fA-F]{0,3})?$/.exec(tail)?.[0].length ?? 0);
}

/** For bytes that come piece by piece. What may be the beginning of a secret is held back until that is known. */
export class MaskStream {
  readonly #secrets: Secrets;
  /** The last bytes that were let through, as they were. */
  #context: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);
  /** Used again for every piece. */
  #all: Buffer = Buffer.alloc(0);

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** How many bytes are held back. */
  get held(): number {
    return this.#held.length;
  }

  /** What it returns is good until the next call. */
  push(bytes: Uint8Array): Buffer {
    return this.#pass(bytes, false);
  }

  /** Nothing more will come for what is held back. */
  end(): Buffer {
    return this.#pass(new Uint8Array(), true);
  }

  #join(bytes: Uint8Array): Buffer {
    const before = this.#context.length + this.#held.length;
    if (this.#all.length < before + bytes.length) this.#all = Buffer.allocUnsafe(2 * (before + bytes.length));
    this.#context.copy(this.#all, 0);
    this.#held.copy(this.#all, this.#context.length);
    this.#all.set(bytes, before);
    return this.#all.subarray(0, before + bytes.length);
  }

  #pass(bytes: Uint8Array, isAll: boolean): Buffer {
    const all = this.#join(bytes);
    const from = this.#context.length;
    const { regions, settled } = this.#secrets.find(all, from, isAll);
    this.#context = Buffer.from(all.subarray(Math.max(0, settled - CONTEXT_BYTES), settled));
    this.#held = Buffer.from(all.subarray(settled));
    for (let i = 0; i < regions.length; i += 2) maskRegion(all, regions[i]!, regions[i + 1]!);
    return all.subarray(from, settled);
  }
}

/** Nothing that is found is shorter: `://:a@`. */
const SHORTEST = 6;

export function maskText(secrets: Secrets, text: string): string {
  if (text.length < SHORTEST) return text;
  const masked = maskOnce(secrets, text);
  if (!masked.includes("\\u00")) return masked;
  // JSON within a text may hide what would be found in it once it is decoded.
  const decoded = masked.replaceAll(ESCAPED_ASCII, (_, before: string, code: string) => before + shortened(code));
  const again = maskOnce(secrets, decoded);
  return again === decoded ? masked : again;
}

/** ASCII, as anybody may escape it in JSON. A backslash that is escaped itself escapes nothing. */
const ESCAPED_ASCII = /(?<!\\)((?:\\\\)*)\\u00(0[9ad]|[2-6][0-9a-f]|7[0-9a-e])/gi;
const SHORT: Record<string, string> = { "09": "\\t", "0a": "\\n", "0d": "\\r", "22": '\\"', "5c": "\\\\" };
/** What needs an escape in JSON gets the short one. */
const shortened = (code: string): string => SHORT[code.toLowerCase()] ?? String.fromCharCode(Number.parseInt(code, 16));

function maskOnce(secrets: Secrets, text: string): string {
  const bytes = bytesOf(text);
  const { regions } = secrets.find(bytes, 0, true);
  if (regions.length === 0) return text;
  for (let i = 0; i < regions.length; i += 2) maskRegion(bytes, regions[i]!, regions[i + 1]!);
  return bytes.toString("utf8");
}

/** Used again and again, because most texts are short and have no secret. */
const scratch = Buffer.allocUnsafe(1024 * 1024);

function bytesOf(text: string): Buffer {
  // A unit of a text takes at most three bytes.
  if (text.length * 3 > scratch.length) return Buffer.from(text);
  return scratch.subarray(0, scratch.write(text));
}

/** Every text in a value that came out of JSON, names of members included. */
export function maskValue<T>(secrets: Secrets, value: T, depth = 0): T {
  if (typeof value === "string") return maskText(secrets, value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null as T;
  if (Array.isArray(value)) return value.map((each) => maskValue(secrets, each as unknown, depth + 1)) as T;
  const members = Object.entries(value).map(([name, each]) => [
    maskText(secrets, name),
    maskValue(secrets, each as unknown, depth + 1),
  ]);
  return Object.fromEntries(members) as T;
}
