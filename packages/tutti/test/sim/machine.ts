// The machine on which sessions live. They outlive engines: what they say is kept in a story that every engine hears from
// its beginning.
import { program, type Pause } from "./agent.ts";
import { WORLD } from "./loop.ts";
import { Providers, type Trouble } from "./providers.ts";
import type { Random } from "./random.ts";
import type { Repository } from "./repository.ts";
import type { Stage } from "./stage.ts";
import type { Ending } from "../../src/schema/ending.ts";
import type { SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";

export interface Process {
  spec: SessionSpec;
  state: "starting" | "alive" | "over";
  story: SessionSignal[];
  turns: Map<number, Turn>;
  open: Turn | null;
  interrupted: Set<number>;
  random: Random;
  /** What it said of its own task, by turn: the truth against which the log is held. */
  claims: Map<number, string>;
  wrote: Map<string, string>;
  /** Turns that it ended with a question. */
  questions: Set<number>;
  tools: number;
  waiting: Map<string, Generator<Pause>>;
  running: Generator<Pause> | null;
  listeners: Set<() => void>;
  /** Whether it is to end as soon as its open turn is over. */
  closing: boolean;
}

export class Machine {
  readonly stage: Stage;
  readonly repository: Repository;
  readonly providers: Providers;
  readonly processes = new Map<string, Process>();
  readonly #random: Random;

  constructor(stage: Stage, repository: Repository) {
    this.stage = stage;
    this.repository = repository;
    this.providers = new Providers(stage);
    this.#random = stage.random.fork("machine");
  }

  living(): Process[] {
    return [...this.processes.values()].filter(({ state }) => state === "alive");
  }

  workingIn(path: string): string | null {
    return this.living().find(({ spec }) => spec.cwd === path)?.spec.sessionId ?? null;
  }

  /** The session's folder is made: from now on it can be found, whether or not it ever starts. */
  begin(spec: SessionSpec): Process {
    const known = this.processes.get(spec.sessionId);
    if (known) return known;
    const process: Process = {
      spec,
      state: "starting",
      story: [],
      turns: new Map(),
      open: null,
      interrupted: new Set(),
      random: this.stage.random.fork(spec.sessionId),
      claims: new Map(),
      wrote: new Map(),
      questions: new Set(),
      tools: 0,
      waiting: new Map(),
      running: null,
      listeners: new Set(),
      closing: false,
    };
    this.processes.set(spec.sessionId, process);
    return process;
  }

  /** Never starts one id twice, and none that was ended before it had begun. */
  start(process: Process): void {
    if (process.state !== "starting") return;
    if (!this.stage.calm && process.random.chance(0.01)) {
      this.stage.count("agents that cannot be started");
      this.say(process, { type: "unstartable", error: "no such program" });
      return this.end(process, "the agent could not be started", false);
    }
    process.state = "alive";
    this.stage.count("sessions");
    this.say(process, { type: "ready" });
  }

  say(process: Process, signal: SessionSignal): void {
    process.story.push(signal);
    for (const listener of process.listeners) listener();
  }

  /** A turn of the same number changes nothing. */
  deliver(process: Process, turn: Turn): void {
    if (process.turns.has(turn.number) && !this.stage.has("turn-delivered-twice")) return;
    const again = process.turns.has(turn.number);
    process.turns.set(turn.number, turn);
    if (process.state !== "alive") return;
    this.stage.require(!again, "turns", () => `turn ${turn.number} reached ${process.spec.sessionId} twice`);
    this.stage.require(
      process.open === null,
      "turns",
      () => `${process.spec.sessionId} got a turn in the middle of one`,
    );
    this.say(process, { type: "sent", turn: turn.number });
    process.open = turn;
    this.go(process, program(this, process, turn));
  }

  /** Goes on with what the agent is doing, as long as it lives and is still doing it. */
  go(process: Process, running: Generator<Pause>): void {
    process.running = running;
    const { value, done } = running.next();
    if (done || process.running !== running || process.state !== "alive") return;
    if (typeof value === "string") {
      process.waiting.set(value, running);
      return;
    }
    this.stage.loop.at(value, WORLD, `agent ${process.spec.sessionId}`, () => {
      if (process.state === "alive" && process.running === running) this.go(process, running);
    });
  }

  answer(process: Process, askId: string, text: string): void {
    if (process.state !== "alive") return;
    const asked = process.waiting.get(askId);
    const known = process.story.some((signal) => signal.type === "ask" && signal.askId === askId);
    this.stage.require(known, "questions", () => `${process.spec.sessionId} never asked ${askId} (${text})`);
    process.waiting.delete(askId);
    if (asked && process.running === asked) this.go(process, asked);
  }

  interrupt(process: Process, turn: number): void {
    if (process.state !== "alive" || process.open?.number !== turn || process.interrupted.has(turn)) return;
    process.interrupted.add(turn);
    this.say(process, { type: "interrupted", turn });
    this.stage.count("interrupts");
    if (!process.random.chance(0.7)) return this.stage.count("interrupts ignored");
    process.waiting.clear();
    this.go(process, this.#obey(process));
  }

  *#obey(process: Process): Generator<Pause> {
    yield process.random.pick([10, 500, 2000]);
    this.endTurn(process, "ended", "the turn ended");
  }

  /** However an agent ends a turn that it was asked to stop, we are the reason. */
  endTurn(process: Process, kind: Ending["kind"], detail: string, trouble?: Trouble): void {
    const turn = process.open;
    if (!turn) return;
    process.open = null;
    if (trouble?.cause) this.stage.count(`turns that ended for: ${trouble.cause}`);
    if (trouble?.retryAfterMs !== undefined) this.stage.count("refusals that name a time");
    const stopped = process.interrupted.has(turn.number);
    const ending: Ending = stopped ? { kind: "interrupted", detail } : { kind, detail, ...trouble };
    this.say(process, { type: "turnOver", turn: turn.number, ending });
    if (process.closing) this.end(process, "it was closed after its work", true);
  }

  /** The agent ends by itself. */
  exit(process: Process, detail: string): void {
    this.endTurn(process, "exited", detail);
    if (process.state === "alive") this.end(process, "the agent exited", false);
  }

  end(process: Process, reason: string, deliberate: boolean): void {
    if (process.state === "over") return;
    process.state = "over";
    process.running = null;
    this.say(process, { type: "gone", reason, deliberate });
  }

  /** No more input; it may finish what it is doing, for a time. */
  close(process: Process): void {
    process.closing = true;
    if (process.open === null || process.state !== "alive")
      return this.end(process, "it was closed after its work", true);
    this.stage.loop.at(5000, WORLD, `grace of ${process.spec.sessionId}`, () =>
      this.end(process, "it was stopped", true),
    );
  }

  /** The machine itself goes down, and comes up without its processes. */
  reboot(): void {
    this.stage.count("reboots");
    for (const process of this.processes.values()) this.end(process, "its keeper died", false);
  }

  /** No engine was seen for too long. */
  orphan(): void {
    this.stage.count("orphaned sessions", this.living().length);
    for (const process of this.living()) this.end(process, "it was ended because no engine was there", true);
  }

  /** How long ending a process tree takes. */
  endingMs(): number {
    return this.#random.pick([0, 20, 400, 2000]);
  }
}
