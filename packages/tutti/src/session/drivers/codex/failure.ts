// Why a turn of Codex failed. It has a word of its own for many causes; for the others its sentence is read, which may
// hold the provider's own answer as it came.
import { isRecord, listOf, recordOf, textOf, type Fields } from "../acp/fields.ts";
import { classifyFailure } from "../../classify-failure.ts";
import type { TurnFailure } from "../../dialogue.ts";
import { readUsageLimit } from "../../usage-limit.ts";
import type { FailureCause } from "../../../schema/ending.ts";

const BY_WORD: Readonly<Record<string, FailureCause>> = {
  contextWindowExceeded: "context",
  sessionBudgetExceeded: "agent_budget",
  rateLimitExceeded: "rate_limit",
  flexUnavailable: "overloaded",
  serverOverloaded: "overloaded",
  policyCapacityUnavailable: "overloaded",
  modelNotFound: "invalid_request",
  badRequest: "invalid_request",
  cyberPolicy: "refusal",
  misalignmentPolicyViolation: "refusal",
  tooManyDenials: "denied",
  internalServerError: "api",
  unauthorized: "auth",
};

/** Signs in sentences that come without a word. */
const BY_SENTENCE: readonly [FailureCause, RegExp][] = [
  ["billing", /billing details|insufficient_quota/i],
  ["refusal", /reason: content_filter/],
  ["max_output", /reason: max_output_tokens/],
];

export type KnownFailure = TurnFailure & { error: string };

const MAX_SENTENCE = 1000;

/** `limitResetAt` is when the account's own limits come back, from what Codex tells about them. */
export function failureOf(error: Fields, limitResetAt: number | null, now: number): KnownFailure {
  const text = [textOf(error["additionalDetails"]), textOf(error["message"])].find((each) => each !== null) ?? "";
  const sentence = text === "" ? "it failed and gave no reason" : sentenceOf(text).slice(0, MAX_SENTENCE);
  const info = error["codexErrorInfo"];
  if (info === "usageLimitExceeded") return limitOf(sentence, limitResetAt, now);
  const classified = classifyFailure(text, statusOf(info) ?? undefined);
  const word = typeof info === "string" && Object.hasOwn(BY_WORD, info) ? BY_WORD[info] : undefined;
  const cause = word ?? BY_SENTENCE.find(([, sign]) => sign.test(text))?.[0] ?? classified.cause;
  // An object stands for a connection that could not be made or broke.
  const broken = isRecord(info) || /stream disconnected/i.test(text) ? "api" : undefined;
  const known = cause ?? broken;
  return { error: sentence, ...classified, ...(known ? { cause: known } : {}) };
}

/** The same word is used for an account that has no plan or no money at all. */
function limitOf(sentence: string, limitResetAt: number | null, now: number): KnownFailure {
  const told = readUsageLimit(sentence, now);
  if (told === null) return { error: sentence, cause: "billing" };
  const resetAt = limitResetAt !== null && limitResetAt > now ? limitResetAt : told.resetAt;
  return { error: sentence, cause: "usage_limit", ...(resetAt === null ? {} : { resetAt }) };
}

function statusOf(info: unknown): number | null {
  const [status] = Object.values(recordOf(info)).map((each) => recordOf(each)["httpStatusCode"]);
  return typeof status === "number" ? status : null;
}

/** When the last of the limits that are used up comes back; null if none is, or if that is not told. */
export function limitResetOf(rateLimits: Fields): number | null {
  const windows = listOf([rateLimits["primary"], rateLimits["secondary"]]);
  const resets = windows.flatMap(({ usedPercent, resetsAt }) =>
    typeof usedPercent === "number" && usedPercent >= 100 && typeof resetsAt === "number" ? [resetsAt * 1000] : [],
  );
  return resets.length > 0 ? Math.max(...resets) : null;
}

/** Errors are often JSON within text; the person wants its message. */
function sentenceOf(text: string): string {
  try {
    const message = textOf(recordOf(recordOf(JSON.parse(text) as unknown)["error"])["message"]);
    return message ?? text;
  } catch {
    return text.trim();
  }
}
