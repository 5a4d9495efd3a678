import { expectedForm, preview, valueAt, type SchemaIssue } from "../../explain-issue.ts";
import { quotePath } from "../raw-template.ts";

/** Replaces issues of a union by those of one alternative, so that every issue has the path of the wrong value. */
export function flattenIssues(issues: readonly SchemaIssue[]): SchemaIssue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    // `intended` is the alternative with issues inside the value.
    const intended = issue.errors.find((errors) => errors.some((inner) => isInside(inner)));
    if (!intended) return [issue];
    return flattenIssues(intended.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })));
  });
}

const isInside = (issue: SchemaIssue): boolean => issue.path.length > 0 || issue.code === "unrecognized_keys";

export const isMissing = (issue: SchemaIssue, value: unknown): boolean => valueAt(value, issue.path) === undefined;

export function explainIssue(issue: SchemaIssue, value: unknown): string {
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => JSON.stringify(key)).join(", ");
    const owner = issue.path.length === 0 ? "A template" : quotePath(issue.path);
    return `${owner} has no member ${names}.`;
  }
  const where = issue.path.length === 0 ? "A template" : quotePath(issue.path);
  if (issue.code === "custom") return `${where} is not valid: ${issue.message}.`;
  if (issue.code === "invalid_key") return `${where} is not a variable name; use only capital letters, digits and "_".`;
  if (isMissing(issue, value)) return `${where} is missing; it must be ${expectedForm(issue)}.`;
  return `${where} must be ${expectedForm(issue)}; it is ${preview(valueAt(value, issue.path))}.${reason(issue)}`;
}

function reason(issue: SchemaIssue): string {
  const isResponseType = issue.path.join(".") === "prompts.responseFormat.type";
  return isResponseType ? " Tutti only reads answers in JSON." : "";
}
