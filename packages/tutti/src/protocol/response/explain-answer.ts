import { expectedForm, pathText, preview, valueAt, type SchemaIssue } from "../../explain-issue.ts";

export function explainIssue(issue: SchemaIssue, data: unknown): string {
  const where = `"${pathText(["data", ...issue.path])}"`;
  const expected = expectedForm(issue);
  if (isMissing(issue, data)) return `${where} is missing; it must be ${expected}.`;
  return `${where} must be ${expected}; it is ${preview(valueAt(data, issue.path))}.`;
}

/** `isMissing` counts null as missing. */
export function isMissing(issue: SchemaIssue, data: unknown): boolean {
  return (valueAt(data, issue.path) ?? null) === null;
}
