// `Engine` is the only writer of a data folder. It repeats four steps: append, apply, publish, reconcile.
//
// Invariants
// 1. A caller is answered only after the events of its command are on disk.
// 2. Effects (sessions, workspaces, merges) follow from the state on disk, never the other way round.
// 3. If the store fails, the engine halts: it causes no further effect and rejects every waiting caller. A restart
//    continues.
import { archive, cleanUp, type CleanupOptions, type CleanupResult } from "./runs/cleanup.ts";
import type { CommandRunner } from "./hooks.ts";
import { openMailbox, type TeamMailbox } from "./mailboxes/run-mailbox.ts";
import type { NameFinder } from "./merging/report-used-names.ts";
import type { CheckRunner } from "./sessions/run-checks.ts";
import { orderCommand } from "./order-command.ts";
import { RunRegistry, type CloseOptions, type Live } from "./runs/run-registry.ts";
import { checkAssigned, demandTrust, prepareRun, type NewRun, type CreationContext } from "./new-run.ts";
import { describeMissing } from "./choose-sandbox.ts";
import { followedRun } from "./copies/followed-run.ts";
import { forkOf, importOf, programsIn, stateOf, writeCopy } from "./copies/run-copy.ts";
import { readDiff, readOutputFiles, type DiffRequest } from "./runs/read-diff.ts";
import { continueOldRun, type OldRun } from "./runs/old-states.ts";
import { readRuns } from "./runs/read-runs.ts";
import { replay, type Replay } from "./runs/replay.ts";
import { dropResult, mergeResult } from "./runs/take-result.ts";
import type { RunSummary } from "./runs/finished-runs.ts";
import type { SubSessionLog } from "./sub-sessions/sub-session-log.ts";
import type { SubSessionMonitor } from "./sub-sessions/sub-session-monitor.ts";
import type { SubSessionCare } from "./sub-sessions/sub-session-part.ts";
import { NO_VAULT, sealEvents, type Vault } from "./seal-command.ts";
import type { SlotLimits } from "./slots.ts";
import { readAnswer } from "../protocol/response/read-answer.ts";
import { FOLD_VERSION } from "../run/apply.ts";
import { outcome } from "../run/outcome/outcome.ts";
import { sizeOf } from "../run/fold/shared-record.ts";
import { endedResult } from "../run/ended-result.ts";
import type { Order } from "../run/command.ts";
import { noSuchItem } from "../run/lookup.ts";
import { gateViews, type GateView } from "../run/team/gate.ts";
import { teamMetrics } from "../run/team/team-metrics.ts";
import type { OrderArguments, OrderInput, OrderName } from "../schema/api/orders.ts";
import type { DropReport, MergeReport, ResultDiff } from "../schema/api/result-values.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import type { EventData, EventOf, RawEvent, RunEvent, StoredEvent } from "../schema/event.ts";
import type { PersonAnswer } from "../schema/inbox.ts";
import type { FollowedRun, Outcome } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, isRunOver, type Phase } from "../schema/status.ts";
import type { HostLabels } from "../schema/task.ts";
import type { TranscriptEntry, TranscriptPage } from "../schema/transcript.ts";
import type { ToolStats } from "../schema/worker.ts";
import type { Snapshots } from "../store/snapshots.ts";
import { readInPages } from "../store/read-in-pages.ts";
import type { EventQuery, NewEvent, Store } from "../store/store.ts";
import type { World } from "../world.ts";

export interface EngineOptions extends SlotLimits, CreationContext {
  store: Store;
  /** Keeps folded states between starts; without `snapshots`, every log is folded from its beginning. */
  snapshots?: Snapshots;
  world: World;
  /** Runs hooks that are commands; without `runCommand` they fail. */
  runCommand?: CommandRunner;
  /** Without a `CheckRunner` the verification commands of templates fail. */
  checks?: CheckRunner;
  /** Without a `NameFinder` the names in the work of tasks are not compared. */
  names?: NameFinder;
  /** Keeps secrets out of the log; with `NO_VAULT`, the default, they are stored. */
  vault?: Vault;
  /** Holds the mailboxes of runs; without `dataFolder` they are in the project. */
  dataFolder?: string;
  /** Opens the mailbox of a run that has one; without `mailboxes` it is a folder of files. */
  mailboxes?: (run: Run) => TeamMailbox;
  /** Settings of the `SubSessionMonitor`. The documented defaults apply without them. */
  subSessions?: SubSessionCare;
}

/** `run` is null for events that belong to no run. */
export type Listener = (event: StoredEvent, run: Run | null) => void;

export class Engine {
  readonly #options: EngineOptions;
  readonly #runs: RunRegistry;
  readonly #vault: Vault;

  private constructor(options: EngineOptions) {
    this.#options = options;
    this.#vault = options.vault ?? NO_VAULT;
    this.#runs = new RunRegistry(options);
  }

  /** Folds the stored runs. The engine does not act for a run before `activate`. */
  static open(options: EngineOptions): Engine {
    const engine = new Engine(options);
    engine.#runs.open();
    return engine;
  }

  /** Continues a run where it stopped: adopts living sessions, reads finished ones and starts only the missing ones. */
  activate(id: string): Promise<Run> {
    return this.#runs.activate(id);
  }

  /** Calls `activate` for every run that is not released. */
  activateAll(): Promise<void> {
    return this.#runs.activateAll();
  }

  /** `prepareRun` rejects every invalid request before a run exists. */
  async create(request: NewRun): Promise<Run> {
    this.#runs.assertRunning();
    const { templateId, message, customVariables = {}, idempotency } = request;
    const prepared = await prepareRun(request, this.#options);
    const { cwd, template, agent, providers, assignableAgents, scope, sandbox } = prepared;
    const follows = request.after === undefined ? null : await this.#follow(cwd, request.after);
    const id = `orch_${this.#options.world.id(12)}`;
    // The request of the run that this one `follows` may contain placeholders.
    if (follows) this.#vault.copy(follows.run, id);
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
      ...(assignableAgents.length > 0 ? { assignableAgents } : {}),
      ...(follows ? { follows } : {}),
      ...(scope.length > 0 ? { scope } : {}),
      sandbox,
      ...(idempotency ? { idempotency } : {}),
    });
  }

  /** Throws unless `findResult` finds the result of the ended run `id` in the repository of `cwd`. */
  async #follow(cwd: string, id: string): Promise<FollowedRun> {
    const run = this.#runs.state(id);
    const commit = await this.#options.workspaces.findResult(cwd, id, endedResult(run));
    if (commit !== null) return followedRun(run, commit);
    const advice = "Start the new run in the folder of that run.";
    throw new TuttiError("wrong_state", `The repository of "${cwd}" has no result of run "${id}". ${advice}`);
  }

  /** Carries out an order of `ORDERS`; `input` is the body of its route. */
  async order<Name extends OrderName>(id: string, name: Name, ...[input]: OrderArguments<Name>): Promise<Run> {
    const { writer } = this.#runs.live(id);
    if (name === "confirm" || name === "edit")
      checkAssigned(writer.run, this.#options.sessions, input as OrderInput<"confirm">);
    if (name !== "start") return this.#give(id, orderCommand(name, input as never));
    const { cwd, follows, sandbox } = writer.run;
    const { head, dirty, isCopy, gaps = [] } = await this.#options.workspaces.inspect(cwd);
    const from = follows ? `the result of ${follows.run}` : "the last commit";
    const warnings = [
      ...(dirty ? [`The folder has uncommitted changes. The run starts from ${from} and does not include them.`] : []),
      ...gaps,
      ...(sandbox === "unavailable" ? [await describeMissing(this.#options.sessions)] : []),
      ...(isCopy
        ? [
            `The folder is not in a git repository. One worker at a time works in a copy, and the folder stays as it is until "tutti merge ${id}".`,
          ]
        : []),
    ];
    // A run that ended meanwhile has another writer.
    return this.#runs.live(id).writer.submit({ type: "start", base: follows?.commit ?? head, warnings });
  }

  gate(id: string): GateView[] {
    return gateViews(this.#runs.state(id), this.#options.world.now());
  }

  overrideGate(id: string, environment: string, by: string, reason: string): Promise<Run> {
    return this.#runs.live(id).writer.submit({ type: "overrideGate", environment, by, reason });
  }

  /**
   * A refused deployment changes no state, but the log records the attempt: its error contains the event (`refusalIn`).
   */
  async #give(id: string, order: Order): Promise<Run> {
    const { writer } = this.#runs.live(id);
    try {
      return await writer.submit(order);
    } catch (error) {
      const event = error instanceof TuttiError && error.code === "gate_closed" && refusalIn(error);
      if (event) await writer.submit({ type: "record", event });
      throw error;
    }
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

  answer(itemId: string, answer: PersonAnswer): Promise<Run> {
    const { writer } = this.#waitingFor(itemId);
    const { kind } = writer.run.inbox[itemId]!;
    if (kind === "data" && "data" in answer) return this.supply(itemId, answer.data);
    return this.#give(writer.id, { type: "answer", itemId, answer });
  }

  /**
   * Cancels the run if it is not over, archives or deletes its sessions, and with `removeState` removes the run. Its
   * branch stays if it has any work, and its kept work until `tutti gc`, unless `freeWork` is set.
   */
  async cleanup(id: string, options: CleanupOptions = {}): Promise<CleanupResult> {
    const { archiveWorkers = true, deleteWorkers = false, removeState = true } = options;
    return this.#runs.holding(id, async (live) => {
      const { writer, reconciler } = live;
      if (options.onlyEnded && !isDoneWith(writer.run)) {
        throw new TuttiError(
          "wrong_state",
          `Run "${id}" has not ended or has open inbox items. Wait until it has ended, and answer its items.`,
        );
      }
      if (!isRunOver(writer.run.status)) await writer.submit({ type: "cancel" });
      await reconciler.begin();
      await reconciler.settled();
      const isLeft = removeState && !writer.run.released;
      // After `remove` nothing would clean up leftovers of the run.
      if (isLeft) await this.#giveUpWorkspaces(live);
      const cleaned = await cleanUp(writer, this.#options.sessions, { archiveWorkers, deleteWorkers, removeState });
      const result = { ...cleaned, ...(isLeft && { workspacesLeft: true as const }) };
      if (removeState) {
        const { cwd, base, head } = writer.run;
        openMailbox(writer.run, this.#options)?.remove();
        await this.#runs.remove(live);
        // A branch without any work would only be in the way.
        if (head === base) await this.#options.workspaces.dropBranch(cwd, id).catch(() => {});
        // The repository may be gone; then nothing of the run is left there.
        await this.#options.workspaces.forget(cwd, id, { free: options.freeWork ?? false }).catch(() => {});
      }
      return result;
    });
  }

  /**
   * Marks a run as released without `release` if its repository is gone: `cwd` no longer exists or does not have `base`. The
   * workspaces stay on disk: they may hold the only copy of some work, and without the repository nothing else can keep it.
   */
  async #giveUpWorkspaces({ writer }: Live): Promise<void> {
    const { sessions, workspaces } = this.#options;
    const { id, cwd, base } = writer.run;
    const isGone = await workspaces.findResult(cwd, id, base ?? "").then(
      (found) => base !== null && found === null,
      (error: unknown) => GONE.has(asTuttiError(error).code),
    );
    if (!isGone)
      throw new TuttiError(
        "workspace_failed",
        `The workspaces or sessions of run "${id}" could not be removed. Try again.`,
      );
    await sessions.reap(id, []);
    await writer.submit({ type: "released" });
  }

  /** Returns the JSON lines that `import` reads. */
  export(id: string): string {
    this.#runs.state(id);
    return writeCopy(id, this.#options.store.read({ run: id }));
  }

  /**
   * Imports an exported run, or all runs of an old state file. A run that was not over stays paused until it is
   * resumed. The import is rejected as a whole if one run exists already, or if the runs name programs and `trust` is
   * not the hash of what the user saw. `mayUse` throws for a folder or repository that the caller may not use.
   */
  async import(text: string, { trust, mayUse }: Pick<NewRun, "trust" | "mayUse"> = {}): Promise<Run[]> {
    const { world, templates, workspaces } = this.#options;
    const newId = () => `orch_${world.id(12)}`;
    const found = readRuns(text, () => templates.resolve("_default").template, newId, world.now());
    const ids = found.map(({ id }) => id);
    this.#checkNew(ids);
    const states = found.map(stateOf);
    demandTrust(programsIn(states), found.length === 1 ? "This run" : "These runs", trust, this.#options);
    for (const folder of mayUse ? new Set(states.map(({ cwd }) => cwd)) : []) {
      mayUse!(folder);
      // The folder may not exist on this machine. If it does, check its repository too.
      const { root } = await workspaces.locate(folder).catch((error: unknown) => {
        if (asTuttiError(error).code === "forbidden") throw error;
        return { root: folder };
      });
      mayUse!(root);
    }
    // Another import may have added a run during `locate`.
    this.#checkNew(ids);
    for (const id of ids) this.#importing.add(id);
    try {
      const taken: Run[] = [];
      for (const old of found) {
        const { id } = old;
        const sealed = sealEvents(await this.#continued(old), (value) => this.#vault.seal(id, value));
        taken.push(await this.#runs.take(id, importOf(id, sealed, world.now())));
      }
      return taken;
    } finally {
      for (const id of ids) this.#importing.delete(id);
    }
  }

  /** An `unfinished` run continues only if its folder is in a repository of this machine. */
  async #continued(old: OldRun): Promise<readonly NewEvent[]> {
    if (!old.unfinished) return old.events;
    const { workspaces, world } = this.#options;
    const place = await workspaces.locate(stateOf(old).cwd).catch(() => null);
    return place ? continueOldRun(old, place.head, world.now()) : old.events;
  }

  readonly #importing = new Set<string>();

  /**
   * Throws for a run that exists already or has sessions here (`hasRun`): an imported run must not adopt the sessions
   * of another run.
   */
  #checkNew(ids: readonly string[]): void {
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    if (twice !== undefined)
      throw new TuttiError("invalid_input", `The file contains run "${twice}" twice. Remove one of the two.`);
    const known = ids.find((id) => this.get(id) ?? this.#importing.has(id));
    if (known) throw new TuttiError("wrong_state", `Run "${known}" exists already. Delete it before you import it.`);
    const leftover = ids.find((id) => this.#options.sessions.hasRun(id));
    if (leftover) {
      const message = `Sessions of an earlier run "${leftover}" exist already. Remove their folder before you import the run.`;
      throw new TuttiError("wrong_state", message);
    }
  }

  /**
   * Creates a run with the log of run `id` up to event `at` and the events decided with it. Tasks completed by then
   * stay completed. Results made since then are reused for the same work, unless `fresh` is set.
   */
  async fork(id: string, at = Number.POSITIVE_INFINITY, { fresh = false } = {}): Promise<Run> {
    this.#runs.state(id);
    const { store, world } = this.#options;
    const forked = `orch_${world.id(12)}`;
    this.#vault.copy(id, forked);
    return this.#runs.take(forked, forkOf(store.read({ run: id }), { from: id, to: forked, at, fresh }, world.now()));
  }

  /** Folds the run's log again, event by event up to `until`, and reports everything that is wrong with it. */
  replay(id: string, until?: number): Replay {
    const known = this.#runs.state(id);
    return replay(this.#options.store.read({ run: id }), known, until);
  }

  /** Answers an inbox item with the data of a phase; `readAnswer` validates it like an agent's answer. */
  supply(itemId: string, data: unknown): Promise<Run> {
    const live = this.#waitingFor(itemId);
    const { phase } = live.writer.run.inbox[itemId]!;
    const answer = phase && readAnswer(ANSWER_PHASE[phase], data);
    if (!answer)
      throw new TuttiError(
        "wrong_state",
        `Inbox item "${itemId}" does not ask for data. Answer it with text, an option or an approval.`,
      );
    return live.writer.submit({ type: "supply", itemId, answer });
  }

  /** Answers the phase that the main session owes or could not answer; `readAnswer` validates it. */
  respond(id: string, phase: Phase, data: unknown): Promise<Run> {
    const { writer } = this.#runs.live(id);
    return writer.submit({ type: "respond", answer: readAnswer(ANSWER_PHASE[phase], data) });
  }

  /** `toolStats` are calls that the caller counted itself. */
  countTools(id: string, toolStats: ToolStats): Promise<Run> {
    const event = { type: "orchestrator:toolsCounted" as const, data: { id, toolStats } };
    return this.#runs.live(id).writer.submit({ type: "record", event });
  }

  /**
   * Reports that no host offers the labels of a session. Returns false for a run that does not exist or `isForeign`.
   */
  async reportUnplaced(id: string, sessionId: string, labels: HostLabels): Promise<boolean> {
    if (this.get(id) === null || this.isForeign(id)) return false;
    await this.#runs.live(id).writer.submit({ type: "unplaced", sessionId, labels });
    return true;
  }

  /** Archives the sessions of a run's workers. A living session stays and is returned in `errors`. */
  archiveWorkers(id: string): Promise<Pick<CleanupResult, "archived" | "errors">> {
    return archive(this.#runs.live(id).writer, this.#options.sessions);
  }

  /** Resolves when every command submitted so far is on disk. */
  flush(): Promise<void> {
    return this.#runs.flush();
  }

  #waitingFor(itemId: string): Live {
    const id = this.runOfItem(itemId);
    if (id === null) throw noSuchItem(itemId);
    return this.#runs.live(id);
  }

  /** Returns null if no run has an item `itemId`. */
  runOfItem(itemId: string): string | null {
    return this.summaries().find(({ inbox }) => inbox.some((item) => item.id === itemId))?.id ?? null;
  }

  /** Whether another server of a shared store carries on the run. Commands for the run are then rejected here. */
  isForeign(id: string): boolean {
    return this.#runs.isForeign(id);
  }

  get(id: string): Run | null {
    return this.#runs.get(id);
  }

  /** The folded state for a client that continues the fold itself. State and `seq` are of the same moment. */
  snapshot(id: string): { fold: number; seq: number; run: Run; warnings: string[] } {
    const run = this.#runs.state(id);
    const seq = this.#options.store.lastSeq();
    return { fold: FOLD_VERSION, seq, run, warnings: this.#startWarnings(id) };
  }

  #startWarnings(id: string): string[] {
    // Parsing every event up to the start would cost more than the state: the first one holds the whole request.
    for (const { type, data } of this.readRawEvents({ run: id }))
      if (type === "orchestrator:started") return (JSON.parse(data) as EventData<"orchestrator:started">).warnings;
    return [];
  }

  /** Oldest run first. */
  summaries(): RunSummary[] {
    return this.#runs.summaries();
  }

  /** Full states of all runs, oldest first. `summaries` is cheaper when there are thousands. */
  list(): Run[] {
    return this.#runs.list();
  }

  async result(id: string): Promise<Outcome> {
    const run = this.#runs.state(id);
    const { files, warnings } = await readOutputFiles(this.#options.workspaces, run);
    const now = this.#options.world.now();
    const metrics = teamMetrics(run, now);
    const result = outcome(run, files, now);
    return { ...result, warnings: [...result.warnings, ...warnings], ...(metrics ? { metrics } : {}) };
  }

  /** Compares the result of a run so far, or of a task, with the commit that it started from. */
  async diff(id: string, options?: DiffRequest): Promise<ResultDiff> {
    return readDiff(this.#options.workspaces, this.#runs.state(id), options);
  }

  /** Merges the result of an ended run into the branch that is checked out in its folder. */
  mergeResult(id: string, { noFf = false } = {}): Promise<MergeReport> {
    return this.#runs.holding(id, (live) => mergeResult(live, this.#options.workspaces, noFf));
  }

  /** Removes the branch of an ended run. Its commit stays reachable. */
  dropResult(id: string): Promise<DropReport> {
    return this.#runs.holding(id, (live) => dropResult(live, this.#options.workspaces));
  }

  /** Rejects when the store fails or `close` is called. */
  get halted(): Promise<never> {
    return this.#runs.publisher.halted;
  }

  events(options: EventQuery): StoredEvent[] {
    return this.#options.store.read(options);
  }

  /** Like `events`, but reads page by page while the caller consumes them. */
  readEvents(options: Omit<EventQuery, "before">): Generator<StoredEvent> {
    return readInPages((query) => this.#options.store.read(query), options);
  }

  /** For readers that only forward events: `data` of a `RawEvent` stays JSON text. */
  rawEvents(options: EventQuery): RawEvent[] {
    return this.#options.store.readRaw(options);
  }

  /** Like `rawEvents`, but reads page by page while the caller consumes them. */
  readRawEvents(options: Omit<EventQuery, "before">): Generator<RawEvent> {
    return readInPages((query) => this.#options.store.readRaw(query), options);
  }

  /** Appends events that belong to no run; resolves when they are on disk. */
  append(...events: RunEvent[]): Promise<StoredEvent[]> {
    return this.#runs.publisher.serverLog.append(this.#vault.hide(events));
  }

  /** Returns `value` with placeholders for its secrets, for answers to clients that must not see them. */
  hideSecrets<T>(value: T): T {
    return this.#vault.hide(value);
  }

  get subSessions(): SubSessionMonitor {
    return this.#runs.subSessions.monitor;
  }

  get subSessionLog(): SubSessionLog {
    return this.#runs.subSessions.log;
  }

  lastSeq(): number {
    return this.#options.store.lastSeq();
  }

  /** `sessionId` may be of the newest attempt or an older one. */
  async transcript(id: string, sessionId: string, page?: TranscriptPage): Promise<TranscriptEntry[]> {
    this.#runs.state(id);
    return this.#options.sessions.transcript(id, sessionId, page);
  }

  /** Calls `listener` with every event from now on, in order. Returns a function that unsubscribes it. */
  subscribe(listener: Listener): () => void {
    return this.#runs.publisher.subscribe(listener);
  }

  /** Resolves when `reached` accepts the run's state; rejects if the engine halts first. */
  async until(id: string, reached: (run: Run) => boolean): Promise<Run> {
    return this.#runs.publisher.until(this.#runs.state(id), reached);
  }

  /** Resolves when no session, workspace, merge or hook of the run is being worked on. */
  settled(id: string): Promise<void> {
    return this.#runs.settled(id);
  }

  /** Ends the sessions, unless `leaveRunning` is set. The next engine can continue runs that are not over. */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#runs.close(options);
  }
}

type GateRefusal = EventOf<"gate:refused">;

const refusalIn = ({ details }: TuttiError): GateRefusal | null =>
  (details as { event?: GateRefusal } | undefined)?.event ?? null;

/** Codes of errors after which nothing of a run can be in its repository. */
const GONE: ReadonlySet<string> = new Set(["folder_not_found", "not_a_repository"]);

const isDoneWith = ({ status, released, inbox }: Run): boolean => isRunOver(status) && released && sizeOf(inbox) === 0;
