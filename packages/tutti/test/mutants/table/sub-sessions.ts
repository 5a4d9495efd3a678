import type { Mutant } from "../mutant.ts";

export const SUB_SESSIONS_MUTANTS: readonly Mutant[] = [];
