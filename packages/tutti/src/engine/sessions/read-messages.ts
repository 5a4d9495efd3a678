// `readMessages` reads the messages of a role from the text of its turn, `readToolReport` from its calls of tools.
import type { TurnRecord } from "./turn-record.ts";
import { isRecord } from "../../protocol/json/json-value.ts";
import { READ_LENIENTLY } from "../../protocol/response/profile.ts";
import { checkSender, type MessageSender } from "../../protocol/messages/check-sender.ts";
import { findMessages } from "../../protocol/messages/find-messages.ts";
import { judgeCompletion } from "../../protocol/messages/judge-completion.ts";
import { readAgentMessage } from "../../protocol/messages/agent-message.ts";
import type { AgentMessage, TaskCompletion } from "../../protocol/messages/message-reading.ts";
import type { ReadMessage } from "../../run/command.ts";
import { isReview } from "../../run/team/gate.ts";
import { dutyOf } from "../../run/team/lead-duty.ts";
import { leadOfRun, protocolOf, roleOf } from "../../run/team/team.ts";
import type { Answer, CompletionAnswer } from "../../schema/answer.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

export const MAX_MESSAGES = 50;
export const MAX_BODY_CHARACTERS = 100_000;

export interface MessageReading {
  messages: ReadMessage[];
  /** The last valid completion among `messages`. */
  answer: Answer | null;
  /** Why `answer` is null. */
  problems: string[];
  /** Whether the turn delegates tasks. Then its work so far is committed for them. */
  delegates?: boolean;
}

/** Returns null if the role of the task does not speak `messages`. */
export function readMessages(run: Run, worker: Worker, record: TurnRecord, prompt: string): MessageReading | null {
  const role = roleOf(run, worker.task);
  if (role?.protocol !== "messages") return null;
  const sender = {
    names: [worker.task.role!, ...role.aliases],
    isLead: false,
    isAuditor: isReview(run, worker.task),
    taskId: worker.taskId,
  };
  const found = findMessages(record.wholeText, prompt);
  const isWhole = !record.isCut && found.length <= MAX_MESSAGES;
  const messages = found.slice(0, MAX_MESSAGES).map(({ body, exact }) => read(body, exact && isWhole, sender, worker));
  const completion = messages.findLast(({ type, reasons }) => type === "TASK_COMPLETION" && reasons.length === 0);
  if (completion) return { messages, answer: answerOf(completion.body, worker.taskId), problems: [] };
  const reasons = messages.flatMap((message) => message.reasons);
  const missing = `The answer contains no TASK_COMPLETION message for ${worker.taskId}.`;
  return { messages, answer: null, problems: reasons.length > 0 ? reasons : [missing] };
}

interface JudgedReports {
  answer: Answer | null;
  problems: string[];
}

/**
 * Makes the messages of a role with the protocol `tools` from its calls; nothing in its text counts. Returns null for a
 * role with another protocol. The answer is that of the turn's `reports`.
 */
export function readToolReport(
  run: Run,
  worker: Worker,
  { blocker, reports }: TurnRecord,
  { answer, problems }: JudgedReports,
): MessageReading | null {
  if (protocolOf(run, worker.task) !== "tools") return null;
  const escalated = blocker === null ? [] : [sent("BLOCKER_ESCALATION", worker, blocker)];
  if (answer?.phase === "completion") {
    const { status } = answer.data;
    const isClaimed = status === "success" || status === "partial";
    return {
      messages: [...escalated, ...(isClaimed ? [completionOf(worker, answer.data)] : [])],
      answer,
      problems: [],
    };
  }
  const missing = `${worker.taskId} was not reported with the tool attempt_completion. The text of an answer is not read.`;
  return { messages: escalated, answer: null, problems: reports.length > 0 ? problems : [missing] };
}

function completionOf(worker: Worker, { summary, output_files: files = [], validation, status }: CompletionAnswer) {
  const claimed = { all_passed: status === "success", issues: [] };
  const about = { status: "completed", output: { files, summary: summary ?? "" }, validation: validation ?? claimed };
  const message = sent("TASK_COMPLETION", worker, about);
  return { ...message, faults: faultsIn(message.body as TaskCompletion, worker) };
}

/** The session identifies the sender, so the names in `body` are those of its task. */
const sent = (type: string, { taskId, task }: Worker, body: Record<string, unknown>): ReadMessage => ({
  type,
  body: { ...body, message_type: type, task_id: taskId, from_agent: task.role },
  exact: true,
  reasons: [],
  faults: [],
});

/** Reads the verdict of the main session about `duty.worker`, which waits for it. */
export function readLeadMessages(run: Run, record: TurnRecord, prompt: string): ReadMessage[] {
  const duty = dutyOf(run);
  if (duty === null) return [];
  const lead = leadOfRun(run)!;
  const role = roleOf(run, { role: lead });
  const sender = {
    names: [lead, ...(role?.aliases ?? [])],
    isLead: true,
    isAuditor: false,
    taskId: duty.worker.taskId,
  };
  const found = findMessages(record.wholeText, prompt).slice(0, MAX_MESSAGES);
  return found.map(({ body, exact }) =>
    read(asVerdict(body, sender.taskId), exact && !record.isCut, sender, duty.worker),
  );
}

/** Document 001 calls the verdict a `review_result`. Only `approved: true` approves. */
function asVerdict(body: FoundBody, task: string): FoundBody {
  const result = body?.["review_result"];
  if (!isRecord(result)) return body;
  const { taskId = task, approved, reason } = result;
  const about = { task_id: taskId, ...(reason === undefined ? {} : { reason }) };
  return { message_type: approved === true ? "TASK_APPROVAL" : "TASK_REJECTION", ...about };
}

function read(body: FoundBody, exact: boolean, sender: MessageSender, worker: Worker): ReadMessage {
  const unreadable = { type: "UNREADABLE", body: {}, exact: false, faults: [] };
  if (body === null) return { ...unreadable, reasons: ["A message is not valid JSON."] };
  if (JSON.stringify(body).length > MAX_BODY_CHARACTERS)
    return { ...unreadable, reasons: [`A message is longer than ${MAX_BODY_CHARACTERS} characters.`] };
  if (body["message_type"] === "TASK_APPROVAL")
    return { type: "TASK_APPROVAL", body, exact, reasons: checkSender(body, sender), faults: [] };
  const { message, problems } = readAgentMessage(body, READ_LENIENTLY);
  const invalid = message === null ? problems.filter(({ severity }) => severity === "error") : [];
  const { message_type: named = "review_result" } = body as { message_type?: string };
  const type = message?.message_type ?? named.slice(0, 100);
  const reasons = [...invalid.map(({ sentence }) => sentence), ...checkSender({ ...body, message_type: type }, sender)];
  const faults = message && isCompletion(message) ? faultsIn(message, worker) : [];
  return { type, body, exact, reasons, faults };
}

type FoundBody = Record<string, unknown> | null;

const isCompletion = (message: AgentMessage): message is TaskCompletion => message.message_type === "TASK_COMPLETION";

/**
 * A completion that does not claim to meet every criterion (`all_passed`), or whose `acceptance_criteria_met` has another
 * length than the criteria of the task, is sent back. The lead judges whether the claim is true.
 */
function faultsIn(completion: TaskCompletion, { taskId, task }: Worker): string[] {
  const { validation } = completion;
  const criteria = task.acceptanceCriteria ?? [];
  const met = validation?.acceptance_criteria_met;
  const isMismatch = met !== undefined && criteria.length > 0 && met.length !== criteria.length;
  if (validation?.all_passed === true && !met?.includes(false) && !isMismatch) return [];
  const assignment = { task_id: taskId, acceptance_criteria: criteria };
  return judgeCompletion({ ...completion, task_id: taskId }, assignment).reasons;
}

function answerOf(body: Record<string, unknown>, taskId: string): Answer {
  const output = (typeof body["output"] === "object" && body["output"] !== null ? body["output"] : {}) as Members;
  const { files, summary } = output;
  const data = {
    task_id: taskId,
    status: "success" as const,
    ...(typeof summary === "string" ? { summary } : {}),
    ...(Array.isArray(files) ? { output_files: files.filter((file) => typeof file === "string") } : {}),
    output,
  };
  return { phase: "completion", data };
}

type Members = Record<string, unknown>;
