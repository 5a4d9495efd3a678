// What is noted of every task, in the same way for every engine: when it began and when its end was stored. The task
// itself does nothing. Where the process is going to be killed, each task also leaves two lines in a file that outlives it.
import { closeSync, openSync, writeSync } from "node:fs";

export interface Record {
  /** When the first task could be started, and when the last end was known. */
  from: number;
  to: number;
  /** Tasks with the moments at which they began, in that order. */
  starts: [string, number][];
  /** Tasks with the moments at which the engine knew that their end was stored. */
  ends: [string, number][];
  /** For an engine that starts a session first and gives it its task then: the moments at which that is stored. */
  prompted: [string, number][];
  /** Events that the engine stored in all, if it counts them. */
  stored: number;
}

export class Recorder {
  readonly #starts: [string, number][] = [];
  readonly #ends: [string, number][] = [];
  readonly #prompted: [string, number][] = [];
  readonly #trace: number | null;
  #from = 0;
  stored = 0;

  constructor(traceFile: string | null) {
    this.#trace = traceFile === null ? null : openSync(traceFile, "a");
  }

  begin(): void {
    this.#from = performance.now();
  }

  prompted(id: string): void {
    this.#prompted.push([id, performance.now()]);
  }

  started(id: string): void {
    this.#starts.push([id, performance.now()]);
  }

  ended(id: string): void {
    this.#ends.push([id, performance.now()]);
  }

  /** The task itself. */
  work(id: string): void {
    if (this.#trace === null) return;
    writeSync(this.#trace, `began ${id} ${process.hrtime.bigint()}\n`);
    writeSync(this.#trace, `ended ${id} ${process.hrtime.bigint()}\n`);
  }

  close(): Record {
    const to = performance.now();
    if (this.#trace !== null) closeSync(this.#trace);
    return {
      from: this.#from,
      to,
      starts: this.#starts,
      ends: this.#ends,
      prompted: this.#prompted,
      stored: this.stored,
    };
  }
}
