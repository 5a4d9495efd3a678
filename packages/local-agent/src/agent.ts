// The program of the agent `local`. It needs no model and no network. Tutti starts it in a session's workspace, sends
// prompts as JSON lines on stdin, and reads one turn per prompt from stdout. The program exits at the end of stdin.
//
// Invariants
// 1. Every prompt is answered with exactly one `turn_end`, also after an interrupt or an error.
// 2. The program reads and writes only inside its working folder and, with git, the object store of its repository. It
//    never changes a page that a user wrote.
// 3. The answer depends only on the prompt and the files, never on a clock, on randomness or on the machine.
import type { PhaseTurn } from "./phases.ts";
import { type AgentPrompt, isAboutDocumentation, isRecord, readPrompt } from "./prompt.ts";
import { readLines } from "./read-lines.ts";
import { createTurnOutput, readDelimiters } from "./turn-output.ts";

class Interrupted extends Error {}

const ONLY_DOCUMENTATION = "The local agent only writes documentation. Choose another agent for this request.";
/** In milliseconds: an interrupt waits at most `LONGEST_BLOCKING` until the turn notices it. */
const LONGEST_BLOCKING = 20;
/** The open prompts, the oldest first. `answerQueue` removes a prompt only after its turn. */
const queue: { prompt: AgentPrompt; isInterrupted: boolean }[] = [];
let isAnswering = false;

function handleLine(line: string): void {
  const message = parseObject(line);
  if (message?.["type"] === "interrupt") for (const entry of queue) entry.isInterrupted = true;
  if (message?.["type"] !== "user") return;
  queue.push({ prompt: readPrompt(message, process.env), isInterrupted: false });
  if (!isAnswering) void answerQueue();
}

async function answerQueue(): Promise<void> {
  isAnswering = true;
  for (let [entry] = queue; entry; [entry] = queue) {
    const current = entry;
    await runTurn(current.prompt, () => current.isInterrupted);
    queue.shift();
  }
  isAnswering = false;
}

async function runTurn(prompt: AgentPrompt, isInterrupted: () => boolean): Promise<void> {
  const output = createTurnOutput((line) => process.stdout.write(line), readDelimiters(prompt.variables));
  let lastPause = performance.now();
  const checkInterrupt = async (): Promise<void> => {
    // Node reads stdin only while the turn waits, so `isInterrupted` cannot change before this pause.
    if (performance.now() - lastPause > LONGEST_BLOCKING) {
      await new Promise((resume) => setImmediate(resume));
      lastPause = performance.now();
    }
    if (isInterrupted()) throw new Interrupted();
  };
  try {
    await checkInterrupt();
    const refusal = await answerPrompt({ root: process.cwd(), prompt, output, checkInterrupt });
    if (refusal === undefined) output.endTurn();
    else output.failTurn(refusal, true);
  } catch (error) {
    if (error instanceof Interrupted) {
      output.writeText("Interrupted.");
      output.endTurn();
      return;
    }
    const reason = error instanceof Error ? error.message : String(error);
    output.writeText(`The local agent could not finish: ${reason}`);
    output.failTurn(reason, false);
  }
}

/**
 * Returns the reason if the agent refuses `prompt`. The result is `undefined` also if the turn wrote a block with
 * status `failed`.
 */
async function answerPrompt(turn: PhaseTurn): Promise<string | undefined> {
  const { prompt, output } = turn;
  if (prompt.phase === null) {
    const error = `The local agent does not know the phase ${JSON.stringify(prompt.phaseName)}. ${ONLY_DOCUMENTATION}`;
    output.writeText(error);
    return error;
  }
  if (!isAboutDocumentation(prompt)) return refusePrompt(turn);
  // `ANSWERS` is imported with the first prompt, so that the program starts fast.
  const { ANSWERS } = await import("./phases.ts");
  await ANSWERS[prompt.phase](turn);
  return undefined;
}

function refusePrompt({ prompt, output }: PhaseTurn): string | undefined {
  const error = ONLY_DOCUMENTATION;
  if (prompt.phase === "workerExecution") {
    output.writeBlock(error, "completion", { task_id: prompt.taskId, status: "failed", error });
  } else if (prompt.phase === "aggregation") {
    output.writeBlock(error, "aggregation", { status: "failed", error });
  } else if (prompt.phase === "verification") {
    const issues = [{ severity: "error", description: error }];
    output.writeBlock(error, "verification", { status: "failed", summary: error, issues });
  } else {
    output.writeText(error);
    return error;
  }
  return undefined;
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

// `stdout` fails when the keeper is gone; then no reader is left.
process.stdout.on("error", () => process.exit(0));
for await (const line of readLines(process.stdin)) handleLine(line);
