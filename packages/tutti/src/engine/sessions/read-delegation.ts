// `readDelegation` reads the messages of document 002 from the text of a turn: `new_task`, `attempt_completion`, and
// the verdict of a parent.
import { MAX_BODY_CHARACTERS, MAX_MESSAGES, type MessageReading } from "./read-messages.ts";
import type { TurnRecord } from "./turn-record.ts";
import { delegationKind, readDelegationMessage } from "../../protocol/delegation/delegation-message.ts";
import { READ_LENIENTLY } from "../../protocol/response/profile.ts";
import { judgeReport } from "../../protocol/delegation/judge-report.ts";
import { projectPath } from "../../protocol/delegation/project-memory.ts";
import { findMessages, unwrap } from "../../protocol/messages/find-messages.ts";
import type { ReadMessage } from "../../run/command.ts";
import { returnedTo, speaksDelegation, textOf, type Body } from "../../run/team/delegation.ts";
import { protocolOf } from "../../run/team/team.ts";
import type { Answer } from "../../schema/answer.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import type { Worker } from "../../schema/worker.ts";

/** `MAX_NAME` leaves room for a number in an id. */
const MAX_NAME = 90;
const VERDICTS = new Set(["TASK_APPROVAL", "TASK_REJECTION"]);

/** Returns null if the role of the task does not speak `delegation` and has not used `new_task`. */
export function readDelegation(run: Run, worker: Worker, record: TurnRecord, prompt: string): MessageReading | null {
  if (!speaksDelegation(run, worker)) return readDelegationByTool(run, worker, record);
  const messages = readTexts(run, worker, record, prompt);
  const report = messages.findLast(
    ({ type, body, reasons }) =>
      type === "attempt_completion" && reasons.length === 0 && body["taskId"] === worker.taskId,
  );
  const delegates = messages.some(({ type, reasons }) => type === "new_task" && reasons.length === 0);
  const answer = report && !delegates ? answerOf(report.body, worker.taskId) : null;
  const reasons = messages.flatMap((message) => message.reasons);
  const missing = `The answer contains no attempt_completion message for ${worker.taskId}.`;
  return { messages, answer, delegates, problems: answer ? [] : reasons.length > 0 ? reasons : [missing] };
}

/**
 * A worker with the protocol `response` delegates with a tool (`record.calls`). Its block answers the task that
 * returned.
 */
function readDelegationByTool(run: Run, worker: Worker, record: TurnRecord): MessageReading | null {
  if (protocolOf(run, worker.task) !== "response" || (record.calls.length === 0 && !worker.duty)) return null;
  const messages = readCalls(run, worker, record);
  return { messages, answer: null, delegates: messages.some(({ reasons }) => reasons.length === 0), problems: [] };
}

/** Adds the `attempt_completion` that the block of a delegating worker stands for. */
export function withOwnReport(run: Run, worker: Worker, messages: ReadMessage[], answer: Answer | null): ReadMessage[] {
  const { taskId, duty } = worker;
  const isReport = ({ type, body }: ReadMessage): boolean => type === "attempt_completion" && body["taskId"] === taskId;
  if (!duty && !speaksDelegation(run, worker)) return messages;
  if (answer?.phase !== "completion" || messages.some(isReport)) return messages;
  const { status, summary, error, output_files: files = [] } = answer.data;
  const result = status === "failed" || status === "timeout" ? "failure" : "success";
  const outputArtifacts = files.map((path) => ({ type: "file", path }));
  const body = { taskId, result, summary: summary ?? error ?? "", outputArtifacts, issues_encountered: [] };
  return [...messages, { type: "attempt_completion", body, exact: true, reasons: [], faults: [] }];
}

export const readMainDelegation = (run: Run, record: TurnRecord, prompt: string): ReadMessage[] =>
  readTexts(run, null, record, prompt);

function readTexts(run: Run, worker: Worker | null, record: TurnRecord, prompt: string): ReadMessage[] {
  const found = findMessages(record.wholeText, prompt, "delegation").slice(0, MAX_MESSAGES);
  const written = found.map(({ body, exact }) => {
    const unreadable = { type: "UNREADABLE", body: {}, exact: false, faults: [] };
    if (body === null) return { ...unreadable, reasons: ["A message is not valid JSON."] };
    if (JSON.stringify(body).length > MAX_BODY_CHARACTERS)
      return { ...unreadable, reasons: [`A message is longer than ${MAX_BODY_CHARACTERS} characters.`] };
    return read(run, worker, unwrap(body), exact && !record.isCut);
  });
  return [...written, ...readCalls(run, worker, record)];
}

/** A task without an id is named after its parent (`nextId`). */
function readCalls(run: Run, worker: Worker | null, { calls }: TurnRecord): ReadMessage[] {
  const taken = new Set([...run.tasks.map(({ id }) => id), ...calls.map(({ taskId }) => taskId)]);
  const name = worker?.taskId.slice(0, MAX_NAME) ?? "task";
  let number = 0;
  const nextId = (): string => {
    do number++;
    while (taken.has(`${name}-${number}`));
    return `${name}-${number}`;
  };
  return calls.map((body) => read(run, worker, { taskId: nextId(), ...body }, true));
}

function read(run: Run, worker: Worker | null, body: Body, exact: boolean): ReadMessage {
  const returned = returnedTo(run, worker?.taskId ?? null);
  const type = textOf(body["message_type"]);
  if (type !== "" && delegationKind(body) === undefined) {
    const isOfParent = VERDICTS.has(type) && returned !== null;
    const about = body["task_id"] ?? returned?.taskId;
    const reasons = [
      ...(isOfParent ? [] : [`${type} has no effect here. Answer with new_task or attempt_completion.`]),
      ...(!isOfParent || about === returned.taskId
        ? []
        : [`${type} is about ${JSON.stringify(about)}, not ${returned.taskId}.`]),
    ];
    return { type: type.slice(0, 100), body, exact, reasons, faults: [] };
  }
  const kind = delegationKind(body)!;
  const { message, problems } = readDelegationMessage(body, READ_LENIENTLY);
  const invalid = message === null ? problems.filter(({ severity }) => severity === "error") : [];
  const reasons = invalid.map(({ sentence }) => sentence);
  const known: Body = { ...(message ?? body) };
  // The log has the time of arrival, so `receivedAt` is no information.
  if (known["timestamp"] === READ_LENIENTLY.receivedAt) delete known["timestamp"];
  if (kind === "attempt_completion" && worker && message !== null) {
    const isOwn = known["taskId"] === worker.taskId || known["taskId"] === returned?.taskId;
    if (!isOwn)
      reasons.push(`The report is about ${JSON.stringify(known["taskId"])}, but your task is ${worker.taskId}.`);
    // `takeWork` checks in the workspace whether the expected outputs exist.
    if (known["result"] === "success")
      reasons.push(...judgeReport({ ...known, taskId: "", result: "success" }, { taskId: "" }).reasons);
    if (!RESULTS.has(textOf(known["result"])))
      reasons.push(`The result ${JSON.stringify(known["result"])} is unknown.`);
  }
  return { type: kind, body: known, exact, reasons, faults: [] };
}

const RESULTS = new Set([
  "success",
  "failure",
  "clarification_needed",
  "conflict_detected",
  // A parent answers a question with this result.
  "clarification_provided",
]);

/** Returns null for a report with another `result`, which needs an answer of the parent first. */
function answerOf(body: Body, taskId: string): Answer | null {
  const summary = textOf(body["summary"]);
  const files = Array.isArray(body["outputArtifacts"]) ? (body["outputArtifacts"] as Body[]) : [];
  const paths = files.map(({ path }) => textOf(path)).filter((path) => path !== "");
  const data = { task_id: taskId, summary, ...(paths.length > 0 ? { output_files: paths } : {}), output: body };
  if (body["result"] === "success") return { phase: "completion", data: { ...data, status: "success" } };
  if (body["result"] === "failure") return { phase: "completion", data: { ...data, status: "failed", error: summary } };
  return null;
}

/** Paths that the parent of a delegated task expects. `projectPath` drops those outside the project. */
export function expectedOutputs({ delegation }: Task): string[] {
  const expected = delegation?.message["expectedOutputs"];
  const listed = Array.isArray(expected) ? (expected as Body[]) : [];
  return listed.map(({ path }) => projectPath(textOf(path)) ?? "").filter((path) => path !== "");
}
