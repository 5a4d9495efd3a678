// The way of the commands that work without a server: an engine of their own on the data folder, or a look at its log.
import { join } from "node:path";
import type { Output } from "./output.ts";
import { openLocalEngine } from "../main.ts";
import { TuttiError } from "../schema/error.ts";

export {
  findTemplate,
  makeRepository,
  openTemplates,
  parseTemplate,
  readCopyOf,
  readRun,
  readSummaries,
  replayLog,
  rehearsalScenario,
  rehearsedTemplate,
} from "../main.ts";
export type LocalEngine = ReturnType<typeof openLocalEngine>;
export type Engine = LocalEngine["engine"];

/**
 * An engine for the time of one command. A signal to end is heard at once: agents are ended, the run stays resumable.
 * Work that waits for a person's answer is left alive, because it would have to be done again otherwise.
 */
export async function withEngine(
  output: Output,
  agentEnv: Record<string, string>,
  work: (engine: Engine, signal: AbortSignal, local: LocalEngine) => Promise<number>,
): Promise<number> {
  return whileOpen(openLocalEngine({ dataDir: output.dataDir, agentEnv }), work);
}

/** The same in a folder of its own, where every session plays the scenario. */
export async function withRehearsal(
  folder: string,
  scenario: string,
  work: (engine: Engine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return whileOpen(openLocalEngine({ dataDir: join(folder, "data"), scenario }), work);
}

async function whileOpen(
  local: LocalEngine,
  work: (engine: Engine, signal: AbortSignal, local: LocalEngine) => Promise<number>,
): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  let leaveRunning = false;
  try {
    return await work(local.engine, interrupt.signal, local);
  } catch (error) {
    leaveRunning = error instanceof TuttiError && error.code === "needs_answer";
    throw error;
  } finally {
    await local.close({ leaveRunning });
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(name, onSignal);
  }
}
