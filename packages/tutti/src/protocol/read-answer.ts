// Data of a phase that did not come in a block: supplied by a person, and judged as strictly as an agent's.
import { explainIssue } from "./explain-issues.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { ANSWERS, type Answer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import type { AnswerPhase } from "../schema/status.ts";

export function readAnswer(phase: AnswerPhase, value: unknown): Answer {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TuttiError("invalid_input", `the data of ${phase} is an object`);
  }
  const { data } = normaliseAnswer(phase, value as Record<string, unknown>);
  const checked = ANSWERS[phase].safeParse(data);
  if (checked.success) return { phase, data: checked.data } as Answer;
  const problems = checked.error.issues.map((issue) => explainIssue(issue, data));
  throw new TuttiError("invalid_input", `the data of ${phase} cannot be used: ${problems.join(" ")}`, {
    details: problems,
  });
}
