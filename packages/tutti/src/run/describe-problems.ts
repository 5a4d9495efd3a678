import type { Run } from "../schema/run.ts";

/** For users. The sentences for the agent also name `delimiterStart` and `delimiterEnd`. */
export function describeProblems(problems: readonly string[], run: Run | null, separator = " "): string {
  const { delimiterStart, delimiterEnd } = run?.template.prompts.responseFormat ?? {};
  return problems.join(separator).replaceAll(` between ${delimiterStart} and ${delimiterEnd}`, "");
}
