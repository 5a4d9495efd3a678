import type { Mutant } from "../mutant.ts";

export const MODULE_MUTANTS: readonly Mutant[] = [];
