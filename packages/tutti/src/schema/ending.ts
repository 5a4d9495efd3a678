// An `Ending` says how a turn ended. One of kind `ended` may still lack a usable answer.
import { z } from "zod";

export const FAILURE_CAUSES = [
  /** A transient error of the provider, or a broken connection. */
  "api",
  /** The provider has no capacity. */
  "overloaded",
  /** Too many requests in a short time. */
  "rate_limit",
  /** The account's quota is exhausted until a reset time. */
  "usage_limit",
  /** The user is not logged in, or the key is invalid. */
  "auth",
  /** The account has no balance or no plan for this. */
  "billing",
  /** The request is invalid; the same request would fail again. */
  "invalid_request",
  /** The model refused to answer. */
  "refusal",
  /** The conversation is too long for the model. */
  "context",
  /** The answer was truncated at the maximum output length. */
  "max_output",
  /** The agent reached its own limit on steps. */
  "max_turns",
  /** The agent reached its own limit on money. */
  "agent_budget",
  /** The tools that the agent needs were refused. */
  "denied",
  /** The agent gave no structured answer although the request required one. */
  "no_structured_output",
  /** The agent ended with a question instead of an answer. */
  "question",
  /** The agent showed no activity for too long. */
  "stalled",
  /** The process of an agent with its own protocol ended in the middle of the turn and could not be resumed. */
  "died",
  /** The agent violated its protocol. */
  "protocol",
] as const;
export const FailureCause = z.enum(FAILURE_CAUSES);
export type FailureCause = z.infer<typeof FailureCause>;

export const Ending = z.object({
  kind: z.enum(["ended", "error", "exited", "interrupted"]),
  detail: z.string(),
  /** Why the turn failed, if the agent or its provider gave a cause. */
  cause: FailureCause.optional(),
  /** Wait that the provider requested. */
  retryAfterMs: z.number().nonnegative().optional(),
  /** When the usage limit resets, in milliseconds since 1970. */
  resetAt: z.number().nonnegative().optional(),
});
export type Ending = z.infer<typeof Ending>;
