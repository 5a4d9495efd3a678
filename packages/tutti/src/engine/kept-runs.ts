// Every run of the data folder, where it is: alive, with the writer that alone may change it and the reconciler that acts
// for it, or put away on the shelf. Whoever opens one, puts one away or takes one out does it here, and if the store fails,
// all of them halt together.
import { ClockWatch } from "./clock-watch.ts";
import type { EngineOptions, Listener } from "./engine.ts";
import { guarded } from "./guarded.ts";
import { historyOf } from "./history.ts";
import { Hooks, type CommandRunner } from "./hooks.ts";
import { KnownResults } from "./known-results.ts";
import { activeAgents, askedMains, counts, mayWaitForOthers, refusedUntil } from "./over-runs.ts";
import { Reconciler } from "./reconcile.ts";
import { RunShelf, summarise, type RunSummary } from "./run-shelf.ts";
import { RunWriter } from "./run-writer.ts";
import { ServerLog } from "./server-log.ts";
import { Slots } from "./slots.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import type { SubSessionMonitor } from "./sub-session-monitor.ts";
import { openSubSessions, type SubSessionPart } from "./sub-session-part.ts";
import { fold } from "../run/apply.ts";
import type { Command } from "../run/command.ts";
import { askedMain } from "../run/provider.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { onlyTells, type RunEvent, type StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import type { NewEvent } from "../store/store.ts";

export interface Live {
  writer: RunWriter;
  reconciler: Reconciler;
}

export class KeptRuns {
  readonly #options: EngineOptions;
  readonly #runs = new Map<string, Live>();
  /** Those that count when places are given, so that what one run does costs no more the more there are. */
  readonly #busy = new Set<Live>();
  /** And those that may wait for a place, or for a provider's answer. */
  readonly #waiting = new Set<Live>();
  readonly #listeners = new Set<Listener>();
  readonly #halt = Promise.withResolvers<never>();
  #halted: TuttiError | null = null;

  readonly #shelf: RunShelf;
  readonly #slots: Slots;
  readonly #hooks: Hooks;
  readonly #clock: ClockWatch;
  readonly #serverLog: ServerLog;
  readonly #subSessions: SubSessionPart;

  /** `message` says something to a session of a run, for an agent that it has started itself. */
  constructor(options: EngineOptions, message: (id: string, text: string, taskId: string | null) => Promise<Run>) {
    this.#options = options;
    this.#shelf = new RunShelf(options.store, options.snapshots ?? null);
    this.#slots = new Slots(
      options,
      (instead) => activeAgents(this.#atWork(instead?.id), options.world.now(), instead),
      () => options.world.now(),
      (provider) => refusedUntil(this.#busy, provider, options.world.now()),
      () => askedMains(this.#busy),
    );
    const { world, hooks: functions = {} } = options;
    const none: CommandRunner = () => Promise.resolve({ ok: false, detail: "commands are not run here" });
    this.#hooks = new Hooks({ functions, runCommand: options.runCommand ?? none, world });
    this.#clock = new ClockWatch(world, (byMs) => this.#jumped(byMs));
    this.#serverLog = new ServerLog({
      store: options.store,
      world,
      published: (events) => {
        this.#subSessions.log.heard(events);
        this.#told(events, null);
      },
      failed: (error) => this.#fail(error),
    });
    this.#subSessions = openSubSessions({
      log: this.#serverLog,
      world,
      care: options.subSessions,
      sessions: options.sessions,
      runs: () => Array.from(this.#runs.values(), ({ writer }) => writer.run),
      message,
      isLive: (id) => this.#runs.has(id),
    });
    // Whoever waits for the halt hears of it; if nobody does, that is no fault of its own.
    this.#halt.promise.catch(() => {});
  }

  /** Folds what is stored. A run rests until it is taken up. */
  open(): void {
    for (const run of this.#shelf.open()) this.#keep(this.#make(run.id, run));
  }

  /** Goes on with a run where it was: adopts its living sessions, reads what has finished, starts only what is missing. */
  async takeUp(id: string): Promise<Run> {
    const { writer, reconciler } = this.live(id);
    this.subSessions.wake();
    if (!writer.run.released && !reconciler.begun) {
      reconciler.claim();
      await this.#hooks.takeUp(writer.run, this.#options.store.read({ run: id }), writer);
      await reconciler.begin();
    }
    return writer.run;
  }

  /** Takes up every run that is not done with. All of them count from the first moment, so that none takes another's place. */
  async takeUpAll(): Promise<void> {
    this.subSessions.wake();
    const open = this.summaries().filter(({ released }) => !released);
    await Promise.all(open.map(({ id }) => this.takeUp(id)));
  }

  #keep(live: Live): void {
    this.#runs.set(live.writer.id, live);
    this.#note(live, live.writer.run);
  }

  #drop(live: Live): void {
    this.#runs.delete(live.writer.id);
    this.#busy.delete(live);
    this.#waiting.delete(live);
  }

  #note(live: Live, run: Run): void {
    if (counts(run)) this.#busy.add(live);
    else this.#busy.delete(live);
    if (mayWaitForOthers(run)) this.#waiting.add(live);
    else this.#waiting.delete(live);
  }

  /** With the run of this id, of which a state is about to be stored that may make it busy. */
  #atWork(id: string | undefined): Iterable<Live> {
    const own = id === undefined ? undefined : this.#runs.get(id);
    return own === undefined || this.#busy.has(own) ? this.#busy : [...this.#busy, own];
  }

  /** The machine slept, or its clock was set: nobody is to be late because of it. */
  #jumped(byMs: number): void {
    for (const { writer, reconciler } of this.#runs.values()) {
      if (reconciler.begun && !isRunOver(writer.run.status)) {
        reconciler.touch();
        writer.submit({ type: "clockJumped", byMs }).catch(() => {});
      }
    }
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
      published: (events, now, before) => this.#published(events, now, before),
      lookAtClock: () => this.#clock.look(),
      calledFor: (next) => reconciler.callFor(next),
    });
    const reconciler: Reconciler = new Reconciler({
      writer,
      sessions,
      workspaces,
      world,
      slots: this.#slots,
      lookAtClock: () => this.#clock.look(),
      onPlaceLeft: () => this.#lookAtOthers(id),
      history: (each) => historyOf(each, this.summaries()),
      known: new KnownResults(store),
      onSubagent: (sessionId, told) => this.#subSessions.told(id, sessionId, told),
    });
    // A run that is made while the engine halts must not be the one that goes on.
    if (this.#halted !== null) writer.halt(this.#halted);
    return { writer, reconciler };
  }

  #told(events: StoredEvent[], run: Run | null): void {
    for (const event of events) {
      for (const listener of this.#listeners) guarded(() => listener(event, run));
    }
  }

  #published(events: StoredEvent[], run: Run, before: Run | null): void {
    const live = this.#runs.get(run.id);
    if (live) this.#note(live, run);
    this.#told(events, run);
    this.#shelf.noted(run, events.length, events.at(-1)!.seq);
    if (events.every(({ type }) => onlyTells(type))) return;
    if (live) this.#hooks.heard(events, before?.currentPhase ?? null, run, live.writer);
    // Nobody takes up a run that was over; whoever reopens it wants it to go on.
    if (events.some(({ type }) => type === "orchestrator:reopened")) this.takeUp(run.id).catch(() => {});
    live?.reconciler.look();
    if (run.released && live) void live.reconciler.settled().then(() => this.#shelve(live));
    const answersAgain = before !== null && before.refusals !== run.refusals;
    const mainIsDone = before !== null && askedMain(before) !== null && askedMain(run) === null;
    if (answersAgain || mainIsDone || events.some(({ type }) => FREES_A_SLOT.has(type))) this.#lookAtOthers(run.id);
  }

  /** A place that one run gives up may be what another waits for. */
  #lookAtOthers(id: string): void {
    for (const { writer, reconciler } of this.#waiting) if (writer.id !== id) reconciler.look();
  }

  /** Throws what has halted the engine. */
  mustGoOn(): void {
    if (this.#halted !== null) throw this.#halted;
  }

  #fail(error: unknown): void {
    if (this.#halted !== null) return;
    this.#halted = asTuttiError(error);
    for (const { writer } of this.#runs.values()) writer.halt(this.#halted);
    this.#serverLog.halt(this.#halted);
    this.#halt.reject(this.#halted);
  }

  /** A run to be steered; one from the shelf comes back for it. */
  live(id: string): Live {
    this.mustGoOn();
    const live = this.#runs.get(id);
    if (live) return live;
    const run = this.#shelf.get(id);
    if (!run) throw new TuttiError("run_not_found", `there is no run ${id}`);
    const revived = this.#make(id, run);
    this.#shelf.take(id);
    this.#keep(revived);
    return revived;
  }

  /** A run to be looked at. */
  state(id: string): Run {
    this.mustGoOn();
    const run = this.get(id);
    if (!run) throw new TuttiError("run_not_found", `there is no run ${id}`);
    return run;
  }

  /** Runs that are being tidied up, and must not be put away meanwhile. */
  readonly #held = new Set<string>();

  /** Puts a run away in which nothing happens any more. Whoever still holds its writer can write nothing more with it. */
  async #shelve(live: Live): Promise<void> {
    const { writer } = live;
    await this.#hooks.settled();
    while (!writer.isIdle) await writer.idle();
    const inUse = this.#held.has(writer.id) || this.#runs.get(writer.id) !== live || !writer.run.released;
    if (inUse || !this.#shelf.takesRuns) return;
    writer.halt(new TuttiError("engine_stopped", `run ${writer.id} has been put away`));
    this.#drop(live);
    this.#shelf.put(writer.run);
  }

  /** A run that begins with this command. */
  async begin(id: string, first: Command): Promise<Run> {
    const live = this.#make(id, null);
    const run = await live.writer.submit(first);
    this.#keep(live);
    if (this.#halted !== null) live.writer.halt(this.#halted);
    await live.reconciler.begin();
    return run;
  }

  /** While `work` is done with it, a run is not put away. */
  async holding<T>(id: string, work: (live: Live) => Promise<T>): Promise<T> {
    const live = this.live(id);
    this.#held.add(id);
    try {
      return await work(live);
    } finally {
      this.#held.delete(id);
      void this.#shelve(live);
    }
  }

  /** A run that has a past. */
  async take(id: string, events: NewEvent[]): Promise<Run> {
    this.mustGoOn();
    const stored = await this.#options.store.append(id, 0, events).catch((error: unknown) => {
      this.#fail(error);
      throw error;
    });
    const run = fold(null, stored)!;
    this.#keep(this.#make(id, run));
    this.#published(stored, run, null);
    return run;
  }

  /** The events stay in their places in the sequence, without content. */
  async remove(live: Live): Promise<void> {
    const { writer } = live;
    const { store, sessions, world } = this.#options;
    const { id } = writer;
    await this.#hooks.settled();
    while (!writer.isIdle) await writer.idle();
    // Whoever had it opened again meanwhile was told so, and keeps it.
    if (!writer.run.released) throw new TuttiError("wrong_state", `run ${id} goes on; it was not removed`);
    writer.refuse(new TuttiError("wrong_state", `run ${id} is being removed`));
    // First, so that a removal that is cut short here can be repeated. A run of this id that is imported later must not
    // find sessions that were another's.
    await sessions.forget(id).catch((error: unknown) => {
      writer.refuse(null);
      throw error;
    });
    await store.remove(id, { timestamp: world.now() }).catch((error: unknown) => {
      this.#fail(error);
      throw error;
    });
    // Whoever still holds its writer is refused: an event after the removal would belong to no run.
    writer.halt(new TuttiError("run_not_found", `run ${id} has been removed`));
    this.#drop(live);
    this.#shelf.take(id);
  }

  get(id: string): Run | null {
    return this.#runs.get(id)?.writer.run ?? this.#shelf.get(id);
  }

  /** What lists show of every run, oldest first. */
  summaries(): RunSummary[] {
    const live = Array.from(this.#runs.values(), ({ writer }) => summarise(writer.run));
    return [...this.#shelf.summaries(), ...live].toSorted((a, b) => a.createdAt - b.createdAt);
  }

  /** The whole state of every run, oldest first. Where there may be thousands, `summaries` costs less. */
  list(): Run[] {
    return this.summaries().map(({ id }) => this.get(id)!);
  }

  /** Resolves when everything that was asked for until now is on disk. */
  async flush(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.#serverLog.idle();
    if (this.#halted !== null) throw this.#halted;
  }

  /** Rejects when the engine cannot go on, or has been closed. */
  get halted(): Promise<never> {
    return this.#halt.promise;
  }

  /** What happened on the server and belongs to no run; resolves when it is on disk. */
  tell(...events: RunEvent[]): Promise<StoredEvent[]> {
    return this.#serverLog.tell(events);
  }

  /** Sessions that others have started: who looks after them. */
  get subSessions(): SubSessionMonitor {
    return this.#subSessions.monitor;
  }

  /** The same, as the server's own log has them. */
  get subSessionLog(): SubSessionLog {
    return this.#subSessions.log;
  }

  /** Every event from now on, in order. Returns the way out. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the run is in a state that `reached` accepts; rejects if the engine halts before. */
  async until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    const now = this.state(id);
    if (reached(now)) return now;
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    const leave = this.subscribe((_, run) => {
      try {
        if (run?.id === id && reached(run)) resolve(run);
      } catch (error) {
        reject(error);
      }
    });
    try {
      return await Promise.race([promise, this.#halt.promise]);
    } finally {
      leave();
    }
  }

  /** Resolves when no process, workspace or merge of the run is being dealt with. */
  async settled(id: string): Promise<void> {
    this.state(id);
    await this.#runs.get(id)?.reconciler.settled();
    await this.#hooks.settled();
  }

  /** Ends the engine. Runs that are not over can be taken up again by the next one. */
  async close({ leaveRunning = false } = {}): Promise<void> {
    this.#clock.stop();
    this.subSessions.close();
    await Promise.all([...this.#runs.values()].map(({ reconciler }) => reconciler.leave(!leaveRunning)));
    // What was told is written; nobody waits for it any more who could hear that it was not.
    await this.#serverLog.idle();
    this.#fail(new TuttiError("engine_stopped", "the engine has been stopped"));
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.#serverLog.idle();
    await this.#options.workspaces.close();
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
