// `readAnswer` gets phase data that a user supplies, and checks it as strictly as the block of an agent.
import { answerIssues } from "./check-answer.ts";
import { explainIssue } from "./explain-answer.ts";
import { isRecord, withoutProto } from "../json/json-value.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import type { Answer } from "../../schema/answer.ts";
import { TuttiError } from "../../schema/error.ts";
import type { AnswerPhase } from "../../schema/status.ts";

export function readAnswer(phase: AnswerPhase, value: unknown): Answer {
  if (!isRecord(value))
    throw new TuttiError("invalid_input", `The data of phase "${phase}" is not an object. Supply a JSON object.`);
  // `readTolerantly` removes `__proto__` from an agent's data; this data did not pass through it.
  const copy = structuredClone(value);
  withoutProto(copy, "__proto__");
  const { data } = normaliseAnswer(phase, copy);
  const issues = answerIssues(phase, data);
  if (issues.length === 0) return { phase, data } as Answer;
  const problems = issues.map((issue) => explainIssue(issue, data));
  throw new TuttiError(
    "invalid_input",
    `The data of phase "${phase}" is not valid. Correct these problems: ${problems.join(" ")}`,
    {
      details: problems,
    },
  );
}
