// Turns schema issues into sentences that an agent or a user can act on.
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

export function explainIssue(issue: Issue, data: unknown): string {
  const where = `"${pathText(["data", ...issue.path])}"`;
  const expected = expectedText(issue);
  if (isMissing(issue, data)) return `${where} is missing; it must be ${expected}.`;
  return `${where} must be ${expected}; it is ${preview(valueAt(data, issue.path))}.`;
}

/** Null counts as missing. */
export function isMissing(issue: Issue, data: unknown): boolean {
  return (valueAt(data, issue.path) ?? null) === null;
}

/** Formats a path as in a program: `tasks[2].title`. */
export function pathText(path: readonly PropertyKey[]): string {
  const texts = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return texts.join("").replace(/^\./, "");
}

function expectedText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return /^[aeiou]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_small":
      return `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    case "invalid_union":
      return issue.errors
        .flat()
        .map((inner) => expectedText(inner))
        .join(" or ");
    default:
      return `valid (${issue.message})`;
  }
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? texts.join("") : `one of ${texts.join(", ")}`;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Truncates long values, because the sentence goes into a prompt. */
function preview(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
