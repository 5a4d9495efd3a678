/** A value shorter than `MIN_LENGTH` would mask ordinary words. */
export const MIN_LENGTH = 8;

const SECRET_WORD =
  /(^|[_.-])(api_?)?(keys?|tokens?|secrets?|password|passwd|passphrase|pass|pwd|credentials?|creds|auth|authtoken|bearer|cookie)([_.-]|$)/i;
/** `SECRET_END` matches without a separator too: PGPASSWORD, GITHUBTOKEN, APIKEY. */
const SECRET_END = /(apikey|token|secret|password|passwd|passphrase|credentials?)$/i;
/** A variable that `DESCRIBES_SECRET` holds a property of a secret, for example its file, not the secret itself. */
const DESCRIBES_SECRET =
  /_(file|path|dir|sock|socket|url|uri|host|port|user|username|name|id|type|mode|method|count|limit|ttl|expiry|expires)$/i;
/** A variable that `MAY_BE_PATH` holds a secret or the path of a file with one. */
const MAY_BE_PATH = /(auth|credentials?|creds)$/i;
const PATH = /^~?(\/[\w.@ -]+)+$/;
/** Tutti's own variables are public, except for two tokens. */
const OWN = /^TUTTI_(?!TOKEN$|MCP_TOKEN$)/;
const NEVER = new Set(["PATH", "PWD", "OLDPWD"]);

export function isSecretName(name: string): boolean {
  if (NEVER.has(name) || OWN.test(name) || DESCRIBES_SECRET.test(name)) return false;
  return SECRET_WORD.test(name) || SECRET_END.test(name);
}

/** A password that is a short `WORD` is not masked, because the word may occur in any text. */
const WORD = /^[a-z]+$/i;
const LONGEST_WORD = 16;

/** `secretValues` of `env` must not appear in any stored file. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => {
    const trimmed = value?.trim() ?? "";
    if (trimmed.length < MIN_LENGTH || !isSecretName(name)) return [];
    if (WORD.test(trimmed) && trimmed.length < LONGEST_WORD) return [];
    return MAY_BE_PATH.test(name) && PATH.test(trimmed) ? [] : [trimmed];
  });
  return [...new Set(values)];
}

/** `formsOf` returns the value as plain text, in JSON (also nested), in URLs and in base64. */
export function formsOf(value: string): Buffer[] {
  const whole = value.toWellFormed();
  const json = inJson(whole);
  const uri = encodeURIComponent(whole);
  const texts = [
    whole,
    json,
    json.replaceAll("/", "\\/"),
    inJson(json),
    json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    uri,
    uri.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    uri.replaceAll("%20", "+"),
    ...inBase64(Buffer.from(whole)),
    ...(PLAIN.test(whole) ? [] : partsOf(whole)),
  ];
  return [...new Set(texts)].filter(({ length }) => length >= MIN_LENGTH).map((text) => Buffer.from(text));
}

const PLAIN = /^[\w-]+$/;

/**
 * A value with special characters can be escaped in too many ways to list (JSON in JSON in shell quotes). Its parts
 * between those characters never change, so `partsOf` returns those that cannot be words, to be masked on their own.
 */
const partsOf = (value: string): string[] =>
  (value.match(/[\w-]{12,}/g) ?? []).filter((part) => /\d/.test(part) && /[A-Za-z]/.test(part));

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/**
 * Base64 encodes three bytes as four characters, so the form of a value depends on the number of preceding bytes modulo
 * three. `inBase64` cuts off characters at the ends that also encode neighbouring bytes.
 */
function inBase64(value: Buffer): string[] {
  return [0, 1, 2].flatMap((padding) => {
    const bytes = Buffer.concat([Buffer.alloc(padding), value]);
    const form = bytes.toString("base64").slice(Math.ceil((padding * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), form.replaceAll("/", "\\/")];
  });
}
