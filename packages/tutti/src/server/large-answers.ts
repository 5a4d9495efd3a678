import { setImmediate as nextTurn } from "node:timers/promises";
import { ReadPace } from "./read-pace.ts";

/**
 * `LargeAnswers` builds answers that cannot be streamed one after another, at the pace of `ReadPace`. Otherwise many
 * requests at once would each hold a whole answer before the first of them is counted as unread.
 */
export class LargeAnswers {
  readonly #pace = new ReadPace();
  #last: Promise<unknown> = Promise.resolve();

  /** Returns null without a call of `build` if `signal` is aborted: the client is gone. */
  build<T>(build: (count: (bytes: number) => void) => T | Promise<T>, signal: AbortSignal): Promise<T | null> {
    const built = this.#last.then(async () => {
      if (!signal.aborted) await this.#pace.turn();
      return signal.aborted ? null : build((bytes) => this.#pace.count(bytes));
    });
    // After `nextTurn`, the connection has the answer, so `#pace` counts it as unread.
    this.#last = built.then(() => nextTurn()).catch(() => {});
    return built;
  }
}
