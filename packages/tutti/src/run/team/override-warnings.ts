import type { Run } from "../../schema/run.ts";
import type { Say } from "../../sentence.ts";

/** An override stays visible in the warnings of the result. */
export const overrideWarnings = ({ gate = {} }: Run, say: Say): string[] =>
  Object.entries(gate).flatMap(([environment, { overrides }]) =>
    overrides.map(({ by, reason }) =>
      say("The gate of {environment} was overridden by {by}: {reason}", { environment, by, reason }),
    ),
  );
