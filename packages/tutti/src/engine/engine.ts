// The engine: the only writer. Four things for ever: append → apply → publish → reconcile.
//
// Invariants
// 1. Only the run writers append, and what is acknowledged to a caller is on disk.
// 2. Effects (sessions, workspaces, merges) follow from the state on disk, never the other way round.
// 3. If the store fails, the engine halts: no further effect, every waiting caller is told, a restart continues.
import { Reconciler, type Slots } from "./reconcile.ts";
import { RunWriter } from "./run-writer.ts";
import { fold } from "../run/apply.ts";
import { readAnswer } from "../protocol/read-answer.ts";
import { outcome } from "../run/census.ts";
import { schedule } from "../run/schedule.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { onlyTells, type StoredEvent } from "../schema/event.ts";
import type { Outcome } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, isRunOver, isWorkerOver } from "../schema/status.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";
import type { SessionHost } from "../session/session.ts";
import type { ReadOptions, Store } from "../store/store.ts";
import { loadTemplate } from "../template/load.ts";
import type { TemplateConfig } from "../schema/template.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { World } from "../world.ts";

export interface EngineOptions {
  store: Store;
  sessions: SessionHost;
  workspaces: Workspaces;
  world: World;
  /** Workers at the same time over all runs. */
  maxWorkers: number;
}

export interface NewRun {
  templateId: string;
  cwd: string;
  message: string;
  agent: string;
  customVariables?: Record<string, string>;
  config?: Partial<Pick<TemplateConfig, "maxWorkers" | "workerTimeout" | "acceptWithoutWork">>;
}

interface Live {
  writer: RunWriter;
  reconciler: Reconciler;
}

export type Listener = (event: StoredEvent, run: Run) => void;

export class Engine {
  readonly #options: EngineOptions;
  readonly #runs = new Map<string, Live>();
  readonly #listeners = new Set<Listener>();
  readonly #halt = Promise.withResolvers<never>();
  #halted: TuttiError | null = null;

  private constructor(options: EngineOptions) {
    this.#options = options;
    // Whoever waits for the halt hears of it; if nobody does, that is no fault of its own.
    this.#halt.promise.catch(() => {});
  }

  /** Folds what is stored. A run rests until it is taken up. */
  static open(options: EngineOptions): Engine {
    const engine = new Engine(options);
    for (const id of options.store.runs())
      engine.#runs.set(id, engine.#make(id, fold(null, options.store.read({ run: id }))));
    return engine;
  }

  /** Goes on with a run where it was: adopts its living sessions, reads what has finished, starts only what is missing. */
  async takeUp(id: string): Promise<Run> {
    const { writer, reconciler } = this.#live(id);
    if (!writer.run.released) await reconciler.begin();
    return writer.run;
  }

  #make(id: string, run: Run | null): Live {
    const { store, sessions, workspaces, world } = this.#options;
    const failed = (error: unknown) => this.#fail(error);
    const writer = new RunWriter({
      id,
      run,
      store,
      world,
      failed,
      published: (events, now) => this.#published(events, now),
    });
    const reconciler = new Reconciler({ writer, sessions, workspaces, world, slots: this.#slots });
    return { writer, reconciler };
  }

  #published(events: StoredEvent[], run: Run): void {
    for (const event of events) {
      for (const listener of this.#listeners) listener(event, run);
    }
    if (events.every(({ type }) => onlyTells(type))) return;
    this.#runs.get(run.id)?.reconciler.look();
    // A slot that one run gives up may be what another waits for.
    if (events.some(({ type }) => FREES_A_SLOT.has(type))) {
      for (const { writer, reconciler } of this.#runs.values()) {
        if (writer.id !== run.id && !isRunOver(writer.run.status)) reconciler.look();
      }
    }
  }

  #reserved = 0;
  readonly #slots: Slots = {
    free: () => Math.max(0, this.#options.maxWorkers - this.#activeWorkers() - this.#reserved),
    reserve: (count) => (this.#reserved += count),
    release: (count) => (this.#reserved -= count),
  };

  #activeWorkers(): number {
    let active = 0;
    for (const { writer, reconciler } of this.#runs.values()) {
      if (!reconciler.begun) continue;
      for (const worker of Object.values(writer.run.workers)) {
        if (worker.status !== "pending" && !isWorkerOver(worker.status)) active++;
      }
    }
    return active;
  }

  #fail(error: unknown): void {
    if (this.#halted !== null) return;
    this.#halted = asTuttiError(error);
    for (const { writer } of this.#runs.values()) writer.halt(this.#halted);
    this.#halt.reject(this.#halted);
  }

  #live(id: string): Live {
    if (this.#halted !== null) throw this.#halted;
    const live = this.#runs.get(id);
    if (!live) throw new TuttiError("run_not_found", `there is no run ${id}`);
    return live;
  }

  /** Everything that can be refused is refused here, before a run exists. */
  async create(request: NewRun): Promise<Run> {
    if (this.#halted !== null) throw this.#halted;
    const { templateId, message, agent, customVariables = {} } = request;
    if (message.trim() === "") throw new TuttiError("invalid_input", "a run needs a request in words");
    const template = loadTemplate(templateId);
    const { root, prefix } = await this.#options.workspaces.inspect(request.cwd);
    const cwd = prefix === "" ? root : `${root}/${prefix}`;
    this.#options.sessions.check(agent, cwd);
    const id = `orch_${this.#options.world.id(12)}`;
    const live = this.#make(id, null);
    const config = { ...template.config, ...request.config };
    const resolved = { ...template, config };
    const run = await live.writer.submit({
      type: "create",
      id,
      templateId,
      template: resolved,
      cwd,
      message,
      customVariables,
      agent,
    });
    this.#runs.set(id, live);
    await live.reconciler.begin();
    return run;
  }

  async start(id: string): Promise<Run> {
    const { writer } = this.#live(id);
    const { head, dirty } = await this.#options.workspaces.inspect(writer.run.cwd);
    const warnings = dirty
      ? ["there are uncommitted changes in the folder; the run works on the last commit and does not see them"]
      : [];
    return writer.submit({ type: "start", base: head, warnings });
  }

  confirm(id: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "confirm" });
  }

  cancel(id: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "cancel" });
  }

  answer(itemId: string, text: string): Promise<Run> {
    return this.#waitingFor(itemId).writer.submit({ type: "answer", itemId, text });
  }

  /** Data of a phase that no session could give; checked like an agent's own answer. */
  supply(itemId: string, data: unknown): Promise<Run> {
    const live = this.#waitingFor(itemId);
    const { phase } = live.writer.run.inbox[itemId]!;
    const answer = phase && readAnswer(ANSWER_PHASE[phase], data);
    if (!answer) throw new TuttiError("wrong_state", `${itemId} does not wait for data`);
    return live.writer.submit({ type: "supply", itemId, answer });
  }

  #waitingFor(itemId: string): Live {
    const live = [...this.#runs.values()].find(({ writer }) => Object.hasOwn(writer.run.inbox, itemId));
    if (!live) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
    return live;
  }

  get(id: string): Run | null {
    return this.#runs.get(id)?.writer.run ?? null;
  }

  list(): Run[] {
    return [...this.#runs.values()].map(({ writer }) => writer.run);
  }

  async result(id: string): Promise<Outcome> {
    const { run } = this.#live(id).writer;
    const files =
      run.base !== null && run.head !== null
        ? await this.#options.workspaces.changedFiles(run.cwd, run.base, run.head)
        : [];
    return outcome(run, files, this.#options.world.now());
  }

  /** Rejects when the engine cannot go on, or has been closed. */
  get halted(): Promise<never> {
    return this.#halt.promise;
  }

  /** Events as they are stored; with `run` only that run's. */
  events(options: ReadOptions): StoredEvent[] {
    return this.#options.store.read(options);
  }

  lastSeq(): number {
    return this.#options.store.lastSeq();
  }

  /** What was said and done in one session of a run, its newest attempt or an older one. */
  transcript(id: string, sessionId: string): TranscriptEntry[] {
    this.#live(id);
    return this.#options.sessions.transcript(id, sessionId);
  }

  /** Whether nothing can go on in the run until a person answers. */
  waitsForPerson(run: Run): boolean {
    const { spawnMain, spawn, merges } = schedule(run, { freeSlots: Number.POSITIVE_INFINITY });
    if (spawnMain || spawn.length > 0 || merges.length > 0) return false;
    const waiting = new Set(Object.values(run.inbox).map((item) => item.sessionId));
    const sessions = [...(run.main ? [run.main] : []), ...Object.values(run.workers).map((worker) => worker.session)];
    return sessions
      .filter((session) => session.turn !== null || session.state === "spawning")
      .every((session) => waiting.has(session.sessionId));
  }

  /** Every event from now on, in order. Returns the way out. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the run is in a state that `reached` accepts; rejects if the engine halts before. */
  async until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    const { writer } = this.#live(id);
    if (reached(writer.run)) return writer.run;
    const { promise, resolve } = Promise.withResolvers<Run>();
    const leave = this.subscribe((_, run) => {
      if (run.id === id && reached(run)) resolve(run);
    });
    try {
      return await Promise.race([promise, this.#halt.promise]);
    } finally {
      leave();
    }
  }

  /** Resolves when no process, workspace or merge of the run is being dealt with. */
  async settled(id: string): Promise<void> {
    await this.#live(id).reconciler.settled();
  }

  /** Ends the engine. Runs that are not over can be taken up again by the next one. */
  async close({ leaveRunning = false } = {}): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ reconciler }) => reconciler.leave(!leaveRunning)));
    this.#fail(new TuttiError("engine_stopped", "the engine has been stopped"));
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.#options.store.close();
  }
}

const FREES_A_SLOT = new Set<StoredEvent["type"]>([
  "worker:completed",
  "worker:failed",
  "worker:timeout",
  "worker:cancelled",
  "worker:lost",
]);
