import type { Run } from "../schema/run.ts";

/** Joins the problems of an answer for people. The sentences for the agent also name the delimiters of its blocks. */
export function describeProblems(problems: readonly string[], run: Run | null, separator = " "): string {
  const { delimiterStart, delimiterEnd } = run?.template.prompts.responseFormat ?? {};
  return problems.join(separator).replaceAll(` between ${delimiterStart} and ${delimiterEnd}`, "");
}
