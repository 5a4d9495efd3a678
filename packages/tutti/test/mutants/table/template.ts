import type { Mutant } from "../mutant.ts";

export const TEMPLATE_MUTANTS: readonly Mutant[] = [];
