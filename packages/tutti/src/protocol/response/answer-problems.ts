import { answerIssues } from "./check-answer.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { expectedForm, pathText, preview, valueAt } from "../../explain-issue.ts";
import type { BlockPhase } from "../../schema/answer.ts";

/** `answerProblems` make an answer unusable. Each has a path below `data`. Unknown states are problems too. */
export function answerProblems(phase: BlockPhase, given: Record<string, unknown>): { path: string; problem: string }[] {
  const { data: normal, warnings } = normaliseAnswer(phase, given);
  const data = warnings.length > 0 ? { ...normal, status: given["status"] } : normal;
  return answerIssues(phase, data).map((issue) => {
    const value = valueAt(data, issue.path) ?? null;
    const path = pathText(["data", ...issue.path]);
    const expected = expectedForm(issue);
    return {
      path,
      problem: value === null ? `is missing; it must be ${expected}` : `must be ${expected}; it is ${preview(value)}`,
    };
  });
}
