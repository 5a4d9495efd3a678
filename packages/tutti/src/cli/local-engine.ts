// The way of the commands that work without a server: an engine of their own on the data folder, or a look at its log.
import { join } from "node:path";
import { untilInterrupted } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { openLocalEngine } from "../main/local-engine.ts";
import { TuttiError } from "../schema/error.ts";

export type LocalEngine = ReturnType<typeof openLocalEngine>;
export type Engine = LocalEngine["engine"];

/**
 * An engine for the time of one command. A signal to end is heard at once: agents are ended, the run stays resumable.
 * Work that waits for a person's answer is left alive, because it would have to be done again otherwise.
 */
export async function withEngine(
  output: Output,
  agentEnv: Record<string, string>,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const warn = (problem: string) => output.warn(problem);
  return whileOpen(openLocalEngine({ ...output.options, dataDir: output.dataDir, agentEnv, warn }), work);
}

/** The same in a folder of its own, where every session plays the scenario. */
export async function withRehearsal(
  output: Output,
  folder: string,
  scenario: string,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return whileOpen(openLocalEngine({ ...output.options, dataDir: join(folder, "data"), scenario }), work);
}

function whileOpen(
  local: LocalEngine,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return untilInterrupted(async (signal) => {
    let leaveRunning = false;
    try {
      return await work(local, signal);
    } catch (error) {
      leaveRunning = error instanceof TuttiError && error.code === "needs_answer";
      throw error;
    } finally {
      await local.close({ leaveRunning });
    }
  });
}
