// `processPhase` reads a transcript of the caller like the turn of an agent, and accepts the answer in it, if there is
// one.
import type { SharedEngine } from "./shared-engine.ts";
import { judgeAnswer } from "../protocol/response/judge-answer.ts";
import { scanBlocks } from "../protocol/response/response-scanner.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, isRunOver, type Phase } from "../schema/status.ts";
import { readMessages } from "../session/polled/session-controller.ts";

export interface PhaseResult {
  phaseComplete: boolean;
  /** The `currentPhase` of the run, if it has changed. */
  nextPhase: Phase | null;
  error?: string;
}

const NOT_YET: PhaseResult = { phaseComplete: false, nextPhase: null };

export async function processPhase(shared: SharedEngine, id: string, transcript: unknown): Promise<PhaseResult> {
  const run = shared.run(id);
  if (run.owed === null) return NOT_YET;
  const { phase } = run.owed;
  const { answer, problems } = judgeTranscript(run, phase, transcript);
  if (answer === null) return problems.length === 0 ? NOT_YET : { ...NOT_YET, error: problems.join(" ") };
  try {
    const { status, currentPhase } = await shared.order(id, (engine) => engine.respond(id, phase, answer.data));
    return { phaseComplete: true, nextPhase: isRunOver(status) || currentPhase === phase ? null : currentPhase };
  } catch (error) {
    if (error instanceof TuttiError) return { ...NOT_YET, error: error.message };
    throw error;
  }
}

/**
 * Only text of the assistant can be an answer; `others` contain samples. A transcript without a block is not an error.
 */
function judgeTranscript(run: Run, phase: Phase, transcript: unknown) {
  const messages = readMessages(transcript);
  const delimiters = run.template.prompts.responseFormat;
  const fromAssistant = messages.filter(({ role }) => role === "assistant");
  const others = messages.filter(({ role }) => role !== "assistant");
  const blocks = fromAssistant.flatMap(({ text }) => scanBlocks(text, delimiters));
  if (blocks.length === 0) return { answer: null, problems: [] };
  const prompt = others.map(({ text }) => text).join("\n");
  return judgeAnswer({ blocks, prompt, delimiters, phase: ANSWER_PHASE[phase] });
}
