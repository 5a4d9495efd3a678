// `checkOptions` runs in constructors, so that a wrong option is rejected immediately and not on first use.
import type { z } from "zod";
import type { SharedOptions } from "./shared-engine.ts";
import { TuttiError } from "../schema/error.ts";
import type { WorkerOptions } from "../schema/options.ts";

export function checkOptions<T extends z.ZodType>(schema: T, given: z.input<T>): z.output<T> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new TuttiError("invalid_input", `The options are not valid: ${problems.join("; ")}. Correct them.`, {
    details: problems,
  });
}

/** Leaves out undefined options: for those the template decides. */
export function sharedOptionsOf(config: Partial<z.input<typeof WorkerOptions>>): SharedOptions {
  const { pollInterval, workerTimeout, retryLimit, spawnDelay, progressDetectionInterval } = config;
  const settings = { workerTimeout, maxRetries: retryLimit, spawnDelay, progressDetectionInterval };
  const defined = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    config: Object.fromEntries(defined),
    ...(pollInterval === undefined ? {} : { workerPollMs: pollInterval }),
  };
}
