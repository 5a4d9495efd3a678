// Detects stalled agents. `ActivityWatch` measures output, processor time and the number of processes: an agent that
// waits for a long command writes nothing either, but has further processes.
import { findSessionProcesses } from "./session-processes.ts";
import { processTable } from "../process-table.ts";

/** An agent that uses less than `BUSY_SHARE` of one processor is idle. */
const BUSY_SHARE = 0.1;

export class ActivityWatch {
  readonly #sessionId: string;
  #size = -1;
  #processes = "";
  /** The fewest processes seen so far. Further ones are commands of the agent. */
  #fewest = Number.POSITIVE_INFINITY;
  #cpuMs = 0;
  #checkedAt: number;
  #activeAt: number;

  constructor(sessionId: string, now: number) {
    this.#sessionId = sessionId;
    this.#checkedAt = now;
    this.#activeAt = now;
  }

  /** Restarts the count, for times in which the agent waits for an answer or has no turn. */
  touch(now: number): void {
    this.#activeAt = now;
  }

  /** Returns the milliseconds without activity. `size` is the length of the agent's output. */
  look(size: number, now: number): number {
    const pids = findSessionProcesses(this.#sessionId);
    const entries = processTable().read(pids);
    const cpuMs = entries.reduce((sum, each) => sum + each.cpuMs, 0);
    const processes = pids.join(" ");
    this.#fewest = Math.min(this.#fewest, pids.length);
    const elapsed = Math.max(1, now - this.#checkedAt);
    // On an overloaded machine a `runnable` process may get almost no processor time.
    const runnable = entries.some(({ state }) => state === "R" || state === "D");
    // A command may be idle for long, for example while it waits for another machine. So further processes count too.
    const busy = pids.length > this.#fewest || runnable || cpuMs - this.#cpuMs > BUSY_SHARE * elapsed;
    if (size !== this.#size || processes !== this.#processes || busy) this.#activeAt = now;
    this.#size = size;
    this.#processes = processes;
    this.#cpuMs = cpuMs;
    this.#checkedAt = now;
    return now - this.#activeAt;
  }
}
