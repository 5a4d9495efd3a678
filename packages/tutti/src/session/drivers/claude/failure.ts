// Why a turn failed. Claude Code calls most of its failures a success with `is_error`, and says what went wrong in one of
// half a dozen places; here they are put into the one order in which they agree with each other.
import type { TurnFailure } from "../../dialogue.ts";
import { readUsageLimit } from "../../usage-limit.ts";
import { asNumber, asObject, asText, asTexts, type Message } from "./wire.ts";
import type { FailureCause } from "../../../schema/ending.ts";

/** What was heard of the provider in the turn before its result. */
export interface Troubles {
  /** The machine's word for the error, from the message that stands in the place of the answer. */
  error: string;
  /** How long the program was going to wait before it tried again, the last time. */
  retryAfterMs: number | null;
  /** When the account's limit comes back, from an event of its own. */
  limitResetAt: number | null;
  /** A structured answer was demanded in vain. */
  structureDemanded: boolean;
}

/** By how the program's own loop ended. */
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

/** By the machine's word. Words that say less than the status are not here. */
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

/** What a failed request means, from its status and the machine's word for it. */
export function causeOf(status: number | null, error: string): FailureCause {
  const cause = BY_ERROR[error] ?? (status === null ? undefined : BY_STATUS[status]);
  if (cause) return cause;
  return status !== null && status >= 400 && status < 500 ? "invalid_request" : "api";
}

/** Null for a result that is one. */
export function failureOf(result: Message, troubles: Troubles, now: number): TurnFailure | null {
  if (result["is_error"] !== true && result["subtype"] === "success") {
    const missing = troubles.structureDemanded && result["structured_output"] === undefined;
    return missing ? { error: "it gave no structured answer", cause: "no_structured_output" } : null;
  }
  const error = [asText(result["result"]), ...asTexts(result["errors"])].find((text) => text !== "") ?? "it failed";
  const ended = asText(result["terminal_reason"]);
  if (ended.startsWith("aborted_")) return { error: "the turn was interrupted" };
  const known = BY_TERMINATION[ended] ?? BY_SUBTYPE[asText(result["subtype"])];
  if (known) return { error, cause: known };
  if (result["stop_reason"] === "refusal") return { error, cause: "refusal" };
  const limit = limitOf(result, error, troubles, now);
  if (limit) return limit;
  // Without a word about the provider the program failed by itself, and nobody knows why.
  if (ended !== "api_error" && troubles.error === "") return { error };
  const word = asText(result["api_error"]) in BY_ERROR ? asText(result["api_error"]) : troubles.error;
  const cause = causeOf(asNumber(result["api_error_status"]), word);
  const waits = cause === "rate_limit" && troubles.retryAfterMs !== null;
  return { error, cause, ...(waits ? { retryAfterMs: troubles.retryAfterMs! } : {}) };
}

function limitOf(result: Message, error: string, troubles: Troubles, now: number): TurnFailure | null {
  const told = readUsageLimit(error, now);
  const isLimit = result["api_error"] === "usage_limit_reached" || troubles.limitResetAt !== null || told !== null;
  if (!isLimit) return null;
  const resetAt = troubles.limitResetAt ?? told?.resetAt ?? null;
  return { error, cause: "usage_limit", ...(resetAt === null ? {} : { resetAt }) };
}

/** When a limit comes back that was hit, if the message tells of one. */
export function readLimitEvent(message: Message): number | null {
  const { status, resetsAt } = asObject(message["rate_limit_info"]);
  const at = asNumber(resetsAt);
  return status === "rejected" && at !== null ? at * 1000 : null;
}
