import type { TurnFailure } from "../../driver.ts";
import type { FailureCause } from "../../../schema/ending.ts";

/** Reads `fail:CAUSE` or `fail:CAUSE:MS`, after which time the provider answers again. Null for other endings. */
export function readFailure(then: string, now: number): TurnFailure | null {
  const [verb, cause, ms] = then.split(":") as [string, FailureCause?, string?];
  if (verb !== "fail" || cause === undefined) return null;
  const detail = `the scenario failed with ${cause}`;
  if (ms === undefined) return { cause, detail };
  return { cause, detail, ...(cause === "usage_limit" ? { resetAt: now + Number(ms) } : { retryAfterMs: Number(ms) }) };
}
