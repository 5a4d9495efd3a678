// Which values are secret, and in which forms they may turn up in what an agent writes. Pure: the environment comes in as
// an argument.

/** What is shorter would mask ordinary words. */
const MIN_LENGTH = 8;

const SECRET_WORD =
  /(^|[_.-])(api_?)?(keys?|tokens?|secrets?|password|passwd|passphrase|pass|pwd|credentials?|creds|auth|authtoken|bearer|cookie)([_.-]|$)/i;
/** Also where nothing stands before it: PGPASSWORD, GITHUBTOKEN, APIKEY. */
const SECRET_END = /(apikey|token|secret|password|passwd|passphrase|credentials?)$/i;
/** Such a name tells where or of which kind a secret is, not what it is. */
const TELLS_ABOUT =
  /_(file|path|dir|sock|socket|url|uri|host|port|user|username|name|id|type|mode|method|count|limit|ttl|expiry|expires)$/i;
/** Names that may hold a secret as well as the path of a file with one. */
const MAY_BE_PATH = /(auth|credentials?|creds)$/i;
const PATH = /^~?(\/[\w.@ -]+)+$/;
/** What Tutti itself tells its agents is no secret but for these. */
const OWN = /^TUTTI_(?!TOKEN$|MCP_TOKEN$)/;
const NEVER = new Set(["PATH", "PWD", "OLDPWD"]);

export function isSecretName(name: string): boolean {
  if (NEVER.has(name) || OWN.test(name) || TELLS_ABOUT.test(name)) return false;
  return SECRET_WORD.test(name) || SECRET_END.test(name);
}

/** A password that is a word would mask that word in everything that is said. */
const WORD = /^[a-z]+$/i;
const LONGEST_WORD = 16;

/** The values of an environment that must not be seen in anything that is kept. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => {
    const trimmed = value?.trim() ?? "";
    if (trimmed.length < MIN_LENGTH || !isSecretName(name)) return [];
    if (WORD.test(trimmed) && trimmed.length < LONGEST_WORD) return [];
    return MAY_BE_PATH.test(name) && PATH.test(trimmed) ? [] : [trimmed];
  });
  return [...new Set(values)];
}

/** A value as it is, as it stands in JSON (also JSON within JSON), in addresses, and within base64. */
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
 * What must be escaped somewhere can be escaped in more ways than anybody can list (JSON in JSON in a shell's quotes). What
 * stands between is the same in all of them; if it can be no word, it is searched for by itself.
 */
const partsOf = (value: string): string[] =>
  (value.match(/[\w-]{12,}/g) ?? []).filter((part) => /\d/.test(part) && /[A-Za-z]/.test(part));

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/**
 * Three bytes make four characters, so what a value looks like depends on how many bytes stand before it. The characters
 * at its ends that other bytes have a part in are left out.
 */
function inBase64(value: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), value]);
    const own = bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [own, own.replaceAll("+", "-").replaceAll("/", "_"), own.replaceAll("/", "\\/")];
  });
}
