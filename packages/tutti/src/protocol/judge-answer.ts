// Which block of a finished turn is the answer, and what to tell the agent when none is.
import type { Answer, ProgressAnswer } from "../schema/answer.ts";
import type { AnswerPhase } from "../schema/status.ts";
import { answerIssues } from "./check-answer.ts";
import { explainIssue } from "./explain-issues.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { scanBlocks } from "./response-scanner.ts";
import type { Delimiters, ScannedBlock } from "./response-scanner.ts";
import { isSameJson } from "./same-json.ts";

export interface Judgement {
  answer: Answer | null;
  /** Sentences that name exactly what is missing or wrong, for the stricter re-prompt and the record. */
  problems: string[];
  /** What was read leniently in the answer that counts. */
  warnings: string[];
  ignored: { phase: string; reason: string }[];
}

/**
 * Of the blocks of one finished turn, the one that counts: the last valid one for the phase and, for a worker, for its
 * own task. A block equal (as a JSON value) to one in the prompt just sent is an echo and is ignored.
 */
export function judgeAnswer(input: {
  blocks: readonly ScannedBlock[];
  prompt: string;
  delimiters: Delimiters;
  phase: AnswerPhase;
  taskId?: string;
}): Judgement {
  const { phase, taskId, delimiters } = input;
  const samples = scanBlocks(input.prompt, delimiters);
  const judgement: Judgement = { answer: null, problems: [], warnings: [], ignored: [] };
  const ignore = (block: ScannedBlock, reason: string) =>
    judgement.ignored.push({ phase: block.ok ? block.phase : "", reason });

  for (const block of input.blocks) {
    if (samples.some((sample) => isSameBlock(sample, block))) {
      ignore(block, "It repeats a block of the prompt.");
    } else if (!block.ok) {
      judgement.problems.push(`A block could not be used: ${block.message}.`);
    } else if (block.phase === "progress" || block.phase === "heartbeat") {
      if (namesAnotherTask(block, taskId)) ignore(block, `It names task ${nameOf(block)}, not ${taskId}.`);
    } else if (block.phase !== phase) {
      ignore(block, `Its phase is "${block.phase}", but "${phase}" was asked for.`);
    } else if (namesAnotherTask(block, taskId)) {
      ignore(block, `It names task ${nameOf(block)}, not ${taskId}.`);
    } else {
      const { data, warnings } = normaliseAnswer(phase, block.data);
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
  else judgement.problems.unshift(whatIsMissing(input, judgement.ignored.length));
  return judgement;
}

/** Validates a progress block as it arrives; null if it is none, is not valid, or is about another task. */
export function readProgress(block: ScannedBlock, taskId: string | undefined): ProgressAnswer | null {
  if (!block.ok || block.phase !== "progress") return null;
  const { data } = normaliseAnswer("progress", block.data);
  if (data.task_id !== taskId || answerIssues("progress", data).length > 0) return null;
  return data as ProgressAnswer;
}

/** Validates a sign of life as it arrives; null if it is none. */
export function readHeartbeat(block: ScannedBlock): { timestamp: string; alive: boolean } | null {
  if (!block.ok || block.phase !== "heartbeat") return null;
  if (answerIssues("heartbeat", block.data).length > 0) return null;
  const { timestamp, alive } = block.data as { timestamp: string; alive: boolean };
  return { timestamp, alive };
}

function whatIsMissing(
  input: { blocks: readonly ScannedBlock[]; delimiters: Delimiters; phase: AnswerPhase; taskId?: string },
  ignored: number,
): string {
  const { delimiterStart, delimiterEnd } = input.delimiters;
  const wanted = `a valid "${input.phase}" block${input.taskId === undefined ? "" : ` for task ${input.taskId}`}`;
  if (input.blocks.length === 0) return `The answer holds no block between ${delimiterStart} and ${delimiterEnd}.`;
  return ignored === input.blocks.length
    ? `None of the blocks counts: ${wanted} is missing.`
    : `The answer holds no block that can be used: ${wanted} is missing.`;
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
