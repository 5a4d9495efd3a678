import type { Mutant } from "../mutant.ts";

export const RUN_MUTANTS: readonly Mutant[] = [
  {
    rows: ["D4-109", "D4-253"],
    file: "tutti/src/run/retry.ts",
    find: `const ENDED: readonly string[] = ["failed", "timeout", "cancelled"];`,
    replace: `const ENDED: readonly string[] = ["failed", "timeout", "cancelled", "completed", "running"];`,
  },
];
