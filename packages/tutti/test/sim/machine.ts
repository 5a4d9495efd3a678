// The machine that runs sessions. Sessions outlive engines: their signals are kept in `story`, which every engine reads
// from its start.
import { program, type Pause } from "./agent.ts";
import { WORLD } from "./loop.ts";
import { Providers, type Trouble } from "./providers.ts";
import type { Random } from "./random.ts";
import { INSTRUCTIONS, type Repository } from "./repository.ts";
import type { Box } from "./sim-mailbox.ts";
import type { Stage } from "./stage.ts";
import type { Ending, FailureCause } from "../../src/schema/ending.ts";
import type { SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";

export interface Process {
  spec: SessionSpec;
  state: "starting" | "alive" | "over";
  story: SessionSignal[];
  turns: Map<number, Turn>;
  open: Turn | null;
  interrupted: Set<number>;
  random: Random;
  /** Task status that the agent has reported, by turn. The checks compare the log with it. */
  claims: Map<number, string>;
  /** Verdict of a security review, by turn. */
  verdicts: Map<number, string>;
  wrote: Map<string, string>;
  questions: Set<number>;
  tools: number;
  waiting: Map<string, Generator<Pause>>;
  running: Generator<Pause> | null;
  listeners: Set<() => void>;
  /** Set by `close`: the session ends after its open turn. */
  closing: boolean;
}

/** The agent of a session that has not started waits for its prompt. */
export interface WarmAgent {
  spec: SessionSpec;
  /** The host of the engine that started it. */
  host: object;
  /** The instructions that the agent has read when it started. */
  instructions: string | undefined;
}

export class Machine {
  readonly stage: Stage;
  readonly repository: Repository;
  readonly providers: Providers;
  readonly processes = new Map<string, Process>();
  readonly warm = new Map<string, WarmAgent>();
  readonly boxes = new Map<string, Box>();
  /** Called before an agent starts with a turn. */
  onDeliver: (process: Process, turn: Turn) => void = () => {};
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
    const agents = [...this.living(), ...this.warm.values()];
    return agents.find(({ spec }) => spec.cwd === path)?.spec.sessionId ?? null;
  }

  boxOf(runId: string, name: string): Box {
    const key = `${runId} ${name}`;
    const box = this.boxes.get(key) ?? { messages: [], lastRead: null };
    this.boxes.set(key, box);
    return box;
  }

  /** Models the session's folder: from now on the session can be found, even if it never starts. */
  begin(spec: SessionSpec): Process {
    const existing = this.processes.get(spec.sessionId);
    if (existing) return existing;
    const process: Process = {
      spec,
      state: "starting",
      story: [],
      turns: new Map(),
      open: null,
      interrupted: new Set(),
      random: this.stage.random.fork(spec.sessionId),
      claims: new Map(),
      verdicts: new Map(),
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

  /** Never starts an id twice, nor one that was ended before its start. */
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

  /** `host` becomes the only one that can use the agent. */
  warmUp(spec: SessionSpec, host: object): void {
    const instructions = this.repository.folders.get(spec.cwd)?.files[INSTRUCTIONS];
    const agent: WarmAgent = { spec, host, instructions };
    this.warm.set(spec.sessionId, agent);
    this.stage.count("warm sessions");
    if (this.stage.calm || !this.#random.chance(0.1)) return;
    this.stage.loop.at(this.#random.pick([1, 200, 1000]), WORLD, `${spec.sessionId} dies while it waits`, () =>
      this.cool(agent),
    );
  }

  cool(agent: WarmAgent): void {
    if (this.warm.get(agent.spec.sessionId) === agent) this.warm.delete(agent.spec.sessionId);
  }

  /** The agent that waited becomes the process of its session. */
  claim({ spec, instructions }: WarmAgent): void {
    this.warm.delete(spec.sessionId);
    this.stage.count("warm sessions used");
    const current = this.repository.folders.get(spec.cwd)?.files[INSTRUCTIONS];
    this.stage.require(current === instructions, "I14", () => `${spec.sessionId} has read other instructions`);
    const process = this.begin(spec);
    process.state = "alive";
    this.stage.count("sessions");
    this.say(process, { type: "ready" });
  }

  say(process: Process, signal: SessionSignal): void {
    process.story.push(signal);
    for (const listener of process.listeners) listener();
  }

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
    this.onDeliver(process, turn);
    this.say(process, { type: "sent", turn: turn.number });
    process.open = turn;
    this.go(process, program(this, process, turn));
  }

  /** Advances `running` while the session is alive and runs this program. */
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
    const program = process.waiting.get(askId);
    const isKnown = process.story.some((signal) => signal.type === "ask" && signal.askId === askId);
    this.stage.require(isKnown, "questions", () => `${process.spec.sessionId} never asked ${askId} (${text})`);
    process.waiting.delete(askId);
    if (program && process.running === program) this.go(process, program);
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

  /** An `interrupted` turn always ends as such, regardless of the agent's own ending. */
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

  exit(process: Process, detail: string, cause?: FailureCause): void {
    this.endTurn(process, "exited", detail, cause && { cause, detail });
    if (process.state === "alive") this.end(process, "the agent exited", false);
  }

  end(process: Process, reason: string, deliberate: boolean): void {
    if (process.state === "over") return;
    process.state = "over";
    process.running = null;
    this.say(process, { type: "gone", reason, deliberate });
  }

  /** The open turn may finish within a grace period. */
  close(process: Process): void {
    process.closing = true;
    if (process.open === null || process.state !== "alive")
      return this.end(process, "it was closed after its work", true);
    this.stage.loop.at(5000, WORLD, `grace of ${process.spec.sessionId}`, () =>
      this.end(process, "it was stopped", true),
    );
  }

  reboot(): void {
    this.stage.count("reboots");
    for (const process of this.processes.values()) this.end(process, "its keeper died", false);
    this.warm.clear();
  }

  orphan(): void {
    this.stage.count("orphaned sessions", this.living().length);
    for (const process of this.living()) this.end(process, "it was ended because no engine was running", true);
  }

  endingMs(): number {
    return this.#random.pick([0, 20, 400, 2000]);
  }
}
