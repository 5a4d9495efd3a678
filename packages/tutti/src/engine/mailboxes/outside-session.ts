// `OutsideSession` stands for a role that another process plays. Nothing is started for it: a turn is over when the
// role has left mail about its task. Everything is in the files of the mailbox, so a session that is opened again
// continues where it was.
import type { Ending } from "../../schema/ending.ts";
import type { Session, SessionSignal, Turn } from "../../session/session.ts";
import type { World } from "../../world.ts";

const POLL_MS = 300;
const NO_REASON = "there is news";

const ENDED: Ending = { kind: "ended", detail: "the role left mail" };
const INTERRUPTED: Ending = { kind: "interrupted", detail: "the turn was interrupted" };

interface OutsideSessionOptions {
  sessionId: string;
  /** Whether the role has left mail that was not judged yet. */
  hasMail: () => Promise<boolean>;
  /** The turn that an earlier engine has started, or null. */
  openTurn: number | null;
  world: World;
}

export class OutsideSession implements Session {
  readonly #options: OutsideSessionOptions;
  #turn: number | null = null;
  /** The turn that ended while no engine ran. */
  #earlier: number | null = null;
  /** `hasMail` was called after the delivery of this turn. */
  #looked: number | null = null;
  #isInterrupted = false;
  #end: "left" | "stopped" | null = null;
  #wait = new AbortController();

  constructor(options: OutsideSessionOptions) {
    this.#options = options;
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    yield { type: "ready" };
    // Until `caughtUp` no deadline is checked, so mail that came in time counts however late it is read.
    const { openTurn } = this.#options;
    if (openTurn !== null && (await this.#options.hasMail())) {
      this.#earlier = openTurn;
      this.#turn = null;
      yield { type: "turnOver", turn: openTurn, ending: ENDED };
    }
    yield { type: "caughtUp" };
    while (this.#end === null) {
      const turn = this.#turn;
      if (turn !== null && (this.#isInterrupted || (await this.#options.hasMail()))) {
        const ending = this.#isInterrupted ? INTERRUPTED : ENDED;
        this.#turn = null;
        this.#isInterrupted = false;
        yield { type: "turnOver", turn, ending };
      } else if (turn !== null && this.#looked !== turn) {
        this.#looked = turn;
        yield { type: "caughtUp" };
      } else {
        this.#wait = new AbortController();
        await this.#options.world.sleep(POLL_MS, this.#wait.signal);
      }
    }
    if (this.#end === "stopped") yield { type: "gone", reason: "it was ended", deliberate: true };
  }

  async deliver({ number }: Turn): Promise<void> {
    if (number === this.#earlier) return;
    this.#turn = number;
    this.#wait.abort(NO_REASON);
  }

  /** The mail of a turn is put into the box once, however often the turn is delivered. */
  wasDelivered(turn: number): boolean {
    return this.#turn === turn || this.#earlier === turn;
  }

  /** The role may have left its mail during a pause, or while the deadline passed unnoticed. */
  hasLooked(turn: number): boolean {
    return this.#looked === turn || this.#earlier === turn;
  }

  async answer(): Promise<void> {}

  async interrupt(turn: number): Promise<void> {
    if (this.#turn !== turn) return;
    this.#isInterrupted = true;
    this.#wait.abort(NO_REASON);
  }

  async close(): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#end ??= "stopped";
    this.#wait.abort(NO_REASON);
  }

  leave(): void {
    this.#end ??= "left";
    this.#wait.abort(NO_REASON);
  }
}
