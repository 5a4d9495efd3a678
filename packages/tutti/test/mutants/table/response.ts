import type { Mutant } from "../mutant.ts";

export const RESPONSE_MUTANTS: readonly Mutant[] = [];
