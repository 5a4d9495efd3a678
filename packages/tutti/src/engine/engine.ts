// The engine: the only writer. Four things for ever: append → apply → publish → reconcile.
//
// Invariants
// 1. Only the run writers append, and what is acknowledged to a caller is on disk.
// 2. Effects (sessions, workspaces, merges) follow from the state on disk, never the other way round.
// 3. If the store fails, the engine halts: no further effect, every waiting caller is told, a restart continues.
import { archive, cleanUp, type CleanupOptions, type CleanupResult } from "./cleanup.ts";
import { ClockWatch } from "./clock-watch.ts";
import { guarded } from "./guarded.ts";
import { historyOf } from "./history.ts";
import { Hooks, type CommandRunner } from "./hooks.ts";
import { KnownResults } from "./known-results.ts";
import { demandTrust, prepareRun, type NewRun, type Surroundings } from "./new-run.ts";
import { Reconciler } from "./reconcile.ts";
import { forkOf, importOf, programsIn, stateOf, writeCopy } from "./run-copy.ts";
import { readRuns } from "./read-runs.ts";
import { replay, type Replay } from "./replay.ts";
import { RunShelf, summarise, type RunSummary } from "./run-shelf.ts";
import { RunWriter } from "./run-writer.ts";
import { ServerLog } from "./server-log.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import type { SubSessionMonitor } from "./sub-session-monitor.ts";
import { openSubSessions, type SubSessionCare, type SubSessionPart } from "./sub-session-part.ts";
import { Slots, type ActiveAgents, type SlotLimits } from "./slots.ts";
import type { Command, PlanChanges } from "../run/command.ts";
import { readAnswer } from "../protocol/read-answer.ts";
import { fold } from "../run/apply.ts";
import { outcome } from "../run/census.ts";
import { activeWorkers } from "../run/lookup.ts";
import { providerOf } from "../run/provider-name.ts";
import { askedMain } from "../run/provider.ts";
import { sizeOf } from "../run/shared-record.ts";
import { waitsForPerson } from "../run/waits-for-person.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { onlyTells, type RunEvent, type StoredEvent } from "../schema/event.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type { Outcome } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, isRunOver, type Phase } from "../schema/status.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";
import type { ToolStats } from "../schema/worker.ts";
import type { Snapshots } from "../store/snapshots.ts";
import type { NewEvent, ReadOptions, Store } from "../store/store.ts";
import type { World } from "../world.ts";

export interface EngineOptions extends SlotLimits, Surroundings {
  store: Store;
  /** Where folded states are kept between starts; without it the log is folded from its beginning. */
  snapshots?: Snapshots;
  world: World;
  /** Runs commands that templates name as hooks; without it there are none. */
  runCommand?: CommandRunner;
  /** How sub-sessions are looked after; without it by the documented settings, as long as there are any. */
  subSessions?: SubSessionCare;
}

interface Live {
  writer: RunWriter;
  reconciler: Reconciler;
}

/** `run` is null for events of the server itself. */
export type Listener = (event: StoredEvent, run: Run | null) => void;

export class Engine {
  readonly #options: EngineOptions;
  readonly #runs = new Map<string, Live>();
  readonly #listeners = new Set<Listener>();
  readonly #halt = Promise.withResolvers<never>();
  #halted: TuttiError | null = null;

  readonly #shelf: RunShelf;
  readonly #slots: Slots;
  readonly #hooks: Hooks;
  readonly #clock: ClockWatch;
  readonly #serverLog: ServerLog;
  readonly #subSessions: SubSessionPart;

  private constructor(options: EngineOptions) {
    this.#options = options;
    this.#shelf = new RunShelf(options.store, options.snapshots ?? null);
    this.#slots = new Slots(
      options,
      (instead) => this.#activeAgents(instead),
      () => options.world.now(),
      (provider) => this.#refusedUntil(provider),
      () => this.#askedMains(),
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
      message: (id, text, taskId) => this.message(id, text, taskId),
      isLive: (id) => this.#runs.has(id),
    });
    // Whoever waits for the halt hears of it; if nobody does, that is no fault of its own.
    this.#halt.promise.catch(() => {});
  }

  /** Folds what is stored. A run rests until it is taken up. */
  static open(options: EngineOptions): Engine {
    const engine = new Engine(options);
    for (const run of engine.#shelf.open()) engine.#runs.set(run.id, engine.#make(run.id, run));
    return engine;
  }

  /** Goes on with a run where it was: adopts its living sessions, reads what has finished, starts only what is missing. */
  async takeUp(id: string): Promise<Run> {
    const { writer, reconciler } = this.#live(id);
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
    this.#told(events, run);
    this.#shelf.noted(run, events.length, events.at(-1)!.seq);
    if (events.every(({ type }) => onlyTells(type))) return;
    const live = this.#runs.get(run.id);
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
    for (const { writer, reconciler } of this.#runs.values()) {
      if (writer.id !== id && !isRunOver(writer.run.status)) reconciler.look();
    }
  }

  #activeAgents(instead?: Run): ReturnType<ActiveAgents> {
    const active: ReturnType<ActiveAgents> = [];
    for (const { writer, reconciler } of this.#runs.values()) {
      const run = writer.id === instead?.id ? instead : writer.run;
      if (!reconciler.claimed || isRunOver(run.status)) continue;
      for (const { session, startedAt } of activeWorkers(run)) {
        const provider = providerOf(session.agent, run.providers);
        active.push({ agent: session.agent, provider, since: startedAt ?? this.#options.world.now() });
      }
    }
    return active;
  }

  /** By their providers. */
  #askedMains(): string[] {
    return [...this.#runs.values()].flatMap(({ writer: { run }, reconciler }) => {
      const agent = reconciler.claimed ? askedMain(run) : null;
      return agent === null ? [] : [providerOf(agent, run.providers)];
    });
  }

  /** What any run at work has heard of a provider holds for all. */
  #refusedUntil(provider: string): number | null {
    let until: number | null = null;
    for (const { writer, reconciler } of this.#runs.values()) {
      const { status } = writer.run;
      if (!reconciler.claimed || isRunOver(status)) continue;
      const refusal = Object.hasOwn(writer.run.refusals, provider) ? writer.run.refusals[provider]! : null;
      // One that is paused asks nobody, so nobody hears from it when the provider answers again.
      const isStale = status === "paused" && (refusal?.until ?? 0) <= this.#options.world.now();
      if (refusal && !isStale && (until === null || refusal.until > until)) until = refusal.until;
    }
    return until;
  }

  #fail(error: unknown): void {
    if (this.#halted !== null) return;
    this.#halted = asTuttiError(error);
    for (const { writer } of this.#runs.values()) writer.halt(this.#halted);
    this.#serverLog.halt(this.#halted);
    this.#halt.reject(this.#halted);
  }

  /** A run to be steered; one from the shelf comes back for it. */
  #live(id: string): Live {
    if (this.#halted !== null) throw this.#halted;
    const live = this.#runs.get(id);
    if (live) return live;
    const run = this.#shelf.get(id);
    if (!run) throw new TuttiError("run_not_found", `there is no run ${id}`);
    const revived = this.#make(id, run);
    this.#shelf.take(id);
    this.#runs.set(id, revived);
    return revived;
  }

  /** A run to be looked at. */
  #state(id: string): Run {
    if (this.#halted !== null) throw this.#halted;
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
    this.#runs.delete(writer.id);
    this.#shelf.put(writer.run);
  }

  /** Everything that can be refused is refused here, before a run exists. */
  async create(request: NewRun): Promise<Run> {
    if (this.#halted !== null) throw this.#halted;
    const { templateId, message, customVariables = {}, idempotency } = request;
    const { cwd, template, agent, providers } = await prepareRun(request, this.#options);
    const id = `orch_${this.#options.world.id(12)}`;
    const live = this.#make(id, null);
    const run = await live.writer.submit({
      type: "create",
      id,
      templateId,
      template,
      cwd,
      message,
      customVariables,
      agent,
      ...(Object.keys(providers).length > 0 ? { providers } : {}),
      ...(idempotency ? { idempotency } : {}),
    });
    this.#runs.set(id, live);
    if (this.#halted !== null) live.writer.halt(this.#halted);
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

  /** Carries the plan out, with the person's changes; `hash` is that of the plan the person was shown. */
  confirm(id: string, changes: PlanChanges = {}, hash?: string): Promise<Run> {
    const { writer } = this.#live(id);
    return writer.submit({ type: "confirm", changes, ...(hash === undefined ? {} : { hash }) });
  }

  /** Sends the plan back to the main session. */
  requestChanges(id: string, text: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "requestChanges", text });
  }

  pause(id: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "pause" });
  }

  resume(id: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "resume" });
  }

  cancel(id: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "cancel" });
  }

  pauseWorker(id: string, sessionId: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "pauseWorker", sessionId });
  }

  resumeWorker(id: string, sessionId: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "resumeWorker", sessionId });
  }

  cancelWorker(id: string, sessionId: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "cancelWorker", sessionId });
  }

  /** Tries a task again that did not complete; a run that is over goes on for it. */
  retry(id: string, taskId: string): Promise<Run> {
    return this.#live(id).writer.submit({ type: "retry", taskId });
  }

  /** What a person says to the main session, or to the worker of a task; told with the session's next turn. */
  message(id: string, text: string, taskId: string | null = null): Promise<Run> {
    return this.#live(id).writer.submit({ type: "message", taskId, text });
  }

  /** A person's answer to something in the inbox. */
  answer(itemId: string, answer: PersonAnswer): Promise<Run> {
    const { writer } = this.#waitingFor(itemId);
    const { kind } = writer.run.inbox[itemId]!;
    if (kind === "data" && "data" in answer) return this.supply(itemId, answer.data);
    return writer.submit({ type: "answer", itemId, answer });
  }

  /** What the person decided where merging needs it, by the places of the decisions. */
  decide(id: string, decisions: Extract<Command, { type: "decide" }>["decisions"]): Promise<Run> {
    return this.#live(id).writer.submit({ type: "decide", decisions });
  }

  /**
   * Tidies up after a run: it is cancelled if it is not over, its sessions are packed or removed, and it leaves the lists
   * if its state is to go. Its branch and refs stay.
   */
  async cleanup(id: string, options: CleanupOptions = {}): Promise<CleanupResult> {
    const { archiveWorkers = true, deleteWorkers = false, removeState = true } = options;
    const live = this.#live(id);
    const { writer, reconciler } = live;
    this.#held.add(id);
    try {
      if (options.onlyEnded && !isDoneWith(writer.run)) {
        throw new TuttiError("wrong_state", `run ${id} is not over, or something in it waits for a person`);
      }
      if (!isRunOver(writer.run.status)) await writer.submit({ type: "cancel" });
      await reconciler.begin();
      await reconciler.settled();
      // A run that is forgotten is never looked after again: first nothing of it may be left.
      if (removeState && !writer.run.released) {
        throw new TuttiError("workspace_failed", `what run ${id} left behind could not be taken away yet`);
      }
      const result = await cleanUp(writer, this.#options.sessions, { archiveWorkers, deleteWorkers, removeState });
      if (removeState) await this.#remove(live);
      return result;
    } finally {
      this.#held.delete(id);
      void this.#shelve(live);
    }
  }

  /** The log of a run, to take along. */
  export(id: string): string {
    this.#state(id);
    return writeCopy(id, this.#options.store.read({ run: id }));
  }

  /**
   * Takes in a run that was exported, here or elsewhere, or all those of an old file of states. One that was not over
   * waits to be resumed. Nothing is taken in if one of them is here already, or if they name programs and the person has
   * not agreed to them: `trust` is the hash of what the person was shown. `mayUse` refuses, by throwing, a folder or
   * repository that whoever asks may not use.
   */
  async import(text: string, { trust, mayUse }: Pick<NewRun, "trust" | "mayUse"> = {}): Promise<Run[]> {
    const { world, templates, workspaces } = this.#options;
    const newId = () => `orch_${world.id(12)}`;
    const found = readRuns(text, () => templates.resolve("_default").template, newId, world.now());
    const ids = found.map(({ id }) => id);
    this.#checkNew(ids);
    const states = found.map(stateOf);
    demandTrust(programsIn(states), found.length === 1 ? "this run" : "these runs", trust, this.#options);
    for (const folder of mayUse ? new Set(states.map(({ cwd }) => cwd)) : []) {
      mayUse!(folder);
      // A folder of another machine need not be here; where it is, the repository around it counts too.
      const { root } = await workspaces.inspect(folder).catch(() => ({ root: folder }));
      mayUse!(root);
    }
    // Somebody else may have been quicker.
    this.#checkNew(ids);
    for (const id of ids) this.#coming.add(id);
    try {
      const taken: Run[] = [];
      for (const { id, events } of found) taken.push(await this.#take(id, importOf(id, events, world.now())));
      return taken;
    } finally {
      for (const id of ids) this.#coming.delete(id);
    }
  }

  /** Runs that are being taken in. */
  readonly #coming = new Set<string>();

  /** A run that is taken in must not take what another of its id has left for its own doing. */
  #checkNew(ids: readonly string[]): void {
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    if (twice !== undefined) throw new TuttiError("invalid_input", `there are two runs ${twice} in it`);
    const known = ids.find((id) => this.get(id) ?? this.#coming.has(id));
    if (known) throw new TuttiError("wrong_state", `there is a run ${known} already`);
    const left = ids.find((id) => this.#options.sessions.knows(id));
    if (left) throw new TuttiError("wrong_state", `there are sessions of a run ${left} already; remove their folder`);
  }

  /**
   * A new run that has the past of another one, up to one of its events and what was decided with it. What was done by
   * then is not done again, and what was done since is taken over wherever it is about the same; `fresh` takes over
   * nothing from after that event.
   */
  async fork(id: string, at = Number.POSITIVE_INFINITY, { fresh = false } = {}): Promise<Run> {
    this.#state(id);
    const { store, world } = this.#options;
    const forked = `orch_${world.id(12)}`;
    return this.#take(forked, forkOf(store.read({ run: id }), { from: id, to: forked, at, fresh }, world.now()));
  }

  /** The run's log folded again, event by event, and whether it is as it should be; `until` is one of its events. */
  replay(id: string, until?: number): Replay {
    const known = this.#state(id);
    return replay(this.#options.store.read({ run: id }), known, until);
  }

  async #take(id: string, events: NewEvent[]): Promise<Run> {
    if (this.#halted !== null) throw this.#halted;
    const stored = await this.#options.store.append(id, 0, events).catch((error: unknown) => {
      this.#fail(error);
      throw error;
    });
    const run = fold(null, stored)!;
    this.#runs.set(id, this.#make(id, run));
    this.#published(stored, run, null);
    return run;
  }

  /** The events stay in their places in the sequence, without content. */
  async #remove({ writer }: Live): Promise<void> {
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
    this.#runs.delete(id);
    this.#shelf.take(id);
  }

  /** Data of a phase that no session could give; checked like an agent's own answer. */
  supply(itemId: string, data: unknown): Promise<Run> {
    const live = this.#waitingFor(itemId);
    const { phase } = live.writer.run.inbox[itemId]!;
    const answer = phase && readAnswer(ANSWER_PHASE[phase], data);
    if (!answer) throw new TuttiError("wrong_state", `${itemId} does not wait for data`);
    return live.writer.submit({ type: "supply", itemId, answer });
  }

  /** Data of the phase that the main session owes now, or could not give; checked like its own answer. */
  respond(id: string, phase: Phase, data: unknown): Promise<Run> {
    const { writer } = this.#live(id);
    return writer.submit({ type: "respond", answer: readAnswer(ANSWER_PHASE[phase], data) });
  }

  /** Tool calls that somebody counted beside the sessions are added to the run's. */
  countTools(id: string, toolStats: ToolStats): Promise<Run> {
    const event = { type: "orchestrator:toolsCounted" as const, data: { id, toolStats } };
    return this.#live(id).writer.submit({ type: "told", event });
  }

  /** Packs the sessions of a run's workers; one that is still alive stays, with an error. */
  archiveWorkers(id: string): Promise<Pick<CleanupResult, "archived" | "errors">> {
    return archive(this.#live(id).writer, this.#options.sessions);
  }

  /** Resolves when everything that was asked for until now is on disk. */
  async flush(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ writer }) => writer.idle()));
    await this.#serverLog.idle();
    if (this.#halted !== null) throw this.#halted;
  }

  #waitingFor(itemId: string): Live {
    const found = this.summaries().find(({ inbox }) => inbox.some((item) => item.id === itemId));
    if (!found) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
    return this.#live(found.id);
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

  async result(id: string): Promise<Outcome> {
    const run = this.#state(id);
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

  lastSeq(): number {
    return this.#options.store.lastSeq();
  }

  /** What was said and done in one session of a run, its newest attempt or an older one. */
  transcript(id: string, sessionId: string, page?: TranscriptPage): TranscriptEntry[] {
    this.#state(id);
    return this.#options.sessions.transcript(id, sessionId, page);
  }

  /** Whether nothing can go on in the run until a person answers. */
  waitsForPerson(run: Run): boolean {
    return waitsForPerson(run, this.#options.world.now());
  }

  /** Every event from now on, in order. Returns the way out. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the run is in a state that `reached` accepts; rejects if the engine halts before. */
  async until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    const now = this.#state(id);
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
    this.#state(id);
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

const isDoneWith = ({ status, released, inbox }: Run): boolean => isRunOver(status) && released && sizeOf(inbox) === 0;

const FREES_A_SLOT = new Set<StoredEvent["type"]>([
  "worker:completed",
  "worker:failed",
  "worker:timeout",
  "worker:cancelled",
  "worker:lost",
]);
