import type { z } from "zod";
import { expectedForm, pathText, preview, valueAt, type SchemaIssue } from "../explain-issue.ts";

/** An invalid list of thousands of items has as many problems, so `MAX_PROBLEMS` are shown. */
const MAX_PROBLEMS = 20;

export interface ArgumentProblem {
  /** As in a program, for example `modifications.a.title`. Empty for the arguments as a whole. */
  path: string;
  problem: string;
}

export const explainArguments = ({ issues }: z.ZodError, input: unknown): ArgumentProblem[] =>
  issues.flatMap((issue) => explain(issue, input)).slice(0, MAX_PROBLEMS);

function explain(issue: SchemaIssue, input: unknown): ArgumentProblem[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), problem: "is not an argument" }));
  if (issue.code === "custom") return [{ path, problem: issue.message }];
  const value = valueAt(input, issue.path);
  if (value === undefined) return [{ path, problem: `is missing; it must be ${expectedForm(issue)}` }];
  return [{ path, problem: `must be ${expectedForm(issue)}; it is ${preview(value)}` }];
}

/** A model reads one line per problem and corrects its call. */
export const problemText = (tool: string, problems: readonly ArgumentProblem[]): string =>
  [
    `The arguments of ${tool} are invalid. Correct them and call the tool again:`,
    ...problems.map(({ path, problem }) => `- ${path === "" ? "the arguments" : path}: ${problem}`),
  ].join("\n");
