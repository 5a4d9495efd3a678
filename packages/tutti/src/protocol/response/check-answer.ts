// Checks the data of a phase. The generated check is fast and accepts most data. The schema runs only after a
// rejection, because only the schema can explain it.
import type { z } from "zod";
import { ANSWERS, type BlockPhase } from "../../schema/answer.ts";
import { ANSWER_CHECKS } from "./answer-checks.generated.ts";

const NO_ISSUES: readonly z.core.$ZodIssue[] = [];

/** Returns the schema issues of the data; empty if it is valid. Does not modify the data. */
export function answerIssues(phase: BlockPhase, data: unknown): readonly z.core.$ZodIssue[] {
  if (ANSWER_CHECKS[phase](data)) return NO_ISSUES;
  return ANSWERS[phase].safeParse(data).error?.issues ?? NO_ISSUES;
}
