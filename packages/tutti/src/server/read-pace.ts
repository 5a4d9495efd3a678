import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { unreadAnswers } from "./unread-answers.ts";

/** Together they limit all readers of one `ReadPace` to about 50 MB per second. */
const BYTES_PER_PAUSE = 2 * 1024 * 1024;
const PAUSE_MS = 40;

/** `ReadPace` lets many clients read large answers in turn, so that other requests are answered between two parts. */
export class ReadPace {
  readonly #sleep: (ms: number) => Promise<unknown>;
  #lastTurn: Promise<void> = Promise.resolve();
  #bytes = 0;

  constructor(wait: (ms: number) => Promise<unknown> = sleep) {
    this.#sleep = wait;
  }

  /** `turn` resolves for one caller per turn of the event loop. */
  turn(): Promise<void> {
    return (this.#lastTurn = this.#lastTurn.then(() => this.#pause()));
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** After `BYTES_PER_PAUSE` it sleeps, because reading without a pause outruns the garbage collector. */
  async #pause(): Promise<void> {
    await unreadAnswers.room();
    if (this.#bytes < BYTES_PER_PAUSE) return nextTurn();
    this.#bytes = 0;
    await this.#sleep(PAUSE_MS);
  }
}
