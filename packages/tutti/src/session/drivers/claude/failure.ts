// Classifies failed turns. Claude Code reports most failures as a `success` with `is_error`, and the reason in one of
// six places. The order of the checks in `failureOf` matters where several places disagree.
import type { DialogueFailure } from "../../dialogue.ts";
import { readUsageLimit } from "../../usage-limit.ts";
import { numberOf, recordOf, textOf, textsOf, type Fields } from "../../json-fields.ts";
import type { FailureCause } from "../../../schema/ending.ts";

/** `Troubles` are problems with the provider during the turn, before its result. */
export interface Troubles {
  /** The error code of the message in place of an answer. */
  error: string;
  /** The delay that the program announced for its last retry. */
  retryAfterMs: number | null;
  /** From a `rate_limit_event`, in milliseconds since 1970. */
  limitResetAt: number | null;
  structureDemanded: boolean;
}

/** By `terminal_reason`. */
const BY_TERMINATION: Readonly<Record<string, FailureCause>> = {
  max_turns: "max_turns",
  budget_exhausted: "agent_budget",
  prompt_too_long: "context",
  blocking_limit: "context",
  rapid_refill_breaker: "context",
  structured_output_retry_exhausted: "no_structured_output",
  image_error: "invalid_request",
};

const BY_SUBTYPE: Readonly<Record<string, FailureCause>> = {
  error_max_turns: "max_turns",
  error_max_budget_usd: "agent_budget",
  error_max_structured_output_retries: "no_structured_output",
};

/** `BY_ERROR` leaves out codes that are less precise than the HTTP status. */
const BY_ERROR: Readonly<Record<string, FailureCause>> = {
  authentication_failed: "auth",
  oauth_org_not_allowed: "auth",
  cloud_credential_error: "auth",
  verification_required: "auth",
  billing_error: "billing",
  account_on_hold: "billing",
  max_output_tokens: "max_output",
  overloaded: "overloaded",
  rate_limit: "rate_limit",
  model_not_found: "invalid_request",
};

const BY_STATUS: Readonly<Record<number, FailureCause>> = {
  401: "auth",
  402: "billing",
  403: "billing",
  408: "api",
  409: "api",
  413: "context",
  429: "rate_limit",
  529: "overloaded",
};

/** In `causeOf` the error code wins over the HTTP status. */
export function causeOf(status: number | null, error: string): FailureCause {
  const cause = BY_ERROR[error] ?? (status === null ? undefined : BY_STATUS[status]);
  if (cause) return cause;
  return status !== null && status >= 400 && status < 500 ? "invalid_request" : "api";
}

/** Null for a successful result. */
export function failureOf(result: Fields, troubles: Troubles, now: number): DialogueFailure | null {
  if (result["is_error"] !== true && result["subtype"] === "success") {
    const missing = troubles.structureDemanded && result["structured_output"] === undefined;
    return missing ? { error: "the agent gave no structured answer", cause: "no_structured_output" } : null;
  }
  const error =
    [textOf(result["result"]), ...textsOf(result["errors"])].find((text) => text !== "") ?? "the agent failed";
  const terminalReason = textOf(result["terminal_reason"]);
  if (terminalReason.startsWith("aborted_")) return { error: "the turn was interrupted" };
  const known = BY_TERMINATION[terminalReason] ?? BY_SUBTYPE[textOf(result["subtype"])];
  if (known) return { error, cause: known };
  if (result["stop_reason"] === "refusal") return { error, cause: "refusal" };
  const limit = limitOf(result, error, troubles, now);
  if (limit) return limit;
  // Without an error of the provider the program itself failed, for an unknown cause.
  if (terminalReason !== "api_error" && troubles.error === "") return { error };
  const word = textOf(result["api_error"]) in BY_ERROR ? textOf(result["api_error"]) : troubles.error;
  const cause = causeOf(numberOf(result["api_error_status"]), word);
  const waits = cause === "rate_limit" && troubles.retryAfterMs !== null;
  return { error, cause, ...(waits ? { retryAfterMs: troubles.retryAfterMs! } : {}) };
}

function limitOf(result: Fields, error: string, troubles: Troubles, now: number): DialogueFailure | null {
  const parsed = readUsageLimit(error, now);
  const isLimit = result["api_error"] === "usage_limit_reached" || troubles.limitResetAt !== null || parsed !== null;
  if (!isLimit) return null;
  const resetAt = troubles.limitResetAt ?? parsed?.resetAt ?? null;
  return { error, cause: "usage_limit", ...(resetAt === null ? {} : { resetAt }) };
}

/** The reset time of an exhausted limit, in milliseconds since 1970; `readLimitEvent` is null without one. */
export function readLimitEvent(message: Fields): number | null {
  const { status, resetsAt } = recordOf(message["rate_limit_info"]);
  const at = numberOf(resetsAt);
  return status === "rejected" && at !== null ? at * 1000 : null;
}
