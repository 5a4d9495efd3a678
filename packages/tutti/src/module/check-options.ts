// What a program gives to a constructor, checked: a wrong option is refused when it is given, not when it is used.
import type { z } from "zod";
import type { Wishes } from "./backstage.ts";
import { TuttiError } from "../schema/error.ts";
import type { WorkerOptions } from "../schema/options.ts";

export function checkOptions<T extends z.ZodType>(schema: T, given: z.input<T>): z.output<T> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new TuttiError("invalid_input", `these options cannot be used: ${problems.join("; ")}`, { details: problems });
}

/** Only what a program said: what it did not is left to the template. */
export function wishesOf(config: Partial<z.input<typeof WorkerOptions>>): Wishes {
  const { pollInterval, workerTimeout, retryLimit, spawnDelay, progressDetectionInterval } = config;
  const settings = { workerTimeout, maxRetries: retryLimit, spawnDelay, progressDetectionInterval };
  const said = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    config: Object.fromEntries(said),
    ...(pollInterval === undefined ? {} : { workerPollMs: pollInterval }),
  };
}
