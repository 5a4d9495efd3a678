// Holds every run of the store. A live run has a `RunWriter`, which alone may change it, and a `Reconciler`, which acts for
// it. A finished run is in `FinishedRuns`. In a store that several servers share, the open runs of the others are in
// `ForeignRuns`.
//
// Invariants
// 1. Runs are opened, finished and removed only here.
// 2. If the store fails, `#fail` halts every writer and the publisher together. A run that another server has taken over
//    fails alone.
import { ClockWatch } from "../clock-watch.ts";
import type { EngineOptions } from "../engine.ts";
import { historyOf } from "./history.ts";
import { HookRunner, type CommandRunner } from "../hooks.ts";
import { KnownResults } from "../copies/known-results.ts";
import { activeAgents, askedMains, usesSlots, mayWaitForOthers, refusedUntil } from "./active-runs.ts";
import { openMailbox } from "../mailboxes/run-mailbox.ts";
import { Reconciler } from "../reconcile.ts";
import { FinishedRuns, summarise, type RunSummary } from "./finished-runs.ts";
import { ForeignRuns } from "./foreign-runs.ts";
import { RunWriter } from "../run-writer.ts";
import { NO_CHECKS, type CheckRunner } from "../sessions/run-checks.ts";
import { NO_VAULT, sealCommand, type Vault } from "../seal-command.ts";
import { Publisher } from "./publisher.ts";
import { Slots } from "../slots.ts";
import { openSubSessions, type SubSessionPart } from "../sub-sessions/sub-session-part.ts";
import { fold } from "../../run/apply.ts";
import type { Command } from "../../run/command.ts";
import { askedMain } from "../../run/provider/provider.ts";
import { asTuttiError, noSuchRun, TuttiError } from "../../schema/error.ts";
import { isInformational, type StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import type { NewEvent } from "../../store/store.ts";

export interface Live {
  writer: RunWriter;
  reconciler: Reconciler;
}

export interface CloseOptions {
  /** Keeps sessions running for the next engine: those of every run, or of the runs for which it returns true. */
  leaveRunning?: boolean | ((runId: string) => boolean);
}

export class RunRegistry {
  readonly #options: EngineOptions;
  readonly #runs = new Map<string, Live>();
  /**
   * Runs that count in `activeAgents`, `askedMains` or `refusedUntil`, so that the cost of a turn does not grow with
   * the number of runs.
   */
  readonly #busy = new Set<Live>();
  /** Runs for which `mayWaitForOthers` is true. */
  readonly #waiting = new Set<Live>();
  #halted: TuttiError | null = null;

  readonly #vault: Vault;
  readonly #finished: FinishedRuns;
  readonly #foreign: ForeignRuns;
  /** Set by `activateAll`: from then on, runs that this server takes over are continued at once. */
  #continuesAll = false;
  readonly #slots: Slots;
  readonly #hooks: HookRunner;
  readonly #clock: ClockWatch;
  readonly publisher: Publisher;
  readonly subSessions: SubSessionPart;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#vault = options.vault ?? NO_VAULT;
    this.#finished = new FinishedRuns(options.store, options.snapshots ?? null);
    this.#foreign = new ForeignRuns(this.#finished);
    this.#slots = new Slots(
      options,
      (next) => activeAgents(this.#atWork(next?.id), options.world.now(), next),
      () => options.world.now(),
      (provider) => refusedUntil(this.#busy, provider, options.world.now()),
      () => askedMains(this.#busy),
    );
    const { world, hooks: functions = {} } = options;
    const rejectCommand: CommandRunner = () =>
      Promise.resolve({ ok: false, detail: "This engine does not run hook commands." });
    const { runCommand = rejectCommand } = options;
    this.#hooks = new HookRunner({
      functions,
      runCommand: (command, about) => runCommand(this.#vault.open(about.runId, command), about),
      world,
    });
    this.#clock = new ClockWatch(world, (byMs) => this.#jumped(byMs));
    this.publisher = new Publisher({
      store: options.store,
      world,
      onServerEvents: (events) => this.subSessions.log.onEvents(events),
      failed: (error) => this.#fail(error),
    });
    this.subSessions = openSubSessions({
      log: this.publisher.serverLog,
      world,
      care: options.subSessions,
      sessions: options.sessions,
      runs: () => Array.from(this.#runs.values(), ({ writer }) => writer.run),
      submit: (id, command) => this.live(id).writer.submit(command),
      run: (id) => this.#runs.get(id)?.writer.run ?? null,
    });
  }

  open(): void {
    for (const run of this.#finished.open()) {
      if (this.#owns(run.id)) this.#keep(this.#make(run.id, run));
      else this.#foreign.put(run);
    }
    this.#options.store.shared?.follow({
      appended: (events) => this.#followOthers(events),
      removed: (id) => this.#foreign.remove(id),
      gained: (ids) => this.#gain(ids),
      lost: (ids) => {
        for (const id of ids) this.#lose(id);
      },
    });
  }

  isForeign(id: string): boolean {
    return this.#foreign.has(id) || (this.#finished.has(id) && !this.#owns(id));
  }

  #owns(id: string): boolean {
    return this.#options.store.shared?.owns(id) ?? true;
  }

  /** `events` were appended by other servers. */
  #followOthers(events: readonly StoredEvent[]): void {
    for (const group of groupByRun(events)) {
      const { run: id } = group[0]!;
      if (id === null) {
        this.publisher.publishServerEvents(group);
        continue;
      }
      // The other server has taken over the run, and this one learns it from the first of `events`.
      if (this.#runs.has(id)) this.#lose(id);
      this.publisher.publish(group, this.#foreign.apply(id, group));
    }
  }

  #gain(ids: readonly string[]): void {
    for (const id of ids) {
      const run = this.#foreign.take(id);
      // A finished run is revived when it gets a command.
      if (!run) continue;
      this.#keep(this.#make(id, run));
      if (this.#continuesAll) this.activate(id).catch(() => {});
    }
  }

  /** Another server carries on the run. Its sessions here are ended, because their results would count for nothing. */
  #lose(id: string): void {
    const live = this.#runs.get(id);
    if (!live) return;
    live.writer.halt(carriedOnElsewhere(id));
    this.#drop(live);
    this.#foreign.put(live.writer.run);
    live.reconciler.leave(true).catch(() => {});
  }

  async activate(id: string): Promise<Run> {
    const { writer, reconciler } = this.live(id);
    this.subSessions.monitor.wake();
    if (!writer.run.released && !reconciler.begun) {
      reconciler.claim();
      await this.#hooks.activate(writer.run, () => this.#options.store.read({ run: id }), writer);
      await reconciler.begin();
    }
    return writer.run;
  }

  /** Every run claims its slots before the first one begins, so that none takes the slot of another. */
  async activateAll(): Promise<void> {
    this.subSessions.monitor.wake();
    this.#continuesAll = true;
    const open = this.summaries().filter(({ id, released }) => !released && this.#owns(id));
    await Promise.all(open.map(({ id }) => this.activate(id)));
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
    if (usesSlots(run)) this.#busy.add(live);
    else this.#busy.delete(live);
    if (mayWaitForOthers(run)) this.#waiting.add(live);
    else this.#waiting.delete(live);
  }

  /** Returns `#busy` and the run `id`, because `next` may make that run busy. */
  #atWork(id: string | undefined): Iterable<Live> {
    const current = id === undefined ? undefined : this.#runs.get(id);
    return current === undefined || this.#busy.has(current) ? this.#busy : [...this.#busy, current];
  }

  /** Submits `clockJumped` to every live run, so that no session times out because of a suspend or a clock change. */
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
    const failed = (error: unknown) => {
      if (asTuttiError(error).code === "run_moved") this.#lose(id);
      else this.#fail(error);
    };
    const writer = new RunWriter({
      id,
      run,
      store,
      world,
      failed,
      published: (events, now, previous) => this.#afterAppend(events, now, previous),
      lookAtClock: () => this.#clock.look(),
      followUps: (next) => reconciler.callFor(next),
      seal: (command) => sealCommand(command, (value) => this.#vault.seal(id, value)),
    });
    const reconciler: Reconciler = new Reconciler({
      writer,
      sessions,
      workspaces,
      world,
      slots: this.#slots,
      lookAtClock: () => this.#clock.look(),
      onSlotFreed: () => this.#lookAtOthers(id),
      history: (each) => historyOf(each, this.summaries()),
      known: new KnownResults(store),
      openSecrets: (value) => this.#vault.open(id, value),
      checks: this.#openingChecks(),
      names: this.#options.names ?? null,
      openMailbox: (each) => openMailbox(each, this.#options),
      onSubagent: (sessionId, subagent) => this.subSessions.recordSubagent(id, sessionId, subagent),
    });
    // `#fail` may have run while this run was created; the new writer must not append either.
    if (this.#halted !== null) writer.halt(this.#halted);
    return { writer, reconciler };
  }

  /** A command in the log may have placeholders for secrets, and only the program gets these. */
  #openingChecks(): CheckRunner {
    const { checks = NO_CHECKS } = this.#options;
    return {
      detect: (cwd) => checks.detect(cwd),
      run: (command, about) => checks.run(this.#vault.open(about.runId, command), about),
    };
  }

  #afterAppend(events: StoredEvent[], run: Run, previous: Run | null): void {
    const live = this.#runs.get(run.id);
    if (live) this.#note(live, run);
    this.publisher.publish(events, run);
    this.#finished.noted(run, events.length, events.at(-1)!.seq);
    if (events.every(({ type }) => isInformational(type))) return;
    if (live) this.#hooks.onEvents(events, previous?.currentPhase ?? null, run, live.writer);
    // `activateAll` skips runs that are over, so a reopened run is continued here.
    if (events.some(({ type }) => type === "orchestrator:reopened")) this.activate(run.id).catch(() => {});
    live?.reconciler.look();
    if (run.released && live) void live.reconciler.settled().then(() => this.#finish(live));
    const answersAgain = previous !== null && previous.refusals !== run.refusals;
    const mainIsDone = previous !== null && askedMain(previous) !== null && askedMain(run) === null;
    if (answersAgain || mainIsDone || events.some(({ type }) => FREES_A_SLOT.has(type))) this.#lookAtOthers(run.id);
  }

  /** Another run may wait for the slot that run `id` has freed. */
  #lookAtOthers(id: string): void {
    for (const { writer, reconciler } of this.#waiting) if (writer.id !== id) reconciler.look();
  }

  assertRunning(): void {
    if (this.#halted !== null) throw this.#halted;
  }

  #fail(error: unknown): void {
    if (this.#halted !== null) return;
    this.#halted = asTuttiError(error);
    for (const { writer } of this.#runs.values()) writer.halt(this.#halted);
    this.publisher.halt(this.#halted);
  }

  /** Revives the run if it is in `#finished`. Throws for an unknown run, and for one that `isForeign`. */
  live(id: string): Live {
    this.assertRunning();
    const live = this.#runs.get(id);
    if (live) return live;
    if (this.isForeign(id)) throw carriedOnElsewhere(id);
    const run = this.#finished.get(id);
    if (!run) throw noSuchRun(id);
    const revived = this.#make(id, run);
    this.#finished.take(id);
    this.#keep(revived);
    return revived;
  }

  state(id: string): Run {
    this.assertRunning();
    const run = this.get(id);
    if (!run) throw noSuchRun(id);
    return run;
  }

  /** Ends of the last work of `holding` on each run. `#finish` must not halt the `writer` of these runs. */
  readonly #held = new Map<string, Promise<void>>();

  /** Moves a released run to `#finished`. Callers that still hold its `writer` are rejected from then on. */
  async #finish(live: Live): Promise<void> {
    const { writer } = live;
    await this.#hooks.settled();
    while (!writer.isIdle) await writer.idle();
    const inUse = this.#held.has(writer.id) || this.#runs.get(writer.id) !== live || !writer.run.released;
    if (inUse || !this.#finished.takesRuns) return;
    writer.halt(new TuttiError("engine_stopped", `Run "${writer.id}" is no longer active. Repeat the command.`));
    this.#drop(live);
    this.#finished.put(writer.run);
  }

  async begin(id: string, first: Command): Promise<Run> {
    const live = this.#make(id, null);
    const run = await live.writer.submit(first);
    this.#keep(live);
    if (this.#halted !== null) live.writer.halt(this.#halted);
    await live.reconciler.begin();
    return run;
  }

  /** Each `work` on a run begins after the one before has ended. `#finish` does not move the run meanwhile. */
  async holding<T>(id: string, work: (live: Live) => Promise<T>): Promise<T> {
    const before = this.#held.get(id);
    const { promise: end, resolve: release } = Promise.withResolvers<void>();
    this.#held.set(id, end);
    try {
      if (before) await before;
      return await work(this.live(id));
    } finally {
      release();
      if (this.#held.get(id) === end) {
        this.#held.delete(id);
        const live = this.#runs.get(id);
        if (live) void this.#finish(live);
      }
    }
  }

  /** Adds an imported or forked run. `events` are its log so far. */
  async take(id: string, events: NewEvent[]): Promise<Run> {
    this.assertRunning();
    const stored = await this.#options.store.append(id, 0, events).catch((error: unknown) => {
      this.#fail(error);
      throw error;
    });
    const run = fold(null, stored)!;
    this.#keep(this.#make(id, run));
    this.#afterAppend(stored, run, null);
    return run;
  }

  /** The store empties the run's events but keeps each `seq`, so that the sequence has no gap. */
  async remove(live: Live): Promise<void> {
    const { writer } = live;
    const { store, sessions, world } = this.#options;
    const { id } = writer;
    await this.#hooks.settled();
    while (!writer.isIdle) await writer.idle();
    // A run that was reopened during `idle` stays: the caller that reopened it has been answered.
    if (!writer.run.released)
      throw new TuttiError(
        "wrong_state",
        `Run "${id}" was reopened and cannot be removed. Remove it after it has ended.`,
      );
    writer.refuse(new TuttiError("wrong_state", `Run "${id}" is being removed. Send no more commands to it.`));
    // Sessions go first, so that a removal that fails here can be repeated. A run imported later under this id must not
    // find sessions of this one.
    await sessions.forget(id).catch((error: unknown) => {
      writer.refuse(null);
      throw error;
    });
    await store.remove(id, { timestamp: world.now() }).catch((error: unknown) => {
      this.#fail(error);
      throw error;
    });
    // An event appended after the removal would belong to no run.
    writer.halt(new TuttiError("run_not_found", `Run "${id}" has been removed. List runs with "tutti list".`));
    this.#vault.remove(id);
    this.#drop(live);
    this.#finished.take(id);
  }

  get(id: string): Run | null {
    return this.#runs.get(id)?.writer.run ?? this.#foreign.get(id) ?? this.#finished.get(id);
  }

  summaries(): RunSummary[] {
    const live = Array.from(this.#runs.values(), ({ writer }) => summarise(writer.run));
    return [...this.#finished.summaries(), ...this.#foreign.summaries(), ...live].toSorted(
      (a, b) => a.createdAt - b.createdAt,
    );
  }

  list(): Run[] {
    return this.summaries().map(({ id }) => this.get(id)!);
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.publisher.serverLog.idle();
    if (this.#halted !== null) throw this.#halted;
  }

  async settled(id: string): Promise<void> {
    this.state(id);
    await this.#runs.get(id)?.reconciler.settled();
    await this.#hooks.settled();
  }

  async close({ leaveRunning = false }: CloseOptions = {}): Promise<void> {
    const isLeft = typeof leaveRunning === "function" ? leaveRunning : () => leaveRunning;
    this.#clock.stop();
    this.subSessions.monitor.close();
    await Promise.all([...this.#runs].map(([id, { reconciler }]) => reconciler.leave(!isLeft(id))));
    // Flush server events first: after `#fail` no caller is left to receive a write error.
    await this.publisher.serverLog.idle();
    this.#fail(new TuttiError("engine_stopped", "The engine has been stopped. Open it again to continue."));
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.publisher.serverLog.idle();
    await this.#options.workspaces.close();
    await this.#options.store.close();
  }
}

const carriedOnElsewhere = (id: string): TuttiError =>
  new TuttiError("run_moved", `Run "${id}" is carried on by another server. Repeat the command.`);

/** Splits `events` into groups of neighbours of the same run. Removed events (`runSeq` 0) are left out. */
function groupByRun(events: readonly StoredEvent[]): StoredEvent[][] {
  const groups: StoredEvent[][] = [];
  for (const event of events) {
    if (event.runSeq === 0) continue;
    const last = groups.at(-1);
    if (last?.[0]!.run === event.run) last.push(event);
    else groups.push([event]);
  }
  return groups;
}

const FREES_A_SLOT = new Set<StoredEvent["type"]>([
  "worker:completed",
  "worker:failed",
  "worker:timeout",
  "worker:cancelled",
  "worker:lost",
]);
