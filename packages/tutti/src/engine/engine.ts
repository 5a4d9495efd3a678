// The engine: the only writer. Four things for ever: append → apply → publish → reconcile.
//
// Invariants
// 1. Only the run writers append, and what is acknowledged to a caller is on disk.
// 2. Effects (sessions, workspaces, merges) follow from the state on disk, never the other way round.
// 3. If the store fails, the engine halts: no further effect, every waiting caller is told, a restart continues.
import { archive, cleanUp, type CleanupOptions, type CleanupResult } from "./cleanup.ts";
import type { CommandRunner } from "./hooks.ts";
import { KeptRuns, type Live } from "./kept-runs.ts";
import { demandTrust, prepareRun, type NewRun, type Surroundings } from "./new-run.ts";
import { forkOf, importOf, programsIn, stateOf, writeCopy } from "./run-copy.ts";
import { readRuns } from "./read-runs.ts";
import { replay, type Replay } from "./replay.ts";
import type { RunSummary } from "./run-shelf.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import type { SubSessionMonitor } from "./sub-session-monitor.ts";
import type { SubSessionCare } from "./sub-session-part.ts";
import type { SlotLimits } from "./slots.ts";
import type { Command, PlanChanges } from "../run/command.ts";
import { readAnswer } from "../protocol/read-answer.ts";
import { outcome } from "../run/census.ts";
import { sizeOf } from "../run/shared-record.ts";
import { waitsForPerson } from "../run/waits-for-person.ts";
import { TuttiError } from "../schema/error.ts";
import type { RunEvent, StoredEvent } from "../schema/event.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type { Outcome } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, isRunOver, type Phase } from "../schema/status.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";
import type { ToolStats } from "../schema/worker.ts";
import type { Snapshots } from "../store/snapshots.ts";
import type { ReadOptions, Store } from "../store/store.ts";
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

/** `run` is null for events of the server itself. */
export type Listener = (event: StoredEvent, run: Run | null) => void;

export class Engine {
  readonly #options: EngineOptions;
  readonly #runs: KeptRuns;

  private constructor(options: EngineOptions) {
    this.#options = options;
    this.#runs = new KeptRuns(options, (id, text, taskId) => this.message(id, text, taskId));
  }

  /** Folds what is stored. A run rests until it is taken up. */
  static open(options: EngineOptions): Engine {
    const engine = new Engine(options);
    engine.#runs.open();
    return engine;
  }

  /** Goes on with a run where it was: adopts its living sessions, reads what has finished, starts only what is missing. */
  takeUp(id: string): Promise<Run> {
    return this.#runs.takeUp(id);
  }

  /** Takes up every run that is not done with. */
  takeUpAll(): Promise<void> {
    return this.#runs.takeUpAll();
  }

  /** Everything that can be refused is refused here, before a run exists. */
  async create(request: NewRun): Promise<Run> {
    this.#runs.mustGoOn();
    const { templateId, message, customVariables = {}, idempotency } = request;
    const { cwd, template, agent, providers } = await prepareRun(request, this.#options);
    const id = `orch_${this.#options.world.id(12)}`;
    return this.#runs.begin(id, {
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
  }

  async start(id: string): Promise<Run> {
    const { writer } = this.#runs.live(id);
    const { head, dirty } = await this.#options.workspaces.inspect(writer.run.cwd);
    const warnings = dirty
      ? ["there are uncommitted changes in the folder; the run works on the last commit and does not see them"]
      : [];
    return writer.submit({ type: "start", base: head, warnings });
  }

  /** Carries the plan out, with the person's changes; `hash` is that of the plan the person was shown. */
  confirm(id: string, changes: PlanChanges = {}, hash?: string): Promise<Run> {
    const { writer } = this.#runs.live(id);
    return writer.submit({ type: "confirm", changes, ...(hash === undefined ? {} : { hash }) });
  }

  /** Sends the plan back to the main session. */
  requestChanges(id: string, text: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "requestChanges", text });
  }

  pause(id: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "pause" });
  }

  resume(id: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "resume" });
  }

  cancel(id: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "cancel" });
  }

  pauseWorker(id: string, sessionId: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "pauseWorker", sessionId });
  }

  resumeWorker(id: string, sessionId: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "resumeWorker", sessionId });
  }

  cancelWorker(id: string, sessionId: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "cancelWorker", sessionId });
  }

  /** Tries a task again that did not complete; a run that is over goes on for it. */
  retry(id: string, taskId: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "retry", taskId });
  }

  /** What a person says to the main session, or to the worker of a task; told with the session's next turn. */
  message(id: string, text: string, taskId: string | null = null): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "message", taskId, text });
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
    return this.#runs.live(id).writer.submit({ type: "decide", decisions });
  }

  /**
   * Tidies up after a run: it is cancelled if it is not over, its sessions are packed or removed, and it leaves the lists
   * if its state is to go. Its branch and refs stay.
   */
  async cleanup(id: string, options: CleanupOptions = {}): Promise<CleanupResult> {
    const { archiveWorkers = true, deleteWorkers = false, removeState = true } = options;
    return this.#runs.holding(id, async (live) => {
      const { writer, reconciler } = live;
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
      if (removeState) await this.#runs.remove(live);
      return result;
    });
  }

  /** The log of a run, to take along. */
  export(id: string): string {
    this.#runs.state(id);
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
      for (const { id, events } of found) taken.push(await this.#runs.take(id, importOf(id, events, world.now())));
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
    this.#runs.state(id);
    const { store, world } = this.#options;
    const forked = `orch_${world.id(12)}`;
    return this.#runs.take(forked, forkOf(store.read({ run: id }), { from: id, to: forked, at, fresh }, world.now()));
  }

  /** The run's log folded again, event by event, and whether it is as it should be; `until` is one of its events. */
  replay(id: string, until?: number): Replay {
    const known = this.#runs.state(id);
    return replay(this.#options.store.read({ run: id }), known, until);
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
    const { writer } = this.#runs.live(id);
    return writer.submit({ type: "respond", answer: readAnswer(ANSWER_PHASE[phase], data) });
  }

  /** Tool calls that somebody counted beside the sessions are added to the run's. */
  countTools(id: string, toolStats: ToolStats): Promise<Run> {
    const event = { type: "orchestrator:toolsCounted" as const, data: { id, toolStats } };
    return this.#runs.live(id).writer.submit({ type: "told", event });
  }

  /** Packs the sessions of a run's workers; one that is still alive stays, with an error. */
  archiveWorkers(id: string): Promise<Pick<CleanupResult, "archived" | "errors">> {
    return archive(this.#runs.live(id).writer, this.#options.sessions);
  }

  /** Resolves when everything that was asked for until now is on disk. */
  flush(): Promise<void> {
    return this.#runs.flush();
  }

  #waitingFor(itemId: string): Live {
    const found = this.summaries().find(({ inbox }) => inbox.some((item) => item.id === itemId));
    if (!found) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
    return this.#runs.live(found.id);
  }

  get(id: string): Run | null {
    return this.#runs.get(id);
  }

  /** What lists show of every run, oldest first. */
  summaries(): RunSummary[] {
    return this.#runs.summaries();
  }

  /** The whole state of every run, oldest first. Where there may be thousands, `summaries` costs less. */
  list(): Run[] {
    return this.#runs.list();
  }

  async result(id: string): Promise<Outcome> {
    const run = this.#runs.state(id);
    const files =
      run.base !== null && run.head !== null
        ? await this.#options.workspaces.changedFiles(run.cwd, run.base, run.head)
        : [];
    return outcome(run, files, this.#options.world.now());
  }

  /** Rejects when the engine cannot go on, or has been closed. */
  get halted(): Promise<never> {
    return this.#runs.halted;
  }

  /** Events as they are stored; with `run` only that run's. */
  events(options: ReadOptions): StoredEvent[] {
    return this.#options.store.read(options);
  }

  /** What happened on the server and belongs to no run; resolves when it is on disk. */
  tell(...events: RunEvent[]): Promise<StoredEvent[]> {
    return this.#runs.tell(...events);
  }

  /** Sessions that others have started: who looks after them. */
  get subSessions(): SubSessionMonitor {
    return this.#runs.subSessions;
  }

  /** The same, as the server's own log has them. */
  get subSessionLog(): SubSessionLog {
    return this.#runs.subSessionLog;
  }

  lastSeq(): number {
    return this.#options.store.lastSeq();
  }

  /** What was said and done in one session of a run, its newest attempt or an older one. */
  transcript(id: string, sessionId: string, page?: TranscriptPage): TranscriptEntry[] {
    this.#runs.state(id);
    return this.#options.sessions.transcript(id, sessionId, page);
  }

  /** Whether nothing can go on in the run until a person answers. */
  waitsForPerson(run: Run): boolean {
    return waitsForPerson(run, this.#options.world.now());
  }

  /** Every event from now on, in order. Returns the way out. */
  subscribe(listener: Listener): () => void {
    return this.#runs.subscribe(listener);
  }

  /** Resolves when the run is in a state that `reached` accepts; rejects if the engine halts before. */
  until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    return this.#runs.until(id, reached);
  }

  /** Resolves when no process, workspace or merge of the run is being dealt with. */
  settled(id: string): Promise<void> {
    return this.#runs.settled(id);
  }

  /** Ends the engine. Runs that are not over can be taken up again by the next one. */
  close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    return this.#runs.close(options);
  }
}

const isDoneWith = ({ status, released, inbox }: Run): boolean => isRunOver(status) && released && sizeOf(inbox) === 0;
