// `PolledSession` polls a session controller for the messages of one session.
//
// Invariants
// 1. Every step is appended to the journal first; `signals` reads only the journal.
// 2. At most one call of the controller per session is in progress, so a slow answer delays the next call.
// 3. Only assistant messages become signals, each once.
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
import type { Session, SessionSignal, SessionSpec, Turn } from "../session.ts";
import { asTuttiError } from "../../schema/error.ts";
import type { World } from "../../world.ts";

/** A new session counts as ready after `READY_AFTER_MS` if the controller does not report readiness. */
const READY_AFTER_MS = 1500;
const POLL_READY_MS = 250;
const LONGEST_BACK_OFF_MS = 60_000;
/** After `MAX_FAILURES` failed polls in a row the session counts as lost. */
const MAX_FAILURES = 10;

interface PolledOptions {
  journal: PolledJournal;
  controller: SessionController;
  spec: SessionSpec;
  world: World;
  pollMs: () => number;
  /** Whether `signals` polls by itself; `poll` works in any case. */
  isWatched: () => boolean;
  /** A turn without a change of its last message for `settleMs` is over. */
  settleMs: number;
  /** Called when `signals` has ended. */
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
  /** Summarises the transcript; `#shapeSince` is the time of its last change. */
  #shape = "";
  #shapeSince = 0;
  /** A poll that is queued but has not started. Callers of `poll` share it. */
  #upcoming: Promise<void> | null = null;
  #polls = 0;

  constructor(options: PolledOptions) {
    this.#options = options;
    this.sessionId = options.spec.sessionId;
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    const { journal, isWatched, onLeft } = this.#options;
    this.#listening = true;
    let next = 0;
    const newSignals = function* (until: PolledRecord["type"] | null): Generator<SessionSignal> {
      for (; next < journal.records.length && journal.records[next]!.type !== until; next++) {
        const signal = signalOf(journal.records[next]!);
        if (signal) yield signal;
      }
    };
    try {
      const isNew = journal.last("ready") === null && journal.end === null;
      yield* newSignals("end");
      yield { type: "caughtUp" };
      // The controller starts the session with its first message, so a new one accepts a turn at once.
      if (isNew) this.#record({ type: "ready" });
      while (!this.#left.signal.aborted) {
        this.#wake = new AbortController();
        yield* newSignals(null);
        if (journal.end) return;
        for (const done of this.#waiting.splice(0)) done();
        const polls = this.#polls;
        await this.#options.world.sleep(this.#waitMs(), this.#wake.signal);
        // A call of `poll` that ended the sleep has read the controller already.
        if (isWatched() && polls === this.#polls) await this.#exclusively(() => this.#readController()).catch(() => {});
      }
    } finally {
      this.#listening = false;
      for (const done of this.#waiting.splice(0)) done();
      onLeft();
    }
  }

  /** Polls now and waits until the consumer of `signals` has received the new signals. */
  async poll(): Promise<void> {
    this.#upcoming ??= this.#exclusively(async () => {
      this.#upcoming = null;
      await this.#readController();
      this.#polls += 1;
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

  /** A polled session never emits `ask`. */
  async answer(): Promise<void> {}

  async interrupt(turn: number): Promise<void> {
    const { journal, controller } = this.#options;
    // Without `interruptSession` the turn continues and its answer counts.
    if (!controller.interruptSession) return;
    await this.#exclusively(async () => {
      if (journal.openTurn?.turn !== turn || journal.has("interrupted", turn) || journal.backendId === null) return;
      this.#record({ type: "interrupted", turn });
      await controller.interruptSession!(journal.backendId);
    });
  }

  /** Leaves the session in the controller. */
  async close(): Promise<void> {
    await this.#exclusively(async () => this.#end("it was closed after its work", true));
  }

  /** Archives the session: a controller has no other way to end one. */
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
    const result = this.#busy.then(work, work);
    this.#busy = result.catch(() => {});
    return result;
  }

  /** Doubles with each failure in a row. */
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
      await world.sleep(POLL_READY_MS, this.#left.signal);
    }
  }

  async #readController(): Promise<void> {
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

  /**
   * The process that sent this turn died before it recorded `sent`. Checks whether the turn arrived. Ends the session
   * if that cannot be determined, because a turn must not be sent twice.
   */
  async #recover(turn: Extract<PolledRecord, { type: "sending" }>): Promise<void> {
    const { journal, controller, world } = this.#options;
    if (journal.backendId === null) {
      const sessions = readSessionList(await controller.getAllSessions());
      const found = sessions.find(({ title, cwd }) => title === turn.title && cwd === turn.cwd);
      if (!found) return this.#end("the controller may or may not have started it", false);
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
    // Recorded with the next message of the agent: until then every poll reads `failures` again.
    const failures: ControllerMessage["failures"] = [];
    for (const { message, count, isLast } of unread(messages, journal.place)) {
      failures.push(...message.failures);
      if (message.role !== "assistant") continue;
      answered ||= holdsAnswer(message.text, turn);
      settled = isLast && !answered && isQuiet && !readBusy(await controller.getSession(backendId));
      // The last message may be incomplete.
      if (isLast && !answered && !settled) return;
      this.#recordFailures(failures.splice(0));
      for (const tool of message.tools) this.#record({ type: "tool", ...tool });
      this.#record({ type: "text", text: message.text, place: { count, key: message.key } });
    }
    if (!answered && !settled) return;
    this.#recordFailures(failures);
    const ending = journal.has("interrupted", turn.turn)
      ? { kind: "interrupted" as const, detail: "the turn was interrupted" }
      : { kind: "ended" as const, detail: "the turn ended" };
    const place = { count: messages.length, key: messages.at(-1)?.key ?? null };
    this.#record({ type: "turnOver", turn: turn.turn, ending, place });
  }

  #recordFailures(failures: ControllerMessage["failures"]): void {
    for (const failure of failures) this.#record({ type: "toolFailed", ...failure });
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
