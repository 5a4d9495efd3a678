// How a turn ended, seen from outside: what policy needs to know, and a sentence for the person. A turn that ended well
// may still hold no usable answer; a turn that failed says why, as far as its agent let us know.
import { z } from "zod";

export const FAILURE_CAUSES = [
  /** The provider answered with an error that may pass, or the connection broke. */
  "api",
  /** The provider has too much to do. */
  "overloaded",
  /** Too many requests in a short time. */
  "rate_limit",
  /** What the account may use is used up until a moment. */
  "usage_limit",
  /** Nobody is logged in, or the key is not accepted. */
  "auth",
  /** The account has no money or no plan for this. */
  "billing",
  /** The request itself is wrong; the same one would fail again. */
  "invalid_request",
  /** The model does not want to. */
  "refusal",
  /** The conversation is too long for the model. */
  "context",
  /** The answer was cut off at its greatest length. */
  "max_output",
  /** The agent's own limit on steps, or on money, was reached. */
  "max_turns",
  "agent_budget",
  /** It was not allowed to use the tools it wanted. */
  "denied",
  /** A structured answer was demanded and none was given. */
  "no_structured_output",
  /** It ended with a question instead of an answer. */
  "question",
  /** Nothing was heard of it for too long. */
  "stalled",
  /** It did not keep to its protocol. */
  "protocol",
] as const;
export const FailureCause = z.enum(FAILURE_CAUSES);
export type FailureCause = z.infer<typeof FailureCause>;

export const Ending = z.object({
  kind: z.enum(["ended", "error", "exited", "interrupted"]),
  detail: z.string(),
  /** Why it failed, where the agent or its provider told. */
  cause: FailureCause.optional(),
  /** How long the provider wants us to wait. */
  retryAfterMs: z.number().nonnegative().optional(),
  /** When what is used up comes back, in milliseconds since 1970. */
  resetAt: z.number().nonnegative().optional(),
});
export type Ending = z.infer<typeof Ending>;
