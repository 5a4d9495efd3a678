// `checkRaw` checks one template file by itself. Missing members are fine, because a parent can provide them. Members
// that exist must be part of the schema and have the right form.
import { explainIssue, flattenIssues, isMissing } from "./explain-issue.ts";
import { isObject, findUnsafe, quotePath, type RawTemplate } from "../raw-template.ts";
import { valueAt } from "../../explain-issue.ts";
import { ANSWER_PHASE } from "../../schema/status.ts";
import { Template } from "../../schema/template.ts";

/** `ANSWER_OF_PROMPT` is the phase that the answer to each prompt must name. */
const ANSWER_OF_PROMPT = {
  analysis: ANSWER_PHASE.analysis,
  taskPlanning: ANSWER_PHASE.taskPlanning,
  worker: ANSWER_PHASE.workerExecution,
  aggregation: ANSWER_PHASE.aggregation,
  verification: ANSWER_PHASE.verification,
} as const;
export type PromptName = keyof typeof ANSWER_OF_PROMPT;
export const PROMPT_NAMES = Object.keys(ANSWER_OF_PROMPT) as PromptName[];

/** The file is named after the id, and file systems limit the length of names, hence `MAX_ID_LENGTH`. */
const MAX_ID_LENGTH = 100;
const MAX_ERRORS = 50;

export type RawCheck = { raw: RawTemplate } | { errors: string[] };

export function checkRaw(value: unknown): RawCheck {
  if (!isObject(value)) return { errors: ["A template must be a JSON object."] };
  const unsafe = findUnsafe(value);
  if (unsafe.length > 0) return { errors: firstOf(unsafe) };
  const errors = [...checkShape(value), ...checkId(value), ...checkPhaseNames(value)];
  return errors.length > 0 ? { errors: firstOf(errors) } : { raw: value };
}

/** A file of one megabyte can contain more errors than a user can read, hence `MAX_ERRORS`. */
function firstOf(errors: readonly string[]): string[] {
  const rest = errors.length - MAX_ERRORS;
  return rest > 0 ? [...errors.slice(0, MAX_ERRORS), `There are ${rest} more problems.`] : [...errors];
}

function checkShape(raw: RawTemplate): string[] {
  const parsed = Template.safeParse(raw);
  if (parsed.success) return [];
  return flattenIssues(parsed.error.issues)
    .filter((issue) => !isMissing(issue, raw) || ["id", "name"].includes(issue.path.join(".")))
    .map((issue) => explainIssue(issue, raw));
}

function checkId({ id }: RawTemplate): string[] {
  if (typeof id !== "string" || id.length <= MAX_ID_LENGTH) return [];
  return [`"id" must be at most ${MAX_ID_LENGTH} characters long; it has ${id.length}.`];
}

function checkPhaseNames(raw: RawTemplate): string[] {
  return PROMPT_NAMES.flatMap((name) => {
    const path = ["prompts", name, "format", "phase"];
    const phase = valueAt(raw, path);
    if (typeof phase !== "string" || phase === ANSWER_OF_PROMPT[name]) return [];
    const expected = JSON.stringify(ANSWER_OF_PROMPT[name]);
    return [`${quotePath(path)} must be ${expected}, the name of this phase's answer; it is ${JSON.stringify(phase)}.`];
  });
}
