// Fake secrets in the forms of real ones. They are assembled from parts, so that no scanner reports this file.

export interface Canary {
  name: string;
  printed: string;
  /** Unique letters and digits of the secret, which no escaping changes. */
  core: string;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Deterministic; always ends with a digit. */
function filler(seed: number, length: number, of = LETTERS): string {
  let state = seed * 7919 + 1;
  const letters = Array.from({ length: length - 1 }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return of[Math.floor(state / 65536) % of.length]!;
  });
  return `${letters.join("")}7`;
}

/** The agent's variables. Their names mark them as secret. */
export const SECRET_ENV: Record<string, string> = {
  CANARY_API_KEY: `plain${filler(1, 24)}`,
  CANARY_DB_PASSWORD: `"q\\u/${filler(2, 24)} ä\n${filler(3, 24)}/+?`,
};

const longest = (text: string): string =>
  text.match(/[A-Za-z0-9]+/g)!.reduce((best, run) => (run.length > best.length ? run : best), "");
const canary = (name: string, printed: string, core = longest(printed)): Canary => ({ name, printed, core });

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** All forms of a value from the agent's environment. */
function formsOf(name: string, value: string): Canary[] {
  const base64 = (before: string): string => Buffer.from(`${before}${value}`).toString("base64");
  const ascii = inJson(value).replaceAll("ä", "\\u00e4");
  return [
    canary(`${name}, plain`, value),
    canary(`${name}, in JSON`, inJson(value)),
    canary(`${name}, in JSON in JSON`, inJson(inJson(value))),
    canary(`${name}, in JSON of ASCII`, ascii),
    canary(`${name}, in JSON with slashes escaped`, inJson(value).replaceAll("/", "\\/")),
    canary(`${name}, in an address`, `https://example.org/?q=${encodeURIComponent(value)}`),
    canary(`${name}, in a form`, encodeURIComponent(value).replaceAll("%20", "+")),
    ...["", "u", "us"].map((before) =>
      canary(`${name}, in base64 after ${before.length}`, base64(before), longest(base64(before).slice(6, -6))),
    ),
    canary(`${name}, in base64url`, Buffer.from(value).toString("base64url")),
  ];
}

const jwt = (seed: number): string =>
  ["eyJ" + filler(seed, 20), "eyJ" + filler(seed + 1, 40), filler(seed + 2, 43)].join(".");
const pem = (kind: string, seed: number): string => {
  const lines = [filler(seed, 64), filler(seed + 1, 64), `${filler(seed + 2, 30)}==`];
  return [`-----BEGIN ${kind}PRIVATE KEY-----`, ...lines, `-----END ${kind}PRIVATE KEY-----`].join("\n");
};
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX = "0123456789abcdef";

const SHAPED: Canary[] = [
  canary("Anthropic", `sk-ant-api03-${filler(10, 80)}`),
  canary("OpenAI project", `sk-proj-${filler(11, 60)}`),
  canary("OpenAI", `sk-${filler(12, 48)}`),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix, i) =>
    canary(`GitHub ${prefix}`, prefix + filler(13 + i, 36)),
  ),
  canary("GitHub fine-grained", ["github", "pat", filler(20, 22), filler(21, 59)].join("_")),
  canary("GitLab", `glpat-${filler(22, 20)}`),
  ...["xoxa-", "xoxb-", "xoxp-"].map((prefix, i) => canary(`Slack ${prefix}`, `${prefix}12345-${filler(23 + i, 24)}`)),
  canary("Slack webhook", `https://hooks.slack.com/services/T000/B000/${filler(27, 24)}`),
  canary("AWS key id", `AKIA${filler(28, 16, UPPER)}`),
  canary("Google API", `AIza${filler(29, 35)}`),
  canary("Google OAuth", `ya29.${filler(30, 60)}`),
  canary("npm", `npm_${filler(31, 36)}`),
  canary("PyPI", `pypi-${filler(32, 100)}`),
  canary("Hugging Face", `hf_${filler(33, 34)}`),
  canary("Stripe", `sk_live_${filler(34, 24)}`),
  canary("SendGrid", `SG.${filler(35, 22)}.${filler(36, 43)}`),
  canary("DigitalOcean", `dop_v1_${filler(37, 64, HEX)}`),
  canary("Vault", `hvs.${filler(90, 90)}`),
  canary("Docker Hub", `dckr_pat_${filler(91, 27)}`),
  canary("Doppler", `dp.pt.${filler(92, 43)}`),
  canary("Atlassian", `ATATT3xFfGF0${filler(93, 170)}`),
  canary("Perplexity", `pplx-${filler(94, 48)}`),
  canary("Databricks", `dapi${filler(95, 32, HEX)}`),
  canary("token of a server of ours", `tutti_ci-laptop_${filler(38, 43)}`),
  canary("JWT", jwt(40)),
  canary("key, RSA", pem("RSA ", 50)),
  canary("key, OpenSSH", pem("OPENSSH ", 55)),
  canary("key, PKCS 8", pem("", 60)),
  canary("key in JSON", inJson(pem("EC ", 65))),
  canary("bearer header", `Authorization: Bearer ${filler(70, 12)}`, filler(70, 12)),
  canary("basic header", `authorization: Basic ${filler(71, 20)}`, filler(71, 20)),
  canary("https with password", `https://user:${filler(72, 10)}@example.org/x.git`),
  canary("AWS secret key", `aws_secret_access_key = ${filler(80, 20)}/${filler(81, 19)}`, filler(80, 20)),
  canary("Azure account key", `DefaultEndpointsProtocol=https;AccountKey=${filler(82, 86)}==`, filler(82, 86)),
  canary("Telegram bot", `123456789:AA${filler(83, 33)}`, filler(83, 33)),
  canary("password in quotes", `DB_PASSWORD='${filler(84, 14)}'`, filler(84, 14)),
  canary("client secret in JSON", `{"client_secret":"${filler(85, 24)}"}`, filler(85, 24)),
  canary("client secret in JSON in JSON", inJson(`{"client_secret": "${filler(86, 24)}"}`), filler(86, 24)),
  canary("database address", `postgres://app:${filler(73, 14)}@db.example.org:5432/app`),
];

export const CANARIES: Canary[] = [
  ...Object.entries(SECRET_ENV).flatMap(([name, value]) => formsOf(name, value)),
  ...SHAPED,
];

/** The names of the canaries that occur in `text`. */
export const leaksIn = (text: string): string[] =>
  CANARIES.filter(({ core }) => text.includes(core)).map(({ name }) => name);
