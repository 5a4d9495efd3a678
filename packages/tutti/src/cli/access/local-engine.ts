import { join } from "node:path";
import { untilInterrupted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { openLocalEngine, type LocalEngine } from "../../main/local-engine.ts";
import { TuttiError } from "../../schema/error.ts";

export type { LocalEngine };

/**
 * Opens an engine for one command. On a signal the agents end and the run stays resumable. After `needs_answer` it
 * sets `leaveRunning`: the agents wait for the user, and ending them would lose their work.
 */
export async function withEngine(
  output: Output,
  agentEnv: Record<string, string>,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const warn = (problem: string) => output.warn(problem);
  return closeAfter(openLocalEngine({ ...output.options, dataDir: output.dataDir, agentEnv, warn }), work);
}

/** Opens an engine on a data folder within `folder`, where every session plays `scenario`. */
export async function withRehearsal(
  output: Output,
  folder: string,
  scenario: string,
  work: (local: LocalEngine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return closeAfter(openLocalEngine({ ...output.options, dataDir: join(folder, "data"), scenario }), work);
}

function closeAfter(
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
