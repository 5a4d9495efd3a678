// The way of the commands that work without a server: an engine of their own on the data folder, or a look at its log.
import type { Output } from "./output.ts";
import { openLocalEngine } from "../main.ts";
import { TuttiError } from "../schema/error.ts";

export { readRuns } from "../main.ts";
export type Engine = ReturnType<typeof openLocalEngine>["engine"];

/**
 * An engine for the time of one command. A signal to end is heard at once: agents are ended, the run stays resumable.
 * Work that waits for a person's answer is left alive, because it would have to be done again otherwise.
 */
export async function withEngine(
  output: Output,
  agentEnv: Record<string, string>,
  work: (engine: Engine, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const local = openLocalEngine({ dataDir: output.dataDir, agentEnv });
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  let leaveRunning = false;
  try {
    return await work(local.engine, interrupt.signal);
  } catch (error) {
    leaveRunning = error instanceof TuttiError && error.code === "needs_answer";
    throw error;
  } finally {
    await local.close({ leaveRunning });
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(name, onSignal);
  }
}
