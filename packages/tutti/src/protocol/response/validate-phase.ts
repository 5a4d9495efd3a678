import type { BlockPhase } from "../../schema/answer.ts";
import { answerIssues } from "./check-answer.ts";
import { explainIssue, isMissing } from "./explain-answer.ts";
import { isRecord } from "../json/json-value.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { ENTRIES, isBlockPhase, PHASE_SCHEMAS, type MemberList } from "./phase-schemas.ts";
import { planWarnings } from "./plan-warnings.ts";
import { pathText } from "../../explain-issue.ts";

export interface PhaseValidation {
  valid: boolean;
  errors: string[];
  warnings: string[];
}

export function validatePhase(phase: string, data: unknown): PhaseValidation {
  if (!isBlockPhase(phase)) return { valid: false, errors: [`Unknown phase: ${phase}`], warnings: [] };
  if (!isRecord(data)) return { valid: false, errors: ["Data must be an object"], warnings: [] };
  const normal = normaliseAnswer(phase, data);
  const errors = answerIssues(phase, normal.data).map((issue) =>
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

/** `unexpectedMembers` are the paths of members that are not in the schema of the phase. */
export function unexpectedMembers(phase: BlockPhase, data: Record<string, unknown>): string[] {
  const names = unknownIn(data, PHASE_SCHEMAS[phase]);
  const { list, members } = ENTRIES[phase] ?? {};
  const entries: unknown = list === undefined ? undefined : data[list];
  if (!members || !Array.isArray(entries)) return names;
  for (const [index, entry] of entries.entries()) {
    if (!isRecord(entry)) continue;
    for (const name of unknownIn(entry, members)) names.push(`${list}[${index}].${name}`);
  }
  return names;
}

function unknownIn(data: Record<string, unknown>, { required, optional }: MemberList): string[] {
  const names: string[] = [];
  for (const name in data) if (!required.includes(name) && !optional.includes(name)) names.push(name);
  return names;
}
