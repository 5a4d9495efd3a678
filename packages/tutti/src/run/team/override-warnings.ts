import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";

/** An override stays visible in the warnings of the result. */
export const overrideWarnings = ({ gate = {} }: Run): string[] =>
  Object.entries(gate).flatMap(([environment, { overrides }]) =>
    overrides.map(({ by, reason }) =>
      sentence("The gate of {environment} was overridden by {by}: {reason}", { environment, by, reason }),
    ),
  );
