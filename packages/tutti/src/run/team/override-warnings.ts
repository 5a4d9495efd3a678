import type { Run } from "../../schema/run.ts";

/** An override stays visible in the warnings of the result. */
export const overrideWarnings = ({ gate = {} }: Run): string[] =>
  Object.entries(gate).flatMap(([environment, { overrides }]) =>
    overrides.map(({ by, reason }) => `The gate of ${environment} was overridden by ${by}: ${reason}`),
  );
