// Turns schema issues of a template into sentences that name the path and the expected value.
import type { z } from "zod";
import { quotePath, valueAt } from "../raw-template.ts";

type Issue = z.core.$ZodIssue;

/** Replaces issues of a union by those of one alternative, so that every issue has the path of the wrong value. */
export function flattenIssues(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    // The intended alternative is the one with issues inside the value.
    const intended = issue.errors.find((errors) => errors.some((inner) => isInside(inner)));
    if (!intended) return [issue];
    return flattenIssues(intended.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })));
  });
}

const isInside = (issue: Issue): boolean => issue.path.length > 0 || issue.code === "unrecognized_keys";

export const isMissing = (issue: Issue, value: unknown): boolean => valueAt(value, issue.path) === undefined;

export function explainIssue(issue: Issue, value: unknown): string {
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

function expectedForm(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "null") return "null";
      return /^[aeiou]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return "a non-empty string";
      return `${issue.inclusive === false ? "more than" : "at least"} ${amount(issue.minimum, issue.origin)}`;
    case "too_big":
      return `at most ${amount(issue.maximum, issue.origin)}`;
    case "invalid_format":
      return `a string of the form ${issue.pattern ?? issue.format}`;
    case "invalid_union":
      return issue.errors.map((errors) => errors.map(expectedForm).join(" and ")).join(" or ");
    default:
      return `valid (${issue.message})`;
  }
}

function amount(limit: number | bigint, origin: string): string {
  if (origin === "string") return `${limit} characters long`;
  return origin === "array" ? `${limit} entries long` : String(limit);
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? texts.join("") : `one of ${texts.join(", ")}`;
}

/** Explains why a value that the documents define is not supported. */
function reason(issue: Issue): string {
  const isResponseType = issue.path.join(".") === "prompts.responseFormat.type";
  return isResponseType ? " Tutti only reads answers in JSON." : "";
}

function preview(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value === null) return "null";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
