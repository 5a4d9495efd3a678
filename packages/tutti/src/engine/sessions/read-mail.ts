import { MAX_BODY_CHARACTERS, MAX_MESSAGES, type MessageReading } from "./read-messages.ts";
import { isMailboxReport, readMailboxMessage } from "../../protocol/mailbox/mailbox-message.ts";
import { READ_LENIENTLY } from "../../protocol/response/profile.ts";
import type { MailboxReport } from "../../protocol/mailbox/mailbox-schema.ts";
import type { ReadMessage } from "../../run/command.ts";
import type { Answer } from "../../schema/answer.ts";
import type { Worker } from "../../schema/worker.ts";

export function readMail(worker: Worker, entries: readonly unknown[]): MessageReading {
  const read = entries.slice(-MAX_MESSAGES).map((entry) => readEntry(worker, entry));
  const messages = read.map(({ message }) => message);
  const report = read.findLast(({ message }) => message.reasons.length === 0)?.report;
  if (report) return { messages, answer: answerOf(worker, report), problems: [] };
  const reasons = messages.flatMap((message) => message.reasons);
  const missing = `The mailbox has no completion_report for ${worker.taskId}.`;
  return { messages, answer: null, problems: reasons.length > 0 ? reasons : [missing] };
}

function readEntry({ task }: Worker, entry: unknown): { message: ReadMessage; report?: MailboxReport } {
  const unreadable = { type: "UNREADABLE", body: {}, exact: false, faults: [] };
  if (JSON.stringify(entry).length > MAX_BODY_CHARACTERS)
    return { message: { ...unreadable, reasons: [`A message is longer than ${MAX_BODY_CHARACTERS} characters.`] } };
  const { message, problems } = readMailboxMessage(entry, READ_LENIENTLY);
  const body = entry as Record<string, unknown>;
  if (message === null) {
    const errors = problems.filter(({ severity }) => severity === "error").map(({ sentence }) => sentence);
    return { message: { ...unreadable, body, reasons: errors } };
  }
  const about = { type: message.type.slice(0, 100), body, exact: true };
  if (!isMailboxReport(message))
    return { message: { ...about, reasons: [`${task.role} may not send ${about.type}.`], faults: [] } };
  return { message: { ...about, reasons: [], faults: faultsIn(message) }, report: message };
}

/** A failed build is sent back without a review. A report with another `buildResult` is left to the lead. */
function faultsIn({ buildResult }: MailboxReport): string[] {
  if (buildResult?.status === undefined) return ['The report has no "buildResult.status".'];
  if (buildResult.status !== "failed") return [];
  const { command = "the build", errors, output = "" } = buildResult;
  const count = errors === undefined ? "" : ` with ${errors} errors`;
  return [`The build failed: ${command}${count}. ${output}`.trim()];
}

function answerOf({ taskId }: Worker, { summary, filesCreated = [], filesModified = [] }: MailboxReport): Answer {
  const data = {
    task_id: taskId,
    status: "success" as const,
    ...(summary === undefined ? {} : { summary }),
    output_files: [...filesCreated, ...filesModified],
  };
  return { phase: "completion", data };
}
