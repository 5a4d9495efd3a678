// `judgeTurn` finds the facts of a finished turn: the block that counts, and the changes in the workspace. `decide`
// draws the consequences.
import { resultMessage } from "../merging/merge-work.ts";
import { PROMPT_OF, renderPrompt } from "./prompt.ts";
import type { Mail } from "../mailboxes/run-mailbox.ts";
import { readMail } from "./read-mail.ts";
import { expectedOutputs, readDelegation, readMainDelegation, withOwnReport } from "./read-delegation.ts";
import { readLeadMessages, readMessages, readToolReport, type MessageReading } from "./read-messages.ts";
import type { TurnRecord } from "./turn-record.ts";
import { detectFallback } from "../../protocol/response/fallback.ts";
import { judgeAnswer } from "../../protocol/response/judge-answer.ts";
import type { History, ReadMessage, TurnOver } from "../../run/command.ts";
import { workersOf } from "../../run/lookup.ts";
import { isRepairing } from "../../run/rules/collisions.ts";
import { awaitsSubSessions, isNatural, statedEnd } from "../../run/rules/natural.ts";
import { isPlanningAgain } from "../../run/team/cycle.ts";
import { isLedByDelegation } from "../../run/team/delegation.ts";
import { isReview } from "../../run/team/gate.ts";
import { protocolOf, roleOf } from "../../run/team/team.ts";
import { MAX_TRIES } from "../../run/rules/losses.ts";
import type { Answer } from "../../schema/answer.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Ending } from "../../schema/ending.ts";
import type { ContextSize, MovedRef, UnprovenFiles } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { ANSWER_PHASE, type Phase } from "../../schema/status.ts";
import type { SessionState, Worker } from "../../schema/worker.ts";
import type { WorkCommit } from "../../session/session.ts";
import type { WorkspaceKey, Workspaces } from "../../workspace/workspace.ts";

interface TurnToJudge {
  run: Run;
  worker: Worker | null;
  state: SessionState;
  key: WorkspaceKey;
  record: TurnRecord;
  ending: Ending;
  workspaces: Workspaces;
  cwd: string;
  /** Null if an earlier engine delivered the turn; then `renderPrompt` renders it again. */
  prompt: string | null;
  /** A new id, used if the turn leads to an inbox item. */
  itemId: string;
  /** Null unless the role of `worker` works on the mailbox. */
  mail: Mail | null;
  /** Durations and costs of earlier tasks; null unless the turn makes a plan. */
  history: History | null;
  /** Called when the turn has an answer that counts, before its work is committed. */
  onAnswer: () => void;
}

interface Judged {
  answer: Answer | null;
  problems: string[];
  inWords?: boolean;
}

/** Accepts a last line that is one of the template's `completionMarkers` in place of a completion block. */
function byMarker({ run, worker, record, ending }: TurnToJudge, judged: Judged): Judged {
  if (judged.answer !== null || !worker || ending.kind !== "ended") return judged;
  const lines = record.said.trimEnd().split("\n");
  const last = lines.pop()!.trim();
  const at = run.template.phases.workerExecution.completionMarkers.indexOf(last);
  if (at === -1) return judged;
  const summary = lines.join("\n").trim().slice(-SUMMARY_CHARACTERS);
  const status = at === 0 ? ("success" as const) : ("failed" as const);
  const data = { task_id: worker.taskId, status, ...(status === "failed" ? { error: summary } : { summary }) };
  return { answer: { phase: "completion", data }, problems: [] };
}

/**
 * Accepts plain words as the answer of a run that `isNatural`. An unusable block is requested again up to `MAX_TRIES`,
 * and a question goes to the user.
 */
function byWords({ run, record, ending }: TurnToJudge, judged: Judged): Judged {
  if (judged.answer !== null || !isNatural(run) || ending.kind !== "ended") return judged;
  if (record.blocks.length > 0 && (run.owed?.try ?? 1) < MAX_TRIES) return judged;
  const summary = record.lastMessage.trim();
  if (summary === "" || questionIn(summary) !== null) return judged;
  const answer = { phase: "analysis" as const, data: { summary, recommended_splits: Math.max(1, record.subagents) } };
  return { answer, problems: [], inWords: true };
}

/** Rejects a main session that starts `subagents` instead of answering: they would bypass the plan and its limits. */
function bypass({ run, worker, record }: TurnToJudge, judged: Judged): Judged {
  if (worker !== null || judged.answer !== null || record.subagents === 0) return judged;
  if (run.template.config.useSubSessions) return judged;
  const problem = `You started ${record.subagents} of your own agents instead of answering. Plan the work as tasks; Tutti assigns them to workers.`;
  return { answer: null, problems: [problem, ...judged.problems] };
}

/**
 * A role that does not answer by `response` may still send a block, except for a review (`isReview`): only its message
 * can open the gate. With `tools`, nothing in its text counts.
 */
function withoutBlock({ run, worker }: TurnToJudge, read: MessageReading | null, judged: Judged): Judged {
  const protocol = worker && protocolOf(run, worker.task);
  if (!read || !worker || protocol === "response") return judged;
  const mayCount = protocol !== "tools" && !isReview(run, worker.task);
  return judged.answer !== null && mayCount ? judged : { answer: null, problems: read.problems };
}

/** Blocks in the text of a role that has the protocol `tools`. */
const ignoredText = ({ blocks, reports }: TurnRecord): { phase: string; reason: string }[] =>
  blocks
    .filter((block) => !reports.includes(block))
    .map((block) => ({
      phase: block.ok ? block.phase : "",
      reason: "The role reports with tools, so a block in its text does not count.",
    }));

const SUMMARY_CHARACTERS = 400;

/** Returns the last paragraph of `output` if it ends with a question mark. */
function questionIn(output: string): string | null {
  const text = output.trimEnd();
  if (!text.endsWith("?")) return null;
  return text.slice(text.lastIndexOf("\n\n") + 1).trim();
}

/** Rejects an answer without the `requiredFields` of the template, or with a task that lacks fields of `taskSchema`. */
function requireFields(run: Run, phase: Phase, judged: Judged): Judged {
  const { answer } = judged;
  const format = run.template.prompts[PROMPT_OF[phase]]?.format;
  if (answer === null || !format || isRepairing(run)) return judged;
  const problems = format.requiredFields
    .filter((field) => (answer.data as Record<string, unknown>)[field] === undefined)
    .map((field) => `data.${field} is missing.`);
  if (answer.phase === "task_list") {
    for (const [i, task] of answer.data.tasks.entries()) {
      const missing = format.taskSchema.required.filter((field) => task[field] === undefined);
      problems.push(...missing.map((field) => `data.tasks[${i}].${field} is missing.`));
    }
  }
  return problems.length === 0 ? judged : { answer: null, problems };
}

export async function judgeTurn(
  turn: TurnToJudge,
): Promise<{ over: TurnOver; ignored: { phase: string; reason: string }[]; moved: MovedRef | null }> {
  const { run, worker, state, record, ending } = turn;
  const { phase } = state.turn!;
  const owed = worker ? worker.owed : run.owed;
  const prompt = turn.prompt ?? renderPrompt(run, phase, worker, owed, turn.cwd).text;
  const byTools = worker !== null && protocolOf(run, worker.task) === "tools";
  const judged = judgeAnswer({
    blocks: byTools ? record.reports : record.blocks,
    prompt,
    delimiters: run.template.prompts.responseFormat,
    phase: ANSWER_PHASE[phase],
    strict: (owed?.try ?? 1) < MAX_TRIES,
    ...(worker ? { taskId: worker.taskId } : {}),
  });
  const { warnings } = judged;
  const ignored = byTools ? [...judged.ignored, ...ignoredText(record)] : judged.ignored;
  const ofMail = worker && turn.mail && readMail(worker, turn.mail.entries);
  const ofText = worker && (readMessages(run, worker, record, prompt) ?? readDelegation(run, worker, record, prompt));
  const read = ofMail ?? (worker && readToolReport(run, worker, record, judged)) ?? ofText;
  const ofLead = worker === null ? readAsLead(run, phase, record, prompt) : null;
  const byBlock = byWords(turn, bypass(turn, requireFields(run, phase, byMarker(turn, judged))));
  const { answer, problems, inWords } = read?.answer ? { ...read, inWords: false } : withoutBlock(turn, read, byBlock);
  // A turn that `exited` counts only if its last block was a worker's completion.
  const isBlock = record.lastBlock?.ok === true && record.lastBlock.phase === "completion";
  const endsWithCompletion = isBlock || read?.answer != null;
  const counts =
    ending.kind === "ended" ||
    // An answer that was complete before an `interrupted` turn ended counts.
    ending.kind === "interrupted" ||
    (ending.kind === "exited" && answer?.phase === "completion" && endsWithCompletion);
  const counted = counts && !(worker === null && awaitsSubSessions(run)) ? answer : null;
  const isTaken = counted !== null || (read?.delegates === true && counts);
  if (isTaken) turn.onAnswer();
  const { work, moved } = isTaken ? await takeWork(turn, counted) : NO_WORK;
  if (work === null) await keepWork(turn);
  const { toolStats, usage, said } = record;
  return {
    over: {
      ending,
      answer: counted,
      problems,
      said,
      question: counted === null && ending.kind === "ended" ? questionIn(said) : null,
      // A getter, because only an answer with problems needs the guess.
      get guess() {
        const { detected, probablePhase, confidence } = detectFallback(said);
        return detected && probablePhase !== null ? { phase: probablePhase, confidence } : null;
      },
      itemId: turn.itemId,
      toolStats,
      usage,
      ...(worker === null && isLedByDelegation(run) ? { context: contextAfter(turn, prompt) } : {}),
      work,
      ...(inWords ? { inWords } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
      ...(read && counts ? { messages: withOwnReport(run, worker!, read.messages, counted) } : {}),
      ...(turn.mail?.hasRead || record.hasRead ? { hasRead: true } : {}),
      ...(ofLead && counts ? { messages: ofLead } : {}),
      ...(turn.history ? { history: turn.history } : {}),
    },
    ignored,
    moved,
  };
}

const CHARACTERS_PER_TOKEN = 4;

/** Without a report of the agent, an estimate: the conversation has grown by the texts of this turn. */
function contextAfter({ state, record }: TurnToJudge, prompt: string): ContextSize {
  if (record.context) return record.context;
  const { tokens = 0, window } = state.context ?? {};
  const grown = Math.ceil((prompt.length + record.characters) / CHARACTERS_PER_TOKEN);
  return { tokens: tokens + grown, ...(window === undefined ? {} : { window }) };
}

/** Returns null in phases in which the main session answers with a block, or if it leads no team. */
function readAsLead(run: Run, phase: Phase, record: TurnRecord, prompt: string): ReadMessage[] | null {
  if (isLedByDelegation(run) && (phase === "taskPlanning" || phase === "workerExecution"))
    return readMainDelegation(run, record, prompt);
  return phase === "workerExecution" ? readLeadMessages(run, record, prompt) : null;
}

/** `moved` of a `TakenWork` is set if another program had moved the run's branch. */
interface TakenWork {
  work: TurnOver["work"];
  moved: MovedRef | null;
}

const NO_WORK: TakenWork = { work: null, moved: null };
const NO_FILES = { missing: [] };

const RESULT_TITLES: Partial<Record<Answer["phase"], string>> = {
  aggregation: "Merged result",
  verification: "Verified result",
};

/**
 * The files of a turn count for nothing if it ended with an error, without an answer or with one that is no result. The
 * next turn could delete them, so they get a ref.
 */
async function keepWork({ run, worker, state, key, workspaces }: TurnToJudge): Promise<void> {
  const message = `Unfinished work of ${worker?.taskId ?? "the main session"} of ${run.id}`;
  const { phase } = state.turn!;
  const seesWork = phase === "aggregation" || phase === "verification" || isPlanningAgain(run);
  const start = worker === null && seesWork ? run.head : state.start;
  await workspaces.snapshot(run.cwd, key, start!, message);
}

const isOnlyPhase = ({ template: { phases } }: Run): boolean =>
  !phases.taskPlanning.enabled && !phases.workerExecution.enabled;

const isDone = (run: Run, summary: string): boolean => !isNatural(run) || statedEnd(summary).status !== "failed";

/** Returns the arguments of the `snapshot` that `takeWork` makes of a worker's result. */
export function commitOfWork(run: Run, { task, taskId, attempt, session }: Worker): WorkCommit {
  const message = `${task.title}\n\nTask ${taskId} of ${run.id}, attempt ${attempt}.`;
  return { start: session.start!, message, scope: run.scope ?? [] };
}

/**
 * Commits the workspace with `snapshot`. Changes of the main session count in a successful aggregation or verification,
 * and if analysis `isOnlyPhase`.
 */
async function takeWork(turn: TurnToJudge, answer: Answer | null): Promise<TakenWork> {
  const { run, worker, state, key, workspaces } = turn;
  if (worker) {
    const { start, message, scope } = commitOfWork(run, worker);
    const taken = await workspaces.snapshot(run.cwd, key, start, message, scope);
    if (roleOf(run, worker.task)?.workspace === "read") {
      const discarded = taken.files.length > 0 ? { discarded: taken.files } : {};
      return { work: { commit: state.start!, files: [], head: null, ...discarded }, moved: null };
    }
    const claimed = answer?.phase === "completion" ? (answer.data.output_files ?? []) : [];
    const unproven =
      claimed.length === 0 ? {} : { unproven: await workspaces.findUnproven(run.cwd, key, taken, claimed) };
    const expected = answer === null ? [] : expectedOutputs(worker.task);
    const { missing } = expected.length === 0 ? NO_FILES : await workspaces.findUnproven(run.cwd, key, taken, expected);
    const absent = missing.length > 0 ? { absent: missing } : {};
    return { work: { ...taken, head: null, ...unproven, ...absent }, moved: null };
  }
  if (answer === null) return NO_WORK;
  const succeeded =
    answer.phase === "aggregation"
      ? answer.data.status === "success"
      : answer.phase === "verification"
        ? answer.data.status !== "failed"
        : answer.phase === "analysis" && isOnlyPhase(run) && isDone(run, answer.data.summary);
  if (!succeeded) return NO_WORK;
  const title = `${RESULT_TITLES[answer.phase] ?? "Result"} of ${run.id}`;
  const { commit, files, outside } = await workspaces.snapshot(run.cwd, key, run.head!, title, run.scope);
  const result = { commit, message: resultMessage(run) };
  const merge = await workspaces.integrate(run.cwd, run.id, run.head!, result);
  if (!merge.ok)
    throw new TuttiError(
      "workspace_failed",
      `The changes of the main session conflict with the run's branch in ${merge.files.join(", ")}. Retry the phase.`,
    );
  const unproven = answer.phase === "aggregation" ? await unprovenResult(turn, commit, answer.data.output_files) : {};
  return { work: { commit, files, head: merge.commit, ...(outside && { outside }), ...unproven }, moved: merge.moved };
}

/**
 * The main session claims files of the whole result, so the changes of all tasks count, also those that it has undone.
 */
async function unprovenResult(
  { run, key, workspaces }: TurnToJudge,
  commit: string,
  claimed: readonly string[] = [],
): Promise<{ unproven?: UnprovenFiles }> {
  if (claimed.length === 0) return {};
  const ofTasks = workersOf(run).flatMap(({ status, outputFiles }) => (status === "completed" ? outputFiles : []));
  const files = [...(await workspaces.changedFiles(run.cwd, run.base!, commit)), ...ofTasks];
  return { unproven: await workspaces.findUnproven(run.cwd, key, { commit, files }, claimed) };
}
