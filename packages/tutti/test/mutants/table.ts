import type { Mutant } from "./mutant.ts";
import { RESPONSE_MUTANTS } from "./table/response.ts";
import { MESSAGES_MUTANTS } from "./table/messages.ts";
import { MODULE_MUTANTS } from "./table/module.ts";
import { SUB_SESSIONS_MUTANTS } from "./table/sub-sessions.ts";
import { TEMPLATE_MUTANTS } from "./table/template.ts";
import { RUN_MUTANTS } from "./table/run.ts";
import { TEAM_MUTANTS } from "./table/team.ts";

export const MUTANTS: readonly Mutant[] = [
  ...RESPONSE_MUTANTS,
  ...MESSAGES_MUTANTS,
  ...MODULE_MUTANTS,
  ...SUB_SESSIONS_MUTANTS,
  ...TEMPLATE_MUTANTS,
  ...RUN_MUTANTS,
  ...TEAM_MUTANTS,
];
