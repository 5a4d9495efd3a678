// Whether the data of a phase can be used. Most of it can, and for that the generated check is enough; the schema is
// asked only when it says no, because only the schema can say why.
import type { z } from "zod";
import { ANSWERS } from "../schema/answer.ts";
import type { BlockPhase } from "../schema/answer.ts";
import { ANSWER_CHECKS } from "./answer-checks.generated.ts";

const NO_ISSUES: readonly z.core.$ZodIssue[] = [];

/** What is wrong with JSON data of a phase; nothing if it can be used. The data is never changed. */
export function answerIssues(phase: BlockPhase, data: unknown): readonly z.core.$ZodIssue[] {
  if (ANSWER_CHECKS[phase](data)) return NO_ISSUES;
  return ANSWERS[phase].safeParse(data).error?.issues ?? NO_ISSUES;
}
