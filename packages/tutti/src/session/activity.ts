// Whether anything moves in a session: words, or work. An agent whose connection has died says nothing and does nothing,
// and looks from outside just like one that waits for a long command; only the second one uses the processor or has
// children that do.
import { readFileSync } from "node:fs";
import { findMarked } from "./process.ts";

/** Less than this share of one processor is an agent that only waits. */
const BUSY_SHARE = 0.1;
/** The kernel counts processor time in these. */
const TICK_MS = 10;

export class ActivityWatch {
  readonly #mark: string;
  #size = -1;
  #processes = "";
  /** The fewest processes that were seen: more than those are commands of the agent. */
  #fewest = Number.POSITIVE_INFINITY;
  #ticks = 0;
  #lookedAt: number;
  #movedAt: number;

  /** `mark` is the session key that the environment of all its processes carries. */
  constructor(mark: string, now: number) {
    this.#mark = mark;
    this.#lookedAt = now;
    this.#movedAt = now;
  }

  /** Somebody else than the agent is to act; that is not its silence. */
  touch(now: number): void {
    this.#movedAt = now;
  }

  /** For how long nothing has moved. `size` is how much the agent has written by now. */
  look(size: number, now: number): number {
    const pids = findMarked("TUTTI_SESSION_KEY", this.#mark);
    const seen = pids.map(lookAt);
    const ticks = seen.reduce((sum, each) => sum + each.ticks, 0);
    const processes = pids.join(" ");
    this.#fewest = Math.min(this.#fewest, pids.length);
    const elapsed = Math.max(1, now - this.#lookedAt);
    // On a machine that has too much to do, one that wants to run may get next to nothing.
    const wanting = seen.some(({ state }) => state === "R" || state === "D");
    // A command may wait for long without doing anything itself, for another machine for example.
    const busy = pids.length > this.#fewest || wanting || (ticks - this.#ticks) * TICK_MS > BUSY_SHARE * elapsed;
    if (size !== this.#size || processes !== this.#processes || busy) this.#movedAt = now;
    this.#size = size;
    this.#processes = processes;
    this.#ticks = ticks;
    this.#lookedAt = now;
    return now - this.#movedAt;
  }
}

/** What a process is doing, and its user and system time; nothing if it is gone. */
function lookAt(pid: number): { state: string; ticks: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0]!, ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return { state: "", ticks: 0 };
  }
}
