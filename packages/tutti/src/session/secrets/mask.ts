// `maskRegion` replaces secrets with asterisks. The number of bytes never changes, so offsets into a file stay valid.
// Valid JSON stays valid: escapes are kept or replaced as a whole, and line breaks stay.
import { CONTEXT_BYTES, type Secrets } from "./find-secrets.ts";

const ASTERISK = 0x2a;
const BACKSLASH = 0x5c;
const NINE = 0x39;
const NUMBER = /^[0-9.eE+-]+$/;
/** `maskValue` replaces values that are nested deeper with null. */
const MAX_DEPTH = 64;

export function maskRegion(bytes: Buffer, from: number, to: number): void {
  const start = afterEscape(bytes, from);
  const end = beforeEscape(bytes, start, to);
  // A secret number may be unquoted in JSON, so it must stay a number: `isNumber`.
  const isNumber = end > start && NUMBER.test(bytes.toString("latin1", start, Math.min(end, start + 64)));
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (isNumber) bytes[at] = byte >= 0x30 && byte <= NINE ? NINE : byte;
    else if (byte >= 0x20) bytes[at] = ASTERISK;
  }
}

/** `afterEscape` is the end of an escape that starts before `at`, else `at`. */
function afterEscape(bytes: Buffer, at: number): number {
  if (isEscape(bytes, at - 1)) return at + (bytes[at] === 0x75 ? 5 : 1);
  for (let back = 1; back <= 4; back++)
    if (bytes[at - back] === 0x75 && isEscape(bytes, at - back - 1)) return at - back + 5;
  return at;
}

/** Whether `at` holds a backslash that is not escaped itself. */
function isEscape(bytes: Buffer, at: number): boolean {
  let first = at;
  while (bytes[first] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** `beforeEscape` is the start of an escape that continues after `end`, else `end`. */
function beforeEscape(bytes: Buffer, start: number, end: number): number {
  const tail = bytes.toString("latin1", Math.max(start, end - 8), end);
  return end - (/\\+(u[0-9a-fA-F]{0,3})?$/.exec(tail)?.[0].length ?? 0);
}

/** `MaskStream` holds back bytes that may be the start of a secret until that is decided. */
export class MaskStream {
  readonly #secrets: Secrets;
  /** The last bytes that were returned, unmasked. */
  #context: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);
  #all: Buffer = Buffer.alloc(0);

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  get held(): number {
    return this.#held.length;
  }

  /** The result is valid until the next call. */
  push(bytes: Uint8Array): Buffer {
    return this.#pass(bytes, false);
  }

  /** Returns the bytes held back. */
  end(): Buffer {
    return this.#pass(new Uint8Array(), true);
  }

  #join(bytes: Uint8Array): Buffer {
    const keptLength = this.#context.length + this.#held.length;
    if (this.#all.length < keptLength + bytes.length) this.#all = Buffer.allocUnsafe(2 * (keptLength + bytes.length));
    this.#context.copy(this.#all, 0);
    this.#held.copy(this.#all, this.#context.length);
    this.#all.set(bytes, keptLength);
    return this.#all.subarray(0, keptLength + bytes.length);
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

/** `SHORTEST` is the length of the shortest text in which `find` can find a secret: `://:a@`. */
const SHORTEST = 6;

export function maskText(secrets: Secrets, text: string): string {
  if (text.length < SHORTEST) return text;
  const masked = maskOnce(secrets, text);
  if (!hasEscapes(masked)) return masked;
  const decoded = decodeEscapes(masked);
  const again = maskOnce(secrets, decoded);
  return again === decoded ? masked : again;
}

/** Escapes of JSON within a text may hide a secret, so with `hasEscapes` it is searched once more with them decoded. */
export const hasEscapes = (text: string): boolean => text.includes("\\u00");

export const decodeEscapes = (text: string): string =>
  text.replaceAll(ESCAPED_ASCII, (_, slashes: string, code: string) => slashes + shortened(code));

/** `ESCAPED_ASCII` is an escaped ASCII character in JSON, after any number of escaped backslashes. */
const ESCAPED_ASCII = /(?<!\\)((?:\\\\)*)\\u00(0[9ad]|[2-6][0-9a-f]|7[0-9a-e])/gi;
const SHORT: Record<string, string> = { "09": "\\t", "0a": "\\n", "0d": "\\r", "22": '\\"', "5c": "\\\\" };
/** Characters that need an escape in JSON get the short one. */
const shortened = (code: string): string => SHORT[code.toLowerCase()] ?? String.fromCharCode(Number.parseInt(code, 16));

function maskOnce(secrets: Secrets, text: string): string {
  const bytes = bytesOf(text);
  const { regions } = secrets.find(bytes, 0, true);
  if (regions.length === 0) return text;
  for (let i = 0; i < regions.length; i += 2) maskRegion(bytes, regions[i]!, regions[i + 1]!);
  return bytes.toString("utf8");
}

/** `scratch` is reused, because most texts are short and contain no secret. */
const scratch = Buffer.allocUnsafe(1024 * 1024);

function bytesOf(text: string): Buffer {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 > scratch.length) return Buffer.from(text);
  return scratch.subarray(0, scratch.write(text));
}

/** `maskValue` masks every string in a JSON value, including member names. */
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
