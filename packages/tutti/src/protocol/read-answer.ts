// Data of a phase that did not come in a block: supplied by a person, and judged as strictly as an agent's.
import { answerIssues } from "./check-answer.ts";
import { explainIssue } from "./explain-issues.ts";
import { isRecord, withoutProto } from "./json-value.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import type { Answer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import type { AnswerPhase } from "../schema/status.ts";

export function readAnswer(phase: AnswerPhase, value: unknown): Answer {
  if (!isRecord(value)) throw new TuttiError("invalid_input", `the data of ${phase} is an object`);
  // An agent's data comes from the tolerant reader without such a member; this has come another way.
  const own = structuredClone(value);
  withoutProto(own, "__proto__");
  const { data } = normaliseAnswer(phase, own);
  const issues = answerIssues(phase, data);
  if (issues.length === 0) return { phase, data } as Answer;
  const problems = issues.map((issue) => explainIssue(issue, data));
  throw new TuttiError("invalid_input", `the data of ${phase} cannot be used: ${problems.join(" ")}`, {
    details: problems,
  });
}
