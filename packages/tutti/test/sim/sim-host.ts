// The session host of one engine, on a machine that outlives it.
import { isDeepStrictEqual } from "node:util";
import type { Effects } from "./effects.ts";
import { WORLD } from "./loop.ts";
import type { Machine, Process } from "./machine.ts";
import { TuttiError } from "../../src/schema/error.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";

export class SimHost implements SessionHost {
  readonly #machine: Machine;
  readonly #effects: Effects;
  readonly #handles = new Set<SimSession>();

  constructor(machine: Machine, effects: Effects) {
    this.#machine = machine;
    this.#effects = effects;
  }

  forgetListeners(): void {
    for (const handle of this.#handles) handle.deafen();
  }

  /** The agents that wait for this host end with its engine, a moment later. */
  endWarm(): void {
    const { stage, warm } = this.#machine;
    for (const agent of warm.values()) {
      if (agent.host !== this) continue;
      stage.count("warm sessions that lost their engine");
      stage.loop.at(this.#effects.latency(), WORLD, `${agent.spec.sessionId} ends`, () => this.#machine.cool(agent));
    }
  }

  warm(spec: SessionSpec): boolean {
    const { warm, processes } = this.#machine;
    const isTaken = [...warm.values()].some(({ host }) => host === this);
    if (isTaken || warm.has(spec.sessionId) || processes.has(spec.sessionId)) return false;
    this.#machine.warmUp(spec, this);
    return true;
  }

  claim(spec: SessionSpec, isCurrent: boolean): Promise<boolean> {
    return this.#effects.act(`claim ${spec.sessionId}`, () => {
      const agent = this.#machine.warm.get(spec.sessionId);
      if (!agent) return false;
      const isSame = agent.host === this && isDeepStrictEqual(agent.spec, spec);
      const isUsed = isSame && (isCurrent || this.#machine.stage.has("warm-session-stale"));
      if (isUsed) this.#machine.claim(agent);
      else this.#machine.cool(agent);
      if (!isUsed) this.#machine.stage.count("warm sessions not used");
      return isUsed;
    });
  }

  async transcript(): Promise<[]> {
    return [];
  }

  open(spec: SessionSpec): Session {
    const session = new SimSession(spec, this.#machine, this.#effects);
    this.#handles.add(session);
    return session;
  }

  async reap(runId: string, keep: readonly string[]): Promise<void> {
    const { stage } = this.#machine;
    if (stage.has("nothing-reaped")) return;
    const left = [...this.#machine.processes.values()].filter(
      ({ spec, state }) => spec.runId === runId && state !== "over" && !keep.includes(spec.sessionId),
    );
    if (left.length > 0) stage.count("sessions reaped", left.length);
    const warm = [...this.#machine.warm.values()].filter(
      ({ spec }) => spec.runId === runId && !keep.includes(spec.sessionId) && !stage.has("warm-session-left"),
    );
    const ends = Promise.all([...left, ...warm].map(({ spec }) => this.end(runId, spec.sessionId)));
    if (!stage.has("reap-does-not-wait")) await ends;
  }

  end(_: string, sessionId: string): Promise<void> {
    const { stage } = this.#machine;
    if (stage.has("session-not-ended")) return Promise.resolve();
    return new Promise((resolve) => {
      this.#effects.after(this.#machine.endingMs(), `end ${sessionId}`, () => {
        const process = this.#machine.processes.get(sessionId);
        if (process) this.#machine.end(process, "it was stopped", true);
        const warm = this.#machine.warm.get(sessionId);
        if (warm) this.#machine.cool(warm);
        this.#effects.after(this.#effects.latency(), `ended ${sessionId}`, resolve);
      });
    });
  }

  archive(_: string, sessionId: string): Promise<void> {
    return this.#effects.act(`archive ${sessionId}`, () => {
      if (this.#machine.processes.get(sessionId)?.state === "alive") throw stillAlive(sessionId);
    });
  }

  isArchived(): boolean {
    return false;
  }

  forget(runId: string): Promise<void> {
    return this.#effects.act(`forget ${runId}`, () => {
      const left = this.#machine.living().find(({ spec }) => spec.runId === runId);
      if (left) throw stillAlive(left.spec.sessionId);
    });
  }

  hasRun(runId: string): boolean {
    return [...this.#machine.processes.values()].some(({ spec }) => spec.runId === runId);
  }

  check(): void {}
}

const stillAlive = (sessionId: string): TuttiError => new TuttiError("wrong_state", `${sessionId} is still alive`);

class SimSession implements Session {
  readonly sessionId: string;
  readonly #spec: SessionSpec;
  readonly #machine: Machine;
  readonly #effects: Effects;
  #process: Process | null = null;
  #left = false;
  #wake: (() => void) | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(spec: SessionSpec, machine: Machine, effects: Effects) {
    this.sessionId = spec.sessionId;
    this.#spec = spec;
    this.#machine = machine;
    this.#effects = effects;
  }

  deafen(): void {
    for (const listener of this.#listeners) this.#process?.listeners.delete(listener);
  }

  #listen(process: Process, listener: () => void): void {
    this.#process = process;
    this.#listeners.add(listener);
    process.listeners.add(listener);
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    const process = this.#start();
    this.#listen(process, () => this.#wake?.());
    let received = 0;
    const past = process.story.length;
    if (past > 0) this.#machine.stage.count("adoptions");
    let caughtUp = false;
    while (!this.#left) {
      await this.#pause();
      while (received < process.story.length && !this.#left) {
        const signal = process.story[received++]!;
        if (signal.type === "gone") {
          if (!caughtUp) yield { type: "caughtUp" };
          yield signal;
          return;
        }
        yield this.#mistaken(signal);
      }
      if (!caughtUp) yield { type: "caughtUp" };
      caughtUp = true;
      if (received === process.story.length && !this.#left) await this.#news();
    }
  }

  #start(): Process {
    const { stage } = this.#machine;
    const process = this.#machine.begin(this.#spec);
    if (process.state === "alive" && stage.has("attempt-started-twice")) this.#startAgain(process);
    const start = () => this.#machine.start(process);
    if (process.state === "starting")
      this.#effects.after(this.#effects.latency(), `start ${this.sessionId}`, start, start);
    return process;
  }

  /** Planted (`attempt-started-twice`): adopting a session starts a second process for it. */
  #startAgain(process: Process): void {
    const twin = { ...process, spec: { ...process.spec }, listeners: new Set<() => void>(), story: [] };
    this.#machine.processes.set(`${this.sessionId} again`, twin);
  }

  /** Planted (`foreign-words`): uses the output of another session as this one's. */
  #mistaken(signal: SessionSignal): SessionSignal {
    const { stage, processes } = this.#machine;
    if (signal.type !== "text" || !stage.has("foreign-words")) return signal;
    const others = [...processes.values()].filter(
      ({ spec }) => spec.sessionId !== this.sessionId && spec.taskId !== null,
    );
    const words = others.flatMap(({ story }) => story.filter(({ type }) => type === "text")).at(-1);
    return words?.type === "text"
      ? { ...words, text: words.text.replaceAll(/"t\d"/g, `"${this.#spec.taskId}"`) }
      : signal;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#effects.after(this.#effects.latency(), `listen to ${this.sessionId}`, resolve);
    });
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  deliver(turn: Turn): Promise<void> {
    return this.#effects.act(`deliver turn ${turn.number} to ${this.sessionId}`, () => {
      this.#machine.deliver(this.#machine.begin(this.#spec), turn);
    });
  }

  wasDelivered(turn: number): boolean {
    if (this.#machine.stage.has("turn-delivered-twice")) return false;
    return this.#machine.begin(this.#spec).turns.has(turn);
  }

  answer(askId: string, text: string): Promise<void> {
    return this.#effects.act(`answer ${askId} of ${this.sessionId}`, () => {
      const { stage, processes } = this.#machine;
      const other = [...processes.values()].find(
        ({ state, spec }) => state === "alive" && spec.sessionId !== this.sessionId,
      );
      const wrong = stage.has("answer-to-another") && other;
      this.#machine.answer(wrong || this.#machine.begin(this.#spec), askId, text);
    });
  }

  interrupt(turn: number): Promise<void> {
    return this.#effects.act(`interrupt ${this.sessionId}`, () => {
      this.#machine.interrupt(this.#machine.begin(this.#spec), turn);
    });
  }

  close(): Promise<void> {
    const process = this.#machine.begin(this.#spec);
    return new Promise((resolve) => {
      const done = () => {
        if (process.state !== "over") return;
        process.listeners.delete(done);
        this.#effects.after(this.#effects.latency(), `closed ${this.sessionId}`, resolve);
      };
      this.#effects.after(this.#effects.latency(), `close ${this.sessionId}`, () => {
        this.#listen(process, done);
        this.#machine.close(process);
        done();
      });
    });
  }

  stop(): Promise<void> {
    return this.#effects.act(`stop ${this.sessionId}`, () => {
      this.#machine.end(this.#machine.begin(this.#spec), "it was stopped", true);
    });
  }

  leave(): void {
    this.#left = true;
    this.deafen();
    this.#wake?.();
  }
}
