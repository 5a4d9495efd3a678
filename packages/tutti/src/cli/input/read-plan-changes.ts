import { parseCommentedJson } from "./commented-json.ts";
import { expectedForm, pathText } from "../../explain-issue.ts";
import { TuttiError } from "../../schema/error.ts";
import { ChangedPlan } from "../../schema/plan-changes.ts";

export interface PlanMistake {
  line: number;
  problem: string;
}

/** `lineOf` returns the line of a task id, so that an error of the plan as a whole can name it. */
export function readPlanChanges(
  text: string,
): { changes: ChangedPlan; lineOf: (taskId: string) => number } | { mistakes: PlanMistake[] } {
  try {
    const { value, lineOf } = parseCommentedJson(text);
    const parsed = ChangedPlan.safeParse(value);
    if (parsed.success) return { changes: parsed.data, lineOf: (taskId) => lineOf(["modifications", taskId]) };
    return {
      mistakes: parsed.error.issues.flatMap((issue) => {
        if (issue.code === "unrecognized_keys")
          return issue.keys.map((key) => ({
            line: lineOf([...issue.path, key]),
            problem: `"${key}" is not a member of ${pathText(issue.path) || "the changes"}. Remove it.`,
          }));
        const problem = `${pathText(issue.path) || "the file"} must be ${expectedForm(issue)}`;
        return [{ line: lineOf(issue.path), problem }];
      }),
    };
  } catch (error) {
    if (error instanceof TuttiError && error.code === "invalid_input")
      return { mistakes: [error.details as PlanMistake] };
    throw error;
  }
}

export const describeMistake = ({ line, problem }: PlanMistake): string => `line ${line}: ${problem}`;
