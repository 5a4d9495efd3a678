import { expectedForm, pathText, preview, valueAt, type SchemaIssue } from "../../explain-issue.ts";
import { sentence } from "../../sentence.ts";

export function explainIssue(issue: SchemaIssue, data: unknown): string {
  const path = pathText(["data", ...issue.path]);
  const form = expectedForm(issue);
  if (isMissing(issue, data)) return sentence('"{path}" is missing; it must be {form}.', { path, form });
  const value = preview(valueAt(data, issue.path));
  return sentence('"{path}" must be {form}; it is {value}.', { path, form, value });
}

/** Counts null as missing. */
export function isMissing(issue: SchemaIssue, data: unknown): boolean {
  return (valueAt(data, issue.path) ?? null) === null;
}
