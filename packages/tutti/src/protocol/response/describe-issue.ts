import { explainIssue, isMissing } from "./explain-answer.ts";
import type { ProfileProblem, ProblemCode } from "./profile.ts";
import { pathText, type SchemaIssue } from "../../explain-issue.ts";

export function describeIssue(
  issue: SchemaIssue,
  value: unknown,
  severity: ProfileProblem["severity"],
): ProfileProblem {
  const path = pathText(issue.path);
  return { path, severity, code: codeOf(issue, value), sentence: sentenceOf(issue, value, path) };
}

function codeOf(issue: SchemaIssue, value: unknown): ProblemCode {
  if (isMissing(issue, value)) return "missing";
  if (issue.code === "invalid_value") return "off_list";
  if (issue.code === "invalid_format") return "bad_format";
  if (issue.code === "too_small") return "empty";
  return "wrong_type";
}

function sentenceOf(issue: SchemaIssue, value: unknown, path: string): string {
  if (!isMissing(issue, value)) {
    if (issue.code === "invalid_format") return `"${path}" must be a timestamp such as 2024-01-01T00:00:00.000Z.`;
    if (issue.code === "too_small" && issue.origin === "array") {
      return `"${path}" must have at least ${issue.minimum} entries.`;
    }
    if (issue.code === "too_small" && issue.minimum === 1) return `"${path}" must not be empty.`;
  }
  // `explainIssue` prefixes paths with `data`, a member that only the delimited response has.
  return explainIssue(issue, value).replace(/^"data\.?/, '"');
}
