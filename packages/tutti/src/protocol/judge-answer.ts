// Which block of a finished turn is the answer, and what to tell the agent when none is.
import { ANSWERS, HeartbeatAnswer, ProgressAnswer } from "../schema/answer.ts";
import type { Answer } from "../schema/answer.ts";
import type { AnswerPhase } from "../schema/status.ts";
import { explainIssue } from "./explain-issues.ts";
import { normaliseAnswer } from "./normalise-answer.ts";
import { scanBlocks } from "./response-scanner.ts";
import type { Delimiters, ScannedBlock } from "./response-scanner.ts";
import { canonicalJson } from "./canonical-json.ts";

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
  const echoes = new Set(scanBlocks(input.prompt, delimiters).map(blockIdentity));
  const judgement: Judgement = { answer: null, problems: [], warnings: [], ignored: [] };
  const ignore = (block: ScannedBlock, reason: string) =>
    judgement.ignored.push({ phase: block.ok ? block.phase : "", reason });

  for (const block of input.blocks) {
    if (echoes.has(blockIdentity(block))) {
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
      const checked = ANSWERS[phase].safeParse(data);
      if (checked.success) {
        judgement.answer = { phase, data: checked.data } as Answer;
        judgement.warnings = warnings;
      } else {
        judgement.problems.push(...checked.error.issues.map((issue) => explainIssue(issue, data)));
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
  const checked = ProgressAnswer.safeParse(normaliseAnswer("progress", block.data).data);
  if (!checked.success || checked.data.task_id !== taskId) return null;
  return checked.data;
}

/** Validates a sign of life as it arrives; null if it is none. */
export function readHeartbeat(block: ScannedBlock): { timestamp: string; alive: boolean } | null {
  if (!block.ok || block.phase !== "heartbeat") return null;
  const checked = HeartbeatAnswer.safeParse(block.data);
  return checked.success ? { timestamp: checked.data.timestamp, alive: checked.data.alive } : null;
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

function blockIdentity(block: ScannedBlock): string {
  return block.ok ? canonicalJson([block.phase, block.data]) : `unreadable ${block.raw.trim()}`;
}

function namesAnotherTask(block: ScannedBlock & { ok: true }, taskId: string | undefined): boolean {
  return taskId !== undefined && typeof block.data.task_id === "string" && block.data.task_id !== taskId;
}

function nameOf(block: ScannedBlock & { ok: true }): string {
  return String(block.data.task_id);
}
