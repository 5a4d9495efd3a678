// `SHAPES` are well-known kinds of secrets. The search finds the anchor of a `SecretShape`, a fixed prefix, and `look`
// decides from there. Every `look` is linear: it examines a run of characters only from the run's start.

/** `NOTHING`: no secret at this position. */
export const NOTHING = -1;
/** `UNDECIDED`: the decision needs further bytes. */
export const UNDECIDED = -2;
/** In bytes. Of anything longer, at most `MAX_SECRET` is examined. */
const MAX_SECRET = 16 * 1024;

export interface SecretShape {
  anchor: string;
  /** `start` is the position of the anchor. Returns the end of the secret and sets `found.from` to its start. */
  look(bytes: Uint8Array, start: number, isAll: boolean, found: { from: number }): number;
}

const ALL_BYTES = Buffer.from(Uint8Array.from({ length: 256 }, (_, code) => code)).toString("latin1");

/** Searches all characters at once, because a test of each takes twice as long at the start of every keeper. */
function set(pattern: RegExp): Uint8Array {
  const members = new Uint8Array(256);
  const all = new RegExp(pattern, `${pattern.flags}g`);
  for (let found = all.exec(ALL_BYTES); found; found = all.exec(ALL_BYTES)) members[found.index] = 1;
  return members;
}

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
/** `QUOTED` characters may follow backslashes within a key: n, r, t and a slash. */
const QUOTED = new Set([0x6e, 0x72, 0x74, 0x2f]);
const MAX_ESCAPE = 9;
/** `MAX_NAME` is one more than the longest name of a token. */
const MAX_NAME = 41;
const MAX_USER = 128;
const MAX_PASSWORD = 256;

/** `runEnd` is the end of the run of `of` characters at `start`, at most `limit` further. */
function runEnd(bytes: Uint8Array, start: number, of: Uint8Array, limit = MAX_SECRET): number {
  const until = Math.min(bytes.length, start + limit);
  let at = start;
  while (at < until && of[bytes[at]!] === 1) at++;
  return at;
}

const isOpen = (bytes: Uint8Array, start: number, end: number, isAll: boolean, limit = MAX_SECRET): boolean =>
  !isAll && end === bytes.length && end - start < limit;

/**
 * `begins` is true at the start of a run of `of` characters. A preceding letter may be the end of an escape: `\n`,
 * `%20`, `\u003d`.
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

interface Run {
  of: Uint8Array;
  least?: number;
  most?: number;
  /** The number of bytes to examine. */
  limit?: number;
  /** The byte that must follow the run. */
  then?: string;
}

interface SequenceOptions {
  /** An anchor inside a run of these characters does not count. */
  boundary?: Uint8Array;
  /** The index of the run in which the secret starts; by default it starts with the anchor. */
  secretRun?: number;
  /** Further conditions on the last run. `start` is the position of the anchor. */
  accepts?: (bytes: Uint8Array, from: number, end: number, start: number) => boolean;
}

/** `sequence` is the anchor, followed by `runs` of characters. */
function sequence(anchor: string, runs: readonly Run[], options: SequenceOptions = {}): SecretShape {
  const { boundary, secretRun, accepts } = options;
  const look: SecretShape["look"] = (bytes, start, isAll, found) => {
    if (boundary && !begins(bytes, start, boundary)) return NOTHING;
    found.from = start;
    let from = start + anchor.length;
    let end = from;
    for (let i = 0; i < runs.length; i++) {
      const { of, least = 0, most = MAX_SECRET, limit = MAX_SECRET, then } = runs[i]!;
      if (i > 0) from = end + 1;
      end = runEnd(bytes, from, of, limit);
      if (isOpen(bytes, from, end, isAll, limit)) return UNDECIDED;
      if (end - from < least || end - from > most) return NOTHING;
      if (then !== undefined && bytes[end] !== then.charCodeAt(0)) return NOTHING;
      if (i === secretRun) found.from = from;
    }
    return !accepts || accepts(bytes, from, end, start) ? end : NOTHING;
  };
  return { anchor, look };
}

const hasDigit = (bytes: Uint8Array, from: number, end: number): boolean => has(bytes, from, end, DIGIT);

/** `token` is the anchor, followed by at least `least` characters of one set. */
function token(
  anchor: string,
  of: Uint8Array,
  least: number,
  { digit = false, most = MAX_SECRET }: { digit?: boolean; most?: number } = {},
): SecretShape {
  const boundary = Buffer.from(anchor).every((byte) => of[byte] === 1) ? of : ALNUM;
  return sequence(anchor, [{ of, least, most }], { boundary, ...(digit ? { accepts: hasDigit } : {}) });
}

/** A named token of the Tutti server: `tutti_NAME_` and at least 43 characters, so that other names do not match. */
const namedToken = sequence(
  "tutti_",
  [
    { of: NAME, least: 1, limit: MAX_NAME, then: "_" },
    { of: WORD, least: 43 },
  ],
  { boundary: WORD },
);

/** A `jsonWebToken` has three parts separated by dots. The anchor is the start of a JSON object in base64. */
const jsonWebToken = sequence(
  "eyJ",
  [{ of: WORD, least: 7, then: "." }, { of: WORD, least: 10, then: "." }, { of: WORD }],
  { boundary: WORD },
);

const END_OF_KEY = Buffer.from("-----");

/** The text between the BEGIN and END lines. Without an END line, up to the first character that no key contains. */
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

/** `escapeEnd` skips an escaped line break in JSON, also nested. Other escapes do not occur in keys. */
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

/** `Authorization: Bearer …`. Without the name of the header, the value must be longer and contain a digit. */
const credential = (anchor: string): SecretShape =>
  sequence(anchor, [{ of: CREDENTIAL, least: 8 }], {
    boundary: ALNUM,
    secretRun: 0,
    accepts(bytes, from, end, start) {
      const preceding = Buffer.from(bytes.subarray(Math.max(0, start - LOOK_BACK), start)).toString("latin1");
      return /authorization\W*$/i.test(preceding) || (end - from >= 16 && hasDigit(bytes, from, end));
    },
  });

/** `addressed` is the password in `https://user:password@host`. */
const addressed = (anchor: string): SecretShape =>
  sequence(
    anchor,
    [
      { of: USER, limit: MAX_USER, then: ":" },
      { of: PASSWORD, least: 1, limit: MAX_PASSWORD, then: "@" },
    ],
    // `${TOKEN}` and `{TOKEN}` are placeholders.
    { secretRun: 1, accepts: (bytes, from) => bytes[from] !== 0x24 && bytes[from] !== 0x7b },
  );

/** Between a name and its value, besides the sign: spaces and quotes, also escaped ones. */
const AROUND_SIGN = set(/[\s"'\\]/);
const QUOTED_VALUE = set(/[A-Za-z0-9._~+/=!@#%^&*:|?-]/);
const BARE_VALUE = set(/[A-Za-z0-9_~+/=-]/);
const LETTER = set(/[A-Za-z]/);
/** A quote in JSON within JSON within JSON has seven backslashes, so `MAX_AROUND` is enough. */
const MAX_AROUND = 40;
const MAX_VALUE = 512;
const MIN_VALUE = 12;

/**
 * `assigned` is the value in `DB_PASSWORD='…'`, `"client_secret": "…"` and the like. It must have letters and digits: a
 * word, a number, a placeholder and code are no secrets.
 */
const assigned = (anchor: string): SecretShape => ({
  anchor,
  look(bytes, start, isAll, found) {
    const nameEnd = start + anchor.length;
    if (SNAKE[bytes[nameEnd]!] === 1) return NOTHING;
    const sign = runEnd(bytes, nameEnd, AROUND_SIGN, MAX_AROUND);
    if (isOpen(bytes, nameEnd, sign, isAll, MAX_AROUND)) return UNDECIDED;
    if (bytes[sign] !== 0x3d && bytes[sign] !== 0x3a) return NOTHING;
    const from = runEnd(bytes, sign + 1, AROUND_SIGN, MAX_AROUND);
    if (isOpen(bytes, sign + 1, from, isAll, MAX_AROUND)) return UNDECIDED;
    const isQuoted = bytes[from - 1] === 0x22 || bytes[from - 1] === 0x27;
    const end = runEnd(bytes, from, isQuoted ? QUOTED_VALUE : BARE_VALUE, MAX_VALUE);
    if (isOpen(bytes, from, end, isAll, MAX_VALUE)) return UNDECIDED;
    // A call or a member: code computes the value.
    const isCode = !isQuoted && [0x28, 0x2e, 0x5b].includes(bytes[end] ?? 0);
    if (isCode || end - from < MIN_VALUE || !has(bytes, from, end, DIGIT) || !has(bytes, from, end, LETTER))
      return NOTHING;
    found.from = from;
    return end;
  },
});

/** A `telegramToken` has the public id of a bot, a colon, and its secret: 35 characters that begin with `AA`. */
const telegramToken: SecretShape = {
  anchor: ":AA",
  look(bytes, start, isAll, found) {
    const end = runEnd(bytes, start + 1, WORD, 36);
    if (isOpen(bytes, start + 1, end, isAll, 36)) return UNDECIDED;
    let from = start;
    while (from > 0 && start - from < 11 && DIGIT[bytes[from - 1]!] === 1) from--;
    if (end - start - 1 !== 35 || start - from < 8 || start - from > 10) return NOTHING;
    found.from = start + 1;
    return end;
  },
};

const SECRET_NAMES = [
  ["password", "Password", "PASSWORD", "passwd", "secret", "Secret", "SECRET", "token", "TOKEN", "AccountKey"],
  ["api_key", "apiKey", "apikey", "API_KEY", "APIKEY", "access_key", "ACCESS_KEY"],
].flat();

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
  ...["hvs.", "hvb."].map((anchor) => token(anchor, WORD, 24)),
  token("dckr_pat_", WORD, 20),
  token("dp.pt.", ALNUM, 40),
  token("ATATT3", WORD, 60),
  token("pplx-", ALNUM, 40),
  token("dapi", HEX, 32),
  token("SG.", DOTTED, 50),
  token("AGE-SECRET-KEY-1", UPPER, 40),
  token("hooks.slack.com/services/", SLASHED, 20),
  namedToken,
  jsonWebToken,
  privateKey,
  ...["Bearer ", "bearer ", "BEARER ", "Basic ", "basic "].map(credential),
  ...["://", ":\\/\\/"].map(addressed),
  ...SECRET_NAMES.map(assigned),
  telegramToken,
];
