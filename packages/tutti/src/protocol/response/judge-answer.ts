// `judgeAnswer` selects the block of a finished turn that is the answer, and explains to the agent why none is.
import type { Answer, ProgressAnswer } from "../../schema/answer.ts";
import type { AnswerPhase } from "../../schema/status.ts";
import { answerIssues } from "./check-answer.ts";
import { explainIssue } from "./explain-answer.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { scanBlocks, type Delimiters, type ScannedBlock } from "./response-scanner.ts";
import { isSameJson } from "../json/same-json.ts";
import { sentence } from "../../sentence.ts";

interface Judgement {
  answer: Answer | null;
  /** Sentences that name each missing or wrong member. `problems` go into the next prompt and into the log. */
  problems: string[];
  /** `warnings` are lenient interpretations of the accepted answer. */
  warnings: string[];
  ignored: { phase: string; reason: string }[];
}

/**
 * Selects the last valid block for `phase` and, for a worker, for its own task. `judgeAnswer` ignores a block that
 * equals (as a JSON value) one in the prompt: an echo.
 */
export function judgeAnswer(input: {
  blocks: readonly ScannedBlock[];
  prompt: string;
  delimiters: Delimiters;
  phase: AnswerPhase;
  taskId?: string;
  /** An unknown status is a problem, about which the agent is asked again. Otherwise `normaliseAnswer` interprets it. */
  strict?: boolean;
}): Judgement {
  const { phase, taskId, delimiters } = input;
  const samples = scanBlocks(input.prompt, delimiters);
  const judgement: Judgement = { answer: null, problems: [], warnings: [], ignored: [] };
  const ignore = (block: ScannedBlock, reason: string) =>
    judgement.ignored.push({ phase: block.ok ? block.phase : "", reason });

  for (const block of input.blocks) {
    if (samples.some((sample) => isSameBlock(sample, block))) {
      ignore(block, sentence("It repeats a block of the prompt."));
    } else if (!block.ok) {
      judgement.problems.push(sentence("A block could not be used: {error}.", { error: block.message }));
    } else if (block.phase === "progress" || block.phase === "heartbeat") {
      if (namesAnotherTask(block, taskId))
        ignore(block, sentence("It names task {task}, not {taskId}.", { task: nameOf(block), taskId: taskId! }));
    } else if (block.phase !== phase) {
      ignore(
        block,
        sentence('Its phase is "{found}", but the expected phase is "{phase}".', { found: block.phase, phase }),
      );
    } else if (namesAnotherTask(block, taskId)) {
      ignore(block, sentence("It names task {task}, not {taskId}.", { task: nameOf(block), taskId: taskId! }));
    } else {
      const { data: normal, warnings } = normaliseAnswer(phase, block.data);
      const data = input.strict && warnings.length > 0 ? { ...normal, status: block.data.status } : normal;
      const issues = answerIssues(phase, data);
      if (issues.length === 0) {
        judgement.answer = { phase, data } as Answer;
        judgement.warnings = warnings;
      } else {
        judgement.problems.push(...issues.map((issue) => explainIssue(issue, data)));
      }
    }
  }
  if (judgement.answer) judgement.problems = [];
  else judgement.problems.unshift(explainMissing(input, judgement.ignored.length));
  return judgement;
}

/** Returns null for another block, an invalid one, or one about another task. */
export function readProgress(block: ScannedBlock, taskId: string | undefined): ProgressAnswer | null {
  if (!block.ok || block.phase !== "progress") return null;
  const { data } = normaliseAnswer("progress", block.data);
  if (data.task_id !== taskId || answerIssues("progress", data).length > 0) return null;
  return data as ProgressAnswer;
}

function explainMissing(
  input: { blocks: readonly ScannedBlock[]; delimiters: Delimiters; phase: AnswerPhase; taskId?: string },
  ignored: number,
): string {
  const { delimiterStart, delimiterEnd } = input.delimiters;
  const { phase, taskId } = input;
  const use =
    taskId === undefined
      ? sentence('a valid "{phase}" block', { phase })
      : sentence('a valid "{phase}" block for task {taskId}', { phase, taskId });
  if (input.blocks.length === 0)
    return sentence("The answer contains no block between {delimiterStart} and {delimiterEnd}.", {
      delimiterStart,
      delimiterEnd,
    });
  return ignored === input.blocks.length
    ? sentence("None of the blocks counts: {use} is missing.", { use })
    : sentence("The answer contains no usable block: {use} is missing.", { use });
}

function isSameBlock(one: ScannedBlock, other: ScannedBlock): boolean {
  if (!one.ok || !other.ok) return one.ok === other.ok && one.raw.trim() === other.raw.trim();
  return one.phase === other.phase && isSameJson(one.data, other.data);
}

function namesAnotherTask(block: ScannedBlock & { ok: true }, taskId: string | undefined): boolean {
  return taskId !== undefined && typeof block.data.task_id === "string" && block.data.task_id !== taskId;
}

function nameOf(block: ScannedBlock & { ok: true }): string {
  return String(block.data.task_id);
}
