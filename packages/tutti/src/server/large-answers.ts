import { setImmediate as nextTurn } from "node:timers/promises";
import { unreadAnswers } from "./unread-answers.ts";

/**
 * `LargeAnswers` builds answers that cannot be streamed one after another, each when the unread answers leave room for
 * it. Otherwise many requests at once would each hold a whole answer before the first of them is counted as unread.
 */
export class LargeAnswers {
  readonly #room: () => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(room = (): Promise<void> => unreadAnswers.room()) {
    this.#room = room;
  }

  /** Returns null without a call of `build` if `signal` is aborted: the client is gone. */
  build<T>(build: () => T | Promise<T>, signal: AbortSignal): Promise<T | null> {
    const built = this.#last.then(async () => {
      if (!signal.aborted) await this.#room();
      return signal.aborted ? null : build();
    });
    // After `nextTurn`, the connection has the answer, so `#room` counts it.
    this.#last = built.then(() => nextTurn()).catch(() => {});
    return built;
  }
}
