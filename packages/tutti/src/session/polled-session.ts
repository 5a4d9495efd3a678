// A session that a controller runs and that is asked again and again what it has said.
//
// Invariants
// 1. Everything that happens is a record in its journal first; what the engine hears is read from there.
// 2. One thing at a time is asked of the controller about a session: a slow answer delays the next question.
// 3. Only what the assistant says is passed on, each message once.
import { PolledJournal, signalOf, type PolledRecord } from "./polled-journal.ts";
import { badge, holdsAnswer, title, unread } from "./polled-turn.ts";
import {
  readBusy,
  readMessages,
  readReadiness,
  readSessionId,
  readSessionList,
  type ControllerMessage,
  type SessionController,
} from "./session-controller.ts";
import type { Session, SessionSignal, SessionSpec, Turn } from "./session.ts";
import { asTuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

/** How long a session is given to begin, where the controller cannot say when it has. */
export const READY_AFTER_MS = 1500;
const LOOK_FOR_READY_MS = 250;
const LONGEST_BACK_OFF_MS = 60_000;
/** A controller that fails this often in a row has lost the session. */
const MAX_FAILURES = 10;

export interface PolledOptions {
  journal: PolledJournal;
  controller: SessionController;
  spec: SessionSpec;
  world: World;
  /** Between two looks. */
  pollMs: () => number;
  /** Whether it is to be looked at by itself at all. */
  isWatched: () => boolean;
  /** A turn whose last message has not changed for this long is over. */
  settleMs: number;
  /** Nobody listens any more. */
  onLeft: () => void;
}

export class PolledSession implements Session {
  readonly sessionId: string;
  readonly #options: PolledOptions;
  readonly #left = new AbortController();
  #wake = new AbortController();
  #busy: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #listening = false;
  #waiting: (() => void)[] = [];
  /** What the transcript looked like, and since when. */
  #shape = "";
  #shapeSince = 0;

  constructor(options: PolledOptions) {
    this.#options = options;
    this.sessionId = options.spec.sessionId;
  }

  #upcoming: Promise<void> | null = null;
  #looks = 0;

  async *signals(): AsyncGenerator<SessionSignal> {
    const { journal, isWatched, onLeft } = this.#options;
    this.#listening = true;
    let told = 0;
    const untold = function* (until: PolledRecord["type"] | null): Generator<SessionSignal> {
      for (; told < journal.records.length && journal.records[told]!.type !== until; told++) {
        const signal = signalOf(journal.records[told]!);
        if (signal) yield signal;
      }
    };
    try {
      const isNew = journal.last("ready") === null && journal.end === null;
      yield* untold("end");
      yield { type: "caughtUp" };
      // The session itself begins with its first message; before that there is nothing to wait for.
      if (isNew) this.#record({ type: "ready" });
      while (!this.#left.signal.aborted) {
        this.#wake = new AbortController();
        yield* untold(null);
        if (journal.end) return;
        for (const done of this.#waiting.splice(0)) done();
        const looks = this.#looks;
        await this.#options.world.sleep(this.#waitMs(), this.#wake.signal);
        // Whoever was woken because somebody has looked need not look again.
        if (isWatched() && looks === this.#looks) await this.#exclusively(() => this.#look()).catch(() => {});
      }
    } finally {
      this.#listening = false;
      for (const done of this.#waiting.splice(0)) done();
      onLeft();
    }
  }

  /** Looks now, whatever the hour, and waits until what was found has been dealt with. */
  async poll(): Promise<void> {
    // Whoever asks while a look is still to come is served by that one.
    this.#upcoming ??= this.#exclusively(async () => {
      this.#upcoming = null;
      await this.#look();
      this.#looks += 1;
    });
    await this.#upcoming;
    if (!this.#listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#wake.abort();
    await promise;
  }

  async deliver(turn: Turn): Promise<void> {
    await this.#exclusively(() => this.#send(turn));
    this.#wake.abort();
  }

  wasDelivered(turn: number): boolean {
    return this.#options.journal.has("sending", turn);
  }

  /** Such sessions ask nothing in the middle of a turn. */
  async answer(): Promise<void> {}

  async interrupt(turn: number): Promise<void> {
    const { journal, controller } = this.#options;
    // An agent that cannot be interrupted is left alone, and what it answers counts.
    if (!controller.interruptSession) return;
    await this.#exclusively(async () => {
      if (journal.openTurn?.turn !== turn || journal.has("interrupted", turn) || journal.backendId === null) return;
      this.#record({ type: "interrupted", turn });
      await controller.interruptSession!(journal.backendId);
    });
  }

  /** It has answered; the controller keeps it as it is. */
  async close(): Promise<void> {
    await this.#exclusively(async () => this.#end("it was closed after its work", true));
  }

  /** A controller has no other way to end a session than to put it away. */
  async stop(): Promise<void> {
    const { journal, controller } = this.#options;
    await this.#exclusively(async () => {
      if (journal.end) return;
      const archived = journal.backendId !== null;
      if (journal.backendId !== null) await controller.archiveSession(journal.backendId);
      this.#end("it was stopped", true, archived);
    });
  }

  leave(): void {
    this.#left.abort();
    this.#wake.abort();
  }

  #record(record: PolledRecord): void {
    this.#options.journal.append(record);
  }

  #end(reason: string, deliberate: boolean, archived = false): void {
    if (this.#options.journal.end === null) this.#record({ type: "end", reason, deliberate, archived });
    this.#wake.abort();
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#busy.then(work, work);
    this.#busy = mine.catch(() => {});
    return mine;
  }

  /** After each failure in a row twice as long. */
  #waitMs(): number {
    return Math.min(LONGEST_BACK_OFF_MS, this.#options.pollMs() * 2 ** this.#failures);
  }

  async #send(turn: Turn): Promise<void> {
    const { journal, spec } = this.#options;
    if (journal.end !== null || this.wasDelivered(turn.number)) return;
    const { DELIMITER_START = "", DELIMITER_END = "" } = turn.variables;
    const sending = {
      type: "sending" as const,
      turn: turn.number,
      phase: turn.phase,
      text: spec.taskId === null ? `${badge(turn)}\n\n${turn.text}` : turn.text,
      delimiterStart: DELIMITER_START,
      delimiterEnd: DELIMITER_END,
      title: journal.backendId === null ? title(spec, turn) : null,
      cwd: spec.cwd,
    };
    this.#record(sending);
    await this.#pass(sending);
  }

  async #pass({ turn, text, title, cwd }: Extract<PolledRecord, { type: "sending" }>): Promise<void> {
    const { journal, controller, world } = this.#options;
    if (journal.backendId === null) {
      const answer = await controller.startNewSessionWithMessage(cwd, text, { title: title ?? "" });
      this.#record({ type: "opened", backendId: readSessionId(answer), at: world.now() });
    } else {
      await this.#untilReady(journal.backendId);
      await controller.sendMessage(journal.backendId, text);
    }
    this.#record({ type: "sent", turn });
  }

  async #untilReady(backendId: string): Promise<void> {
    const { journal, controller, world } = this.#options;
    const openedAt = journal.last("opened")!.at;
    for (;;) {
      const readiness = readReadiness(await controller.getSession(backendId));
      if (readiness === "ready" || this.#left.signal.aborted) return;
      const left = openedAt + READY_AFTER_MS - world.now();
      if (readiness === "unknown") return world.sleep(Math.max(0, left), this.#left.signal);
      await world.sleep(LOOK_FOR_READY_MS, this.#left.signal);
    }
  }

  async #look(): Promise<void> {
    const { journal } = this.#options;
    const turn = journal.openTurn;
    if (turn === null || journal.end !== null) return;
    try {
      if (!journal.has("sent", turn.turn)) await this.#recover(turn);
      if (journal.backendId !== null && journal.end === null) await this.#read(turn, journal.backendId);
      this.#failures = 0;
    } catch (error) {
      if (++this.#failures >= MAX_FAILURES) this.#end(asTuttiError(error).message, false);
      throw error;
    }
  }

  /** Somebody died while this turn was being sent. Whether it arrived can be seen; what cannot be seen is not repeated. */
  async #recover(turn: Extract<PolledRecord, { type: "sending" }>): Promise<void> {
    const { journal, controller, world } = this.#options;
    if (journal.backendId === null) {
      const sessions = readSessionList(await controller.getAllSessions());
      const found = sessions.find(({ title, cwd }) => title === turn.title && cwd === turn.cwd);
      if (!found) return this.#end("it is not known whether the controller started it", false);
      this.#record({ type: "opened", backendId: found.id, at: world.now() });
      return this.#record({ type: "sent", turn: turn.turn });
    }
    const messages = unread(readMessages(await controller.getTranscript(journal.backendId)), journal.place);
    const arrived = messages.some(({ message }) => message.role !== "assistant" && message.text === turn.text);
    if (arrived) return this.#record({ type: "sent", turn: turn.turn });
    await this.#pass(turn);
  }

  async #read(turn: Extract<PolledRecord, { type: "sending" }>, backendId: string): Promise<void> {
    const { journal, controller } = this.#options;
    const messages = readMessages(await controller.getTranscript(backendId));
    const isQuiet = this.#isQuiet(messages);
    let answered = this.#texts(turn).some((text) => holdsAnswer(text, turn));
    let settled = false;
    for (const { message, count, isLast } of unread(messages, journal.place)) {
      if (message.role !== "assistant") continue;
      answered ||= holdsAnswer(message.text, turn);
      settled = isLast && !answered && isQuiet && !readBusy(await controller.getSession(backendId));
      // The last message may still grow.
      if (isLast && !answered && !settled) return;
      for (const tool of message.tools) this.#record({ type: "tool", ...tool });
      this.#record({ type: "text", text: message.text, place: { count, key: message.key } });
    }
    if (!answered && !settled) return;
    const ending = journal.has("interrupted", turn.turn)
      ? { kind: "interrupted" as const, detail: "the turn was interrupted" }
      : { kind: "ended" as const, detail: "the turn ended" };
    const place = { count: messages.length, key: messages.at(-1)?.key ?? null };
    this.#record({ type: "turnOver", turn: turn.turn, ending, place });
  }

  #texts({ turn }: { turn: number }): string[] {
    const { records } = this.#options.journal;
    const from = records.findIndex((record) => record.type === "sending" && record.turn === turn);
    return records.slice(from).flatMap((record) => (record.type === "text" ? [record.text] : []));
  }

  #isQuiet(messages: readonly ControllerMessage[]): boolean {
    const { world, settleMs } = this.#options;
    const last = messages.at(-1);
    const shape = `${messages.length} ${last?.key ?? ""} ${last?.text.length ?? 0} ${last?.tools.length ?? 0}`;
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#shapeSince = world.mono();
    }
    return world.mono() - this.#shapeSince >= settleMs;
  }
}
