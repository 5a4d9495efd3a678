// Checks the data of one phase: what is missing or wrong is an error, what is merely unusual a warning.
import { ANSWERS } from "../schema/answer.ts";
import type { BlockPhase } from "../schema/answer.ts";
import { explainIssue, isMissing, pathText } from "./explain-issues.ts";
import { isRecord } from "./json-value.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { isBlockPhase, LISTS_OF_ENTRIES, PHASE_SCHEMAS } from "./phase-schemas.ts";
import type { MemberList } from "./phase-schemas.ts";
import { planWarnings } from "./plan-warnings.ts";

export interface PhaseValidation {
  valid: boolean;
  errors: string[];
  warnings: string[];
}

export function validatePhase(phase: string, data: unknown): PhaseValidation {
  if (!isBlockPhase(phase)) return { valid: false, errors: [`Unknown phase: ${phase}`], warnings: [] };
  if (!isRecord(data)) return { valid: false, errors: ["Data must be an object"], warnings: [] };
  const normal = normaliseAnswer(phase, data);
  const checked = ANSWERS[phase].safeParse(normal.data);
  const errors = (checked.error?.issues ?? []).map((issue) =>
    isMissing(issue, normal.data)
      ? `Missing required field: ${pathText(issue.path)}`
      : explainIssue(issue, normal.data).slice(0, -1),
  );
  const warnings = unexpectedMembers(phase, data).map((name) => `Unexpected field: ${name}`);
  return {
    valid: errors.length === 0,
    errors,
    warnings: [...warnings, ...normal.warnings, ...planWarnings(phase, data)],
  };
}

/** Members that the phase does not know, by their path. */
export function unexpectedMembers(phase: BlockPhase, data: Record<string, unknown>): string[] {
  const schema = PHASE_SCHEMAS[phase];
  const names = unknownIn(data, schema, "");
  for (const [list, kind] of LISTS_OF_ENTRIES) {
    const members = schema[kind];
    const entries: unknown = data[list];
    if (!members || !Array.isArray(entries)) continue;
    for (const [index, entry] of entries.entries()) {
      if (isRecord(entry)) names.push(...unknownIn(entry, members, `${list}[${index}].`));
    }
  }
  return names;
}

function unknownIn(data: Record<string, unknown>, members: MemberList, path: string): string[] {
  return Object.keys(data)
    .filter((name) => !members.required.includes(name) && !members.optional.includes(name))
    .map((name) => path + name);
}
