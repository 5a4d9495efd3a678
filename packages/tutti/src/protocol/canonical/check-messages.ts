// `checkMessages` checks each message by itself, and those of one task together. Problems between messages are
// warnings, because the messages themselves follow their protocol.
import { isAttemptCompletion, RESULTS_OF_OTHER_KINDS } from "../delegation/delegation-message.ts";
import type { AttemptCompletion, DelegationMessage, NewTask } from "../delegation/delegation-schema.ts";
import { judgeReport } from "../delegation/judge-report.ts";
import type { AgentMessage, TaskAssignment } from "../messages/message-reading.ts";
import { isRecord } from "../json/json-value.ts";
import { followTask, mayStart, type TaskThread } from "../messages/task-thread.ts";
import { problem, type ProfileOptions, type ProfileProblem, type ProfileReading } from "../response/profile.ts";
import { stamp } from "../response/read-with-profile.ts";
import type { Protocol } from "./protocol-name.ts";
import { readMessage } from "./read-message.ts";

export interface ListedMessage {
  /**
   * The position in the list or text, such as `messages[2]` or `block 1`, which precedes the path of each problem. Empty
   * for a message alone.
   */
  path: string;
  protocol: Protocol;
  value: unknown;
}

/** Unlike a `ProfileProblem`, may be about the text around a message, so `code` is any string. */
export type TextProblem = Omit<ProfileProblem, "code"> & { code: string };

interface Placed<M> {
  path: string;
  /** Number of readable messages of the protocol before this one. */
  at: number;
  message: M;
}

export function checkMessages(messages: readonly ListedMessage[], options: ProfileOptions): ProfileProblem[] {
  const problems: ProfileProblem[] = [];
  const readable: Record<Protocol, Placed<unknown>[]> = { response: [], mailbox: [], delegation: [], messages: [] };
  for (const { path, protocol, value } of messages) {
    const reading = readDated(protocol, value, options);
    problems.push(...reading.problems.map((each) => ({ ...each, path: joinPath(path, each.path) })));
    const { message } = reading;
    if (message) readable[protocol].push({ path, at: readable[protocol].length, message });
  }
  return [
    ...problems,
    ...checkThreads(readable.messages as Placed<AgentMessage>[]),
    ...checkReports(readable.delegation as Placed<DelegationMessage>[]),
  ];
}

/**
 * Documents 002 and 003 have valid messages without a `timestamp`. Tutti always writes one, so their strict schemas
 * require it, but a message that is only checked gets the time of arrival and a warning. Document 001 requires it.
 */
function readDated(protocol: Protocol, value: unknown, options: ProfileOptions): ProfileReading<unknown> {
  const isRequired = protocol === "mailbox" || protocol === "response";
  if (isRequired || options.profile === "lenient" || !isRecord(value)) return readMessage(protocol, value, options);
  const copy = { ...value };
  const problems = stamp(copy, "timestamp", options.receivedAt);
  const reading = readMessage(protocol, copy, options);
  return { ...reading, problems: [...problems, ...reading.problems] };
}

function joinPath(base: string, path: string): string {
  if (base === "" || path === "") return base + path;
  return path.startsWith("[") ? base + path : `${base}.${path}`;
}

interface Step extends Placed<AgentMessage> {
  thread: TaskThread;
}

/** Finds completions that may not be approved, and tasks that started before the tasks that block them. */
function checkThreads(messages: readonly Placed<AgentMessage>[]): ProfileProblem[] {
  const tasks = messages.flatMap(({ message, at }) =>
    message.message_type === "TASK_ASSIGNMENT"
      ? [{ assignment: message, steps: stepsOf(message, messages.slice(at + 1)) }]
      : [],
  );
  const approvals = new Map(
    tasks.map(({ assignment, steps }) => [
      assignment.task_id,
      steps.find(({ thread }) => thread.stage === "approved")?.at ?? Number.POSITIVE_INFINITY,
    ]),
  );
  return tasks.flatMap(({ assignment, steps }) => {
    const id = JSON.stringify(assignment.task_id);
    const refused = steps
      .filter(({ thread, message }) => message.message_type === "TASK_COMPLETION" && thread.stage === "refused")
      .map(({ path, thread }) => odd(path, `Task ${id} cannot be approved: ${thread.reasons.join(" ")}`));
    const start = steps.find(({ message }) => message.message_type === "TASK_ACKNOWLEDGMENT");
    // A task that is not in `approvals` may have been approved earlier.
    if (!start || mayStart(assignment, (task) => (approvals.get(task) ?? -1) < start.at)) return refused;
    return [odd(start.path, `Task ${id} is blocked by a task that is not approved yet.`), ...refused];
  });
}

/** `stepsOf` has the later messages of a task, each with the stage to which it leads. */
function stepsOf(assignment: TaskAssignment, later: readonly Placed<AgentMessage>[]): Step[] {
  const own = later.filter(({ message }) => message.task_id === assignment.task_id);
  const [, ...threads] = followTask(
    assignment,
    own.map(({ message }) => message),
  );
  return own.map((each, i) => ({ ...each, thread: threads[i]! }));
}

/** Finds reports that do not close the task that was delegated before. */
function checkReports(messages: readonly Placed<DelegationMessage>[]): ProfileProblem[] {
  const tasks = new Map<string, NewTask>();
  return messages.flatMap(({ path, message }) => {
    if (!isReport(message)) {
      if (!isAttemptCompletion(message)) tasks.set(message.taskId, message);
      return [];
    }
    const task = tasks.get(message.taskId);
    const { reasons } = task ? judgeReport(message, task) : { reasons: [] };
    const id = JSON.stringify(message.taskId);
    return reasons.length === 0 ? [] : [odd(path, `The report does not close task ${id}: ${reasons.join(" ")}`)];
  });
}

const isReport = (message: DelegationMessage): message is AttemptCompletion =>
  isAttemptCompletion(message) && !Object.hasOwn(RESULTS_OF_OTHER_KINDS, message.result);

const odd = (path: string, sentence: string): ProfileProblem => problem("warning", "mismatch", path, sentence);
