// A `ResponseMessage` is the object of a delimited response (document 000), in the same form as messages of the other
// protocols. `ResponseScanner` finds the blocks in an agent's text.
import { ANSWERS, type BlockPhase } from "../../schema/answer.ts";
import { answerIssues } from "../response/check-answer.ts";
import { describeIssue } from "../response/describe-issue.ts";
import { isRecord } from "../json/json-value.ts";
import { normaliseAnswer } from "../response/normalise-answer.ts";
import { isBlockPhase } from "../response/phase-schemas.ts";
import { planWarnings } from "../response/plan-warnings.ts";
import { problem, type ProfileProblem, type ProfileReading, type ProfileOptions } from "../response/profile.ts";
import { whyUnreadable } from "../response/read-with-profile.ts";
import { unexpectedMembers } from "../response/validate-phase.ts";

interface ResponseMessage {
  phase: BlockPhase;
  data: Record<string, unknown>;
}

export function readResponseMessage(value: unknown, options: ProfileOptions): ProfileReading<ResponseMessage> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  const { phase, data } = value as { phase?: unknown; data?: unknown };
  if (typeof phase !== "string" || !isBlockPhase(phase)) {
    const names = Object.keys(ANSWERS).join(", ");
    const code = phase === undefined ? "missing" : "unknown_kind";
    return { message: null, problems: [problem("error", code, "phase", `"phase" must be one of ${names}.`)] };
  }
  if (!isRecord(data)) {
    return { message: null, problems: [problem("error", "wrong_type", "data", '"data" must be an object.')] };
  }
  return options.profile === "strict" ? readStrict(phase, data) : readLenient(phase, data, options.receivedAt);
}

/** Returns the message if document 000 allows it, otherwise the problems. */
export function writeResponseMessage(message: unknown): ProfileReading<ResponseMessage> {
  return readResponseMessage(message, { profile: "strict", receivedAt: "" });
}

function readStrict(phase: BlockPhase, data: Record<string, unknown>): ProfileReading<ResponseMessage> {
  const problems = [...schemaProblems(phase, data), ...oddities(phase, data)];
  return { message: problems.some(({ severity }) => severity === "error") ? null : { phase, data }, problems };
}

function readLenient(
  phase: BlockPhase,
  data: Record<string, unknown>,
  receivedAt: string,
): ProfileReading<ResponseMessage> {
  const normal = normaliseAnswer(phase, structuredClone(data));
  const problems: ProfileProblem[] = normal.warnings.map((text) =>
    problem("warning", "off_list", "data.status", `${text}.`),
  );
  if (normal.data.timestamp === undefined) {
    normal.data.timestamp = receivedAt;
    const sentence = `"data.timestamp" is missing; the time of arrival, ${receivedAt}, is used.`;
    problems.push(problem("warning", "stamped", "data.timestamp", sentence));
  }
  problems.push(...schemaProblems(phase, normal.data), ...oddities(phase, data));
  const isRejected = problems.some(({ severity }) => severity === "error");
  return { message: isRejected ? null : { phase, data: normal.data }, problems };
}

function schemaProblems(phase: BlockPhase, data: Record<string, unknown>): ProfileProblem[] {
  return answerIssues(phase, data).map((issue) =>
    describeIssue({ ...issue, path: ["data", ...issue.path] }, { data }, "error"),
  );
}

function oddities(phase: BlockPhase, data: Record<string, unknown>): ProfileProblem[] {
  const members = unexpectedMembers(phase, data).filter((name) => name !== "timestamp");
  return [
    ...members.map((name) =>
      problem("warning", "unknown_member", `data.${name}`, `"data.${name}" is not a member of this message.`),
    ),
    ...planWarnings(phase, data).map((text) => problem("warning", "mismatch", "data", `${text}.`)),
  ];
}
