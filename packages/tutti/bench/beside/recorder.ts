// Records the start and the stored end of every task, in the same way for every engine. The task itself does nothing.
// If the process will be killed, each task also writes two lines to a file that outlives it.
import { closeSync, openSync, writeSync } from "node:fs";

export interface Record {
  /** When the first task could start, and when the last end was known. */
  from: number;
  to: number;
  starts: [string, number][];
  /** Tasks with the times at which the engine knew that their end was stored. */
  ends: [string, number][];
  /** For an engine that starts a session before it delivers the task: the times at which the delivery is stored. */
  prompted: [string, number][];
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
