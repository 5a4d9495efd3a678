// `classifyFailure` reads error texts of providers. Agents pass them on with or without the HTTP status, and the
// wording changes between releases, so `SIGNS` has several patterns for each cause. A text that matches none has no
// cause.
import type { DialogueFailure } from "./dialogue.ts";
import { parseRecord, recordOf, textOrNull } from "./json-fields.ts";
import { readUsageLimit } from "./usage-limit.ts";
import type { FailureCause } from "../schema/ending.ts";

type ClassifiedFailure = Pick<DialogueFailure, "cause" | "retryAfterMs" | "resetAt">;

/** In characters. Texts longer than `MAX_WORDS` are truncated before they are searched. */
const MAX_WORDS = 10_000;

/** `status` is the HTTP status if the agent reports it separately from the text. */
export function classifyFailure(
  words: string,
  status: number | null = findStatus(words.slice(0, MAX_WORDS)),
  now = Date.now(),
): ClassifiedFailure {
  const text = words.slice(0, MAX_WORDS);
  const retryAfterMs = findDelay(text);
  const cause = findCause(text, status, retryAfterMs);
  const resetAt = cause === "usage_limit" ? (readUsageLimit(text, now)?.resetAt ?? null) : null;
  return {
    ...(cause ? { cause } : {}),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(resetAt === null ? {} : { resetAt }),
  };
}

/** The first match wins, before any status: a text about credit may come with any status, one about length with 400. */
const SIGNS: readonly [FailureCause, RegExp][] = [
  ["billing", /credit balance|purchase credits|insufficient[_ ](?:funds|credit)|payment required|billing_error/i],
  ["context", /prompt is too long|context[_ ](?:length|window)|maximum context|input token count.*exceed/i],
  [
    "auth",
    /api[ _]key not valid|invalid (?:x-)?api[ _-]?key|unauthenticated|unauthorized|authentication|not logged in/i,
  ],
  [
    "usage_limit",
    /(?:usage|session|weekly|daily|monthly|\d-hour) limit|quota|(?<!rate[ _-])limit (?:has been )?reached|hit your limit/i,
  ],
  ["rate_limit", /rate[ _-]?limit|too many requests|resource[_ ]exhausted/i],
  ["overloaded", /overloaded|service unavailable|high demand|at capacity/i],
];

const BY_STATUS: Readonly<Record<number, FailureCause>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  408: "api",
  429: "rate_limit",
  503: "overloaded",
  529: "overloaded",
};

/** `BROKEN` connections have no status. */
const BROKEN =
  /internal server error|api_error|fetch failed|ECONN\w+|EAI_AGAIN|socket hang up|disconnected|timed? ?out/i;

function findCause(text: string, status: number | null, retryAfterMs: number | null): FailureCause | null {
  const sign = SIGNS.find(([, sign]) => sign.test(text))?.[0];
  // Some providers call every limit a quota. One that ends within SHORT_MS is a rate limit.
  if (sign === "usage_limit" && retryAfterMs !== null && retryAfterMs <= SHORT_MS) return "rate_limit";
  if (sign) return sign;
  if (status !== null && BY_STATUS[status]) return BY_STATUS[status];
  if (status !== null && status >= 500) return "api";
  if (status !== null && status >= 400) return "invalid_request";
  if (/invalid[_ ]request/i.test(text)) return "invalid_request";
  return BROKEN.test(text) ? "api" : null;
}

const SHORT_MS = 5 * 60_000;

function findStatus(text: string): number | null {
  const found = /(?:api error:?|status(?: code)?:?|http|"code":|\[)\s*([45]\d\d)\b/i.exec(text);
  return found ? Number(found[1]) : null;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads "Please retry in 17.5s", "try again in 2 minutes", `"retryDelay":"17s"`, "retry-after: 17". */
function findDelay(text: string): number | null {
  const words = /(?:retry|try again) (?:in|after):? (?:about )?([\d.]{1,12}) ?(ms|s|m|h)/i.exec(text);
  const found = words ?? /retry-?_?(?:delay|after)"?[:=]? ?"?([\d.]{1,12})(ms|s|m|h)?/i.exec(text);
  if (!found) return null;
  const ms = Number(found[1]) * UNITS[(found[2] ?? "s").toLowerCase()]!;
  return Number.isFinite(ms) ? Math.round(ms) : null;
}

const MAX_SENTENCE = 1000;

/** Providers often return JSON as the error text, also nested; only its `message` is of use to the user. */
export function providerSentence(text: string): string {
  const inner = textOrNull(recordOf(parseRecord(text)["error"])["message"]);
  return (inner === null ? text.trim() : providerSentence(inner)).slice(0, MAX_SENTENCE);
}
