import type { z } from "zod";
import { ANSWERS, type BlockPhase } from "../../schema/answer.ts";
import { ANSWER_CHECKS } from "./answer-checks.generated.ts";

const NO_ISSUES: readonly z.core.$ZodIssue[] = [];

/** Empty if `data` is valid. The schema runs only to explain a rejection; `ANSWER_CHECKS` are much faster. */
export function answerIssues(phase: BlockPhase, data: unknown): readonly z.core.$ZodIssue[] {
  if (ANSWER_CHECKS[phase](data)) return NO_ISSUES;
  return ANSWERS[phase].safeParse(data).error?.issues ?? NO_ISSUES;
}
