// The shapes of well-known kinds of secrets. The search finds the anchor of a `Shape`, a fixed prefix, and `look`
// decides from there. Every `look` is linear: it examines a run of characters only from the run's start.

/** No secret at this position. */
export const NOTHING = -1;
/** The decision needs further bytes. */
export const UNDECIDED = -2;
/** In bytes. Of anything longer, at most this much is examined. */
export const MAX_SECRET = 16 * 1024;

export interface SecretShape {
  anchor: string;
  /** `start` is the position of the anchor. Returns the end of the secret and sets `found.from` to its start. */
  look(bytes: Uint8Array, start: number, isAll: boolean, found: { from: number }): number;
}

const set = (pattern: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));

const DIGIT = set(/[0-9]/);
const HEX = set(/[0-9a-fA-F]/);
const WORD = set(/[A-Za-z0-9_-]/);
const NAME = set(/[a-z0-9-]/);
const ALNUM = set(/[A-Za-z0-9]/);
const UPPER = set(/[A-Z0-9]/);
const SNAKE = set(/[A-Za-z0-9_]/);
const DOTTED = set(/[A-Za-z0-9_.-]/);
const SLASHED = set(/[A-Za-z0-9/]/);
const CREDENTIAL = set(/[A-Za-z0-9._~+/=-]/);
const CAPTION = set(/[A-Z0-9 ]/);
const KEY_TEXT = set(/[A-Za-z0-9+/=:,.%\s-]/);
const BASE64 = set(/[A-Za-z0-9+/=]/);
const USER = set(/[A-Za-z0-9._~%!$&()*+,;=-]/);
const PASSWORD = set(/[^\s\p{Cc}@/"'<>\\`?#]/u);

const BACKSLASH = 0x5c;
/** The characters that may follow backslashes within a key: n, r, t and a slash. */
const QUOTED = new Set([0x6e, 0x72, 0x74, 0x2f]);
const MAX_ESCAPE = 9;
/** One more than the longest name of a token. */
const MAX_NAME = 41;

/** The end of the run of `of` characters at `start`, at most `limit` further. */
function runEnd(bytes: Uint8Array, start: number, of: Uint8Array, limit = MAX_SECRET): number {
  const until = Math.min(bytes.length, start + limit);
  let at = start;
  while (at < until && of[bytes[at]!] === 1) at++;
  return at;
}

const isOpen = (bytes: Uint8Array, start: number, end: number, isAll: boolean, limit = MAX_SECRET): boolean =>
  !isAll && end === bytes.length && end - start < limit;

/**
 * Whether a run of `of` characters starts here. A preceding letter may be the end of an escape: `\n`, `%20`, `\u003d`.
 */
function begins(bytes: Uint8Array, at: number, of: Uint8Array): boolean {
  if (at === 0 || (ALNUM[bytes[at - 1]!] === 0 && of[bytes[at - 1]!] === 0)) return true;
  if (bytes[at - 2] === BACKSLASH) return true;
  if (bytes[at - 3] === 0x25) return HEX[bytes[at - 1]!] === 1 && HEX[bytes[at - 2]!] === 1;
  return bytes[at - 6] === BACKSLASH && bytes[at - 5] === 0x75;
}

function has(bytes: Uint8Array, from: number, to: number, of: Uint8Array): boolean {
  for (let at = from; at < to; at++) if (of[bytes[at]!] === 1) return true;
  return false;
}

/** The anchor, followed by at least `least` characters of one set. */
function token(
  anchor: string,
  of: Uint8Array,
  least: number,
  options: { digit?: boolean; most?: number } = {},
): SecretShape {
  // An anchor inside a run of the same characters does not count.
  const boundary = Buffer.from(anchor).every((byte) => of[byte] === 1) ? of : ALNUM;
  return {
    anchor,
    look(bytes, start, isAll, found) {
      const from = start + anchor.length;
      if (!begins(bytes, start, boundary)) return NOTHING;
      const end = runEnd(bytes, from, of);
      if (isOpen(bytes, from, end, isAll)) return UNDECIDED;
      if (end - from < least || end - from > (options.most ?? Number.POSITIVE_INFINITY)) return NOTHING;
      if (options.digit && !has(bytes, from, end, DIGIT)) return NOTHING;
      found.from = start;
      return end;
    },
  };
}

/** A named token of the Tutti server: `tutti_NAME_` and at least 43 characters, so that other names do not match. */
const namedToken: SecretShape = {
  anchor: "tutti_",
  look(bytes, start, isAll, found) {
    if (!begins(bytes, start, WORD)) return NOTHING;
    const name = start + this.anchor.length;
    const nameEnd = runEnd(bytes, name, NAME, MAX_NAME);
    if (isOpen(bytes, name, nameEnd, isAll, MAX_NAME)) return UNDECIDED;
    if (nameEnd === name || bytes[nameEnd] !== 0x5f) return NOTHING;
    const end = runEnd(bytes, nameEnd + 1, WORD);
    if (isOpen(bytes, nameEnd + 1, end, isAll)) return UNDECIDED;
    found.from = start;
    return end - nameEnd > 43 ? end : NOTHING;
  },
};

/** Three parts separated by dots. The anchor is the start of a JSON object in base64. */
const jsonWebToken: SecretShape = {
  anchor: "eyJ",
  look(bytes, start, isAll, found) {
    if (!begins(bytes, start, WORD)) return NOTHING;
    let at = start;
    for (const part of [0, 1, 2]) {
      const end = runEnd(bytes, at, WORD);
      if (isOpen(bytes, at, end, isAll)) return UNDECIDED;
      if (part < 2 && (end - at < 10 || bytes[end] !== 0x2e)) return NOTHING;
      at = part < 2 ? end + 1 : end;
    }
    found.from = start;
    return at;
  },
};

const END_OF_KEY = Buffer.from("-----");

/**
 * The text between the BEGIN and END lines. A key without an END line ends at the first character that no key contains.
 */
const privateKey: SecretShape = {
  anchor: "-----BEGIN ",
  look(bytes, start, isAll, found) {
    const caption = start + this.anchor.length;
    const captionEnd = runEnd(bytes, caption, CAPTION, 64);
    if (!isAll && captionEnd + 5 > bytes.length) return UNDECIDED;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const name = text.toString("latin1", caption, captionEnd);
    if (!/PRIVATE KEY( BLOCK)?$/.test(name) || !isKeyEnd(text, captionEnd)) return NOTHING;
    found.from = captionEnd + 5;
    let at = found.from;
    const until = Math.min(bytes.length, start + MAX_SECRET);
    while (at < until && !isKeyEnd(text, at)) {
      const next = bytes[at] === BACKSLASH ? escapeEnd(bytes, at) : at + KEY_TEXT[bytes[at]!]!;
      if (next === at) break;
      at = next;
    }
    // The bytes may end within the five dashes or within an escape.
    if (!isAll && at + MAX_ESCAPE >= bytes.length && bytes.length - start < MAX_SECRET) return UNDECIDED;
    return hasRun(bytes, found.from, Math.min(at, bytes.length), BASE64, 20) ? Math.min(at, bytes.length) : NOTHING;
  },
};

const isKeyEnd = (text: Buffer, at: number): boolean =>
  text.compare(END_OF_KEY, 0, 5, at, Math.min(at + 5, text.length)) === 0;

/** Skips an escaped line break in JSON, also nested. Other escapes do not occur in keys. */
function escapeEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === BACKSLASH && at - start < MAX_ESCAPE - 1) at++;
  return QUOTED.has(bytes[at] ?? 0) ? at + 1 : start;
}

function hasRun(bytes: Uint8Array, from: number, to: number, of: Uint8Array, least: number): boolean {
  let length = 0;
  for (let at = from; at < to; at++) {
    length = of[bytes[at]!] === 1 ? length + 1 : 0;
    if (length >= least) return true;
  }
  return false;
}

/** The number of bytes before a credential in which `credential` searches for the name of its header. */
export const LOOK_BACK = 40;

/**
 * A header value: `Authorization: Bearer …`. Without the header's name the value must be longer and contain a digit.
 */
function credential(anchor: string): SecretShape {
  return {
    anchor,
    look(bytes, start, isAll, found) {
      const from = start + anchor.length;
      if (!begins(bytes, start, ALNUM)) return NOTHING;
      const end = runEnd(bytes, from, CREDENTIAL);
      if (isOpen(bytes, from, end, isAll)) return UNDECIDED;
      const preceding = Buffer.from(bytes.subarray(Math.max(0, start - LOOK_BACK), start)).toString("latin1");
      const isHeader = /authorization\W*$/i.test(preceding);
      if (end - from < (isHeader ? 8 : 16) || (!isHeader && !has(bytes, from, end, DIGIT))) return NOTHING;
      found.from = from;
      return end;
    },
  };
}

const MAX_USER = 128;
const MAX_PASSWORD = 256;

/** The password in `https://user:password@host`. */
function addressed(anchor: string): SecretShape {
  return {
    anchor,
    look(bytes, start, isAll, found) {
      const user = start + anchor.length;
      const userEnd = runEnd(bytes, user, USER, MAX_USER);
      if (isOpen(bytes, user, userEnd, isAll, MAX_USER)) return UNDECIDED;
      if (bytes[userEnd] !== 0x3a) return NOTHING;
      const from = userEnd + 1;
      const end = runEnd(bytes, from, PASSWORD, MAX_PASSWORD);
      if (isOpen(bytes, from, end, isAll, MAX_PASSWORD)) return UNDECIDED;
      // `${TOKEN}` and `{TOKEN}` are placeholders.
      if (bytes[end] !== 0x40 || end === from || bytes[from] === 0x24 || bytes[from] === 0x7b) return NOTHING;
      found.from = from;
      return end;
    },
  };
}

export const SHAPES: readonly SecretShape[] = [
  token("sk-ant-", WORD, 16),
  token("sk-", WORD, 20, { digit: true }),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((anchor) => token(anchor, ALNUM, 30)),
  token("github_pat_", SNAKE, 22),
  ...["glpat-", "gldt-", "glrt-"].map((anchor) => token(anchor, WORD, 16)),
  ...["xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"].map((anchor) => token(anchor, WORD, 10)),
  ...["AKIA", "ASIA"].map((anchor) => token(anchor, UPPER, 16, { most: 16 })),
  token("AIza", WORD, 30),
  token("ya29.", DOTTED, 20),
  token("GOCSPX-", WORD, 20),
  token("npm_", ALNUM, 30),
  token("pypi-", WORD, 40),
  token("hf_", ALNUM, 30),
  token("gsk_", ALNUM, 30),
  token("xai-", ALNUM, 40),
  token("r8_", ALNUM, 30),
  ...["sk_live_", "sk_test_", "rk_live_", "rk_test_"].map((anchor) => token(anchor, ALNUM, 16)),
  token("whsec_", ALNUM, 20),
  token("shpat_", HEX, 30),
  token("dop_v1_", HEX, 40),
  token("lin_api_", ALNUM, 30),
  token("SG.", DOTTED, 50),
  token("AGE-SECRET-KEY-1", UPPER, 40),
  token("hooks.slack.com/services/", SLASHED, 20),
  namedToken,
  jsonWebToken,
  privateKey,
  ...["Bearer ", "bearer ", "BEARER ", "Basic ", "basic "].map(credential),
  ...["://", ":\\/\\/"].map(addressed),
];
