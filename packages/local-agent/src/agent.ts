// The built-in `local` agent: a program of its own that needs no model and no network. It is started in a session's
// workspace, takes prompts as JSON lines on stdin, answers each with one turn on stdout, and ends with its input.
//
// Invariants
// 1. Every prompt is answered with exactly one turn_end, also after an interrupt and after a fault.
// 2. Nothing outside the working folder is read or written, and no page that a person wrote is changed.
// 3. The answer depends on the prompt and the files alone: no clock, no randomness, no name of this machine.
import type { PhaseTurn } from "./phases.ts";
import { isAboutDocumentation, isRecord, readRequest, type Request } from "./request.ts";
import { delimitersFrom, makeVoice } from "./say.ts";
import { readLines } from "./read-lines.ts";

class Interrupted extends Error {}

const ONLY_DOCUMENTATION = "The local agent only writes documentation; choose another agent for this request.";
/** Prompts that wait, in order; `stopped` ones were interrupted before their end. */
const prompts: { request: Request; stopped: boolean }[] = [];
let isWorking = false;

function takeLine(line: string): void {
  const message = parse(line);
  if (message?.["type"] === "interrupt") for (const prompt of prompts) prompt.stopped = true;
  if (message?.["type"] !== "user") return;
  prompts.push({ request: readRequest(message, process.env), stopped: false });
  if (!isWorking) void work();
}

async function work(): Promise<void> {
  isWorking = true;
  for (let [prompt] = prompts; prompt; [prompt] = prompts) {
    const current = prompt;
    await takeTurn(current.request, () => current.stopped);
    prompts.shift();
  }
  isWorking = false;
}

async function takeTurn(request: Request, isStopped: () => boolean): Promise<void> {
  const voice = makeVoice((line) => process.stdout.write(line), delimitersFrom(request.variables));
  let lastPause = performance.now();
  const breathe = async (): Promise<void> => {
    // Input is read only while the turn waits, so it waits a moment now and then.
    if (performance.now() - lastPause > 20) {
      await new Promise((resume) => setImmediate(resume));
      lastPause = performance.now();
    }
    if (isStopped()) throw new Interrupted();
  };
  try {
    await breathe();
    const error = await answer({ root: process.cwd(), request, voice, breathe });
    voice.endTurn(error);
  } catch (fault) {
    if (fault instanceof Interrupted) {
      voice.say("Stopped.");
      voice.endTurn();
      return;
    }
    const reason = fault instanceof Error ? fault.message : String(fault);
    voice.say(`The local agent could not finish: ${reason}`);
    voice.endTurn(reason);
  }
}

/** Answers one prompt; what comes back is the reason why the turn failed without a block that says so. */
async function answer(turn: PhaseTurn): Promise<string | undefined> {
  const { request, voice } = turn;
  if (request.phase === null) {
    const reason = `The local agent does not know the phase ${JSON.stringify(request.phaseName)}. ${ONLY_DOCUMENTATION}`;
    voice.say(reason);
    return reason;
  }
  if (isAboutDocumentation(request)) {
    // Loaded with the first prompt, so that the program is there at once.
    const { ANSWERS } = await import("./phases.ts");
    await ANSWERS[request.phase](turn);
    return undefined;
  }
  return refuse(turn);
}

function refuse({ request, voice }: PhaseTurn): string | undefined {
  const error = ONLY_DOCUMENTATION;
  if (request.phase === "workerExecution") {
    voice.answer(error, "completion", { task_id: request.taskId, status: "failed", error });
  } else if (request.phase === "aggregation") voice.answer(error, "aggregation", { status: "failed", error });
  else if (request.phase === "verification") {
    voice.answer(error, "verification", {
      status: "failed",
      summary: error,
      issues: [{ severity: "error", description: error }],
    });
  } else {
    voice.say(error);
    return error;
  }
  return undefined;
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

// A keeper that has gone can no longer be told anything.
process.stdout.on("error", () => process.exit(0));
for await (const line of readLines(process.stdin)) takeLine(line);
