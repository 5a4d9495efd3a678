// `failureOf` classifies failed turns of Codex. Many causes have an error code; for the others the message is searched,
// which may contain the provider's answer.
import { listOf, recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import { isRecord } from "../../../protocol/json/json-value.ts";
import { classifyFailure, providerSentence } from "../../classify-failure.ts";
import type { DialogueFailure } from "../../dialogue.ts";
import { readUsageLimit } from "../../usage-limit.ts";
import type { FailureCause } from "../../../schema/ending.ts";

const BY_CODE: Readonly<Record<string, FailureCause>> = {
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

/** `BY_SENTENCE` is for messages without an error code. */
const BY_SENTENCE: readonly [FailureCause, RegExp][] = [
  ["billing", /billing details|insufficient_quota/i],
  ["refusal", /reason: content_filter/],
  ["max_output", /reason: max_output_tokens/],
];

type KnownFailure = DialogueFailure & { error: string };

/** `limitResetAt` is the reset time of the account's limits, in milliseconds since 1970. */
export function failureOf(error: Fields, limitResetAt: number | null, now: number): KnownFailure {
  const text = textOrNull(error["additionalDetails"]) ?? textOf(error["message"]);
  const sentence = text === "" ? "the agent failed without a reason" : providerSentence(text);
  const info = error["codexErrorInfo"];
  if (info === "usageLimitExceeded") return limitOf(sentence, limitResetAt, now);
  const classified = classifyFailure(text, statusOf(info) ?? undefined);
  const byCode = typeof info === "string" && Object.hasOwn(BY_CODE, info) ? BY_CODE[info] : undefined;
  const cause = byCode ?? BY_SENTENCE.find(([, sign]) => sign.test(text))?.[0] ?? classified.cause;
  // `codexErrorInfo` is an object for connection failures.
  const broken = isRecord(info) || /stream disconnected/i.test(text) ? "api" : undefined;
  const known = cause ?? broken;
  return { error: sentence, ...classified, ...(known ? { cause: known } : {}) };
}

/** `usageLimitExceeded` also stands for an account without a plan or credit. */
function limitOf(sentence: string, limitResetAt: number | null, now: number): KnownFailure {
  const parsed = readUsageLimit(sentence, now);
  if (parsed === null) return { error: sentence, cause: "billing" };
  const resetAt = limitResetAt !== null && limitResetAt > now ? limitResetAt : parsed.resetAt;
  return { error: sentence, cause: "usage_limit", ...(resetAt === null ? {} : { resetAt }) };
}

function statusOf(info: unknown): number | null {
  const [status] = Object.values(recordOf(info)).map((each) => recordOf(each)["httpStatusCode"]);
  return typeof status === "number" ? status : null;
}

/** The latest reset time of the exhausted limits; null if none is exhausted or its `resetsAt` is unknown. */
export function limitResetOf(rateLimits: Fields): number | null {
  const windows = listOf([rateLimits["primary"], rateLimits["secondary"]]);
  const resets = windows.flatMap(({ usedPercent, resetsAt }) =>
    typeof usedPercent === "number" && usedPercent >= 100 && typeof resetsAt === "number" ? [resetsAt * 1000] : [],
  );
  return resets.length > 0 ? Math.max(...resets) : null;
}
