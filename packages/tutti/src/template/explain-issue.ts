// What the schema found wrong with a template, as sentences that name the place and what would be right.
import type { z } from "zod";
import { quotePath, valueAt } from "./raw-template.ts";

type Issue = z.core.$ZodIssue;

/** Issues of a union are taken apart first, so that every issue has the path of the value that is wrong. */
export function flattenIssues(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    // The alternative that was meant is the one whose problems lie inside the value.
    const meant = issue.errors.find((errors) => errors.some((inner) => isInside(inner)));
    if (!meant) return [issue];
    return flattenIssues(meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })));
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
  if (issue.code === "custom") return `${where} is not right: ${issue.message}.`;
  if (issue.code === "invalid_key")
    return `${where} is not the name of a variable; such a name has capital letters, digits and "_" only.`;
  if (isMissing(issue, value)) return `${where} is missing; it must be ${wanted(issue)}.`;
  return `${where} must be ${wanted(issue)}; it is ${shown(valueAt(value, issue.path))}.${reason(issue)}`;
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "null") return "null";
      return /^[aeiou]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return "a text that is not empty";
      return `${issue.inclusive === false ? "more than" : "at least"} ${amount(issue.minimum, issue.origin)}`;
    case "too_big":
      return `at most ${amount(issue.maximum, issue.origin)}`;
    case "invalid_format":
      return `a text of the form ${issue.pattern ?? issue.format}`;
    case "invalid_union":
      return issue.errors.map((errors) => errors.map(wanted).join(" and ")).join(" or ");
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

/** Why a value that documents know is not taken. */
function reason(issue: Issue): string {
  const isResponseType = issue.path.join(".") === "prompts.responseFormat.type";
  return isResponseType ? " Answers in another form than JSON cannot be read." : "";
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value === null) return "null";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
