import type { Mutant } from "../mutant.ts";

export const MESSAGES_MUTANTS: readonly Mutant[] = [];
