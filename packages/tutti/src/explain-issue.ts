// Turns issues of schemas into parts of sentences for users and agents.
import type { z } from "zod";

export type SchemaIssue = z.core.$ZodIssue;

/** Formats a path as in a program: `tasks[2].title`. */
export function pathText(path: readonly PropertyKey[]): string {
  const texts = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return texts.join("").replace(/^\./, "");
}

export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Completes the sentence "it must be …". */
export function expectedForm(issue: SchemaIssue): string {
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

/** Describes a wrong value. Truncated, because the sentence may go into a prompt. */
export function preview(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value === null) return "null";
  return typeof value === "object" ? "an object" : shortText(value);
}

/** JSON of at most about 80 characters. */
export function shortText(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
