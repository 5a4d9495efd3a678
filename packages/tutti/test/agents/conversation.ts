// A conversation with an agent under a keeper: delivers turns, records all signals and answers questions.
import { turn } from "../session/session-lab.ts";
import type { Phase } from "../../src/schema/status.ts";
import type { Session, SessionSignal } from "../../src/session/session.ts";

export class Conversation {
  readonly session: Session;
  readonly received: SessionSignal[] = [];
  readonly #answer: ((question: string) => string) | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #done: Promise<void>;

  constructor(session: Session, answer?: (question: string) => string) {
    this.session = session;
    this.#answer = answer;
    this.#done = this.#listen();
  }

  async #listen(): Promise<void> {
    for await (const signal of this.session.signals()) {
      this.received.push(signal);
      if (signal.type === "ask" && this.#answer) await this.session.answer(signal.askId, this.#answer(signal.question));
      for (const wake of this.#waiting) wake();
    }
    for (const wake of this.#waiting) wake();
  }

  /** Waits for a matching signal from index `from` on. */
  async until(is: (signal: SessionSignal) => boolean, from = 0): Promise<SessionSignal> {
    for (;;) {
      const found = this.received.slice(from).find(is);
      if (found) return found;
      if (this.received.at(-1)?.type === "gone")
        throw new Error(`the session has ended: ${JSON.stringify(this.received.slice(-5), null, 1)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  /** Delivers a turn once the session is ready. */
  async give(number: number, text: string, phase: Phase = "workerExecution"): Promise<void> {
    await this.until(({ type }) => type === "ready");
    await this.session.deliver(turn(number, text, { phase }));
  }

  /** Delivers a turn and returns its signals. */
  async turn(number: number, text: string): Promise<SessionSignal[]> {
    await this.give(number, text);
    return this.over(number);
  }

  /** Waits until a turn ends and returns its signals. */
  async over(number: number): Promise<SessionSignal[]> {
    const over = await this.until((signal) => signal.type === "turnOver" && signal.turn === number);
    const from = this.received.findIndex((signal) => signal.type === "sent" && signal.turn === number);
    return this.received.slice(from, this.received.indexOf(over) + 1);
  }

  async end(): Promise<void> {
    await this.session.stop();
    await this.#done;
  }
}
