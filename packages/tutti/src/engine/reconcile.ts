// `Reconciler` compares the `schedule` of one run with the sessions, merges and workspaces that exist, and acts on the
// difference.
//
// Invariants
// 1. Only the stored state decides, so `look` may be called at any moment and any number of times.
// 2. A restart is just the first call.
import { RepositoryWatch } from "./sessions/repository-watch.ts";
import { SessionRunner } from "./sessions/session-runner.ts";
import type { SessionRunnerOptions } from "./sessions/serving/served-session.ts";
import { ConflictRadar } from "./merging/conflict-radar.ts";
import { MergeQueue } from "./merging/merge-queue.ts";
import { reportUsedNames } from "./merging/report-used-names.ts";
import { pendingMerges, recordedRefs } from "./merging/merge-work.ts";
import type { TeamMailbox } from "./mailboxes/run-mailbox.ts";
import type { FollowUps, RunWriter } from "./run-writer.ts";
import type { SubagentReport } from "../run/command.ts";
import { RunAlarm } from "./run-alarm.ts";
import { earliest, SessionStarts } from "./session-starts.ts";
import type { Slots } from "./slots.ts";
import { WarmStart } from "./warm-start.ts";
import { skipsAggregation } from "../run/consequences.ts";
import { exhaustedBudget, hasBudget } from "../run/rules/budget.ts";
import { workerOf, workerOfSession } from "../run/lookup.ts";
import { openWork, type OpenWork } from "../run/fold/open-work.ts";
import { probableNext, type ProbableStart } from "../run/plan/probable-next.ts";
import { schedule } from "../run/schedule.ts";
import { asTuttiError, isEnvironmentCode, type TuttiError } from "../schema/error.ts";
import { addUsage, NO_USAGE } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

interface ReconcilerOptions extends Pick<
  SessionRunnerOptions,
  "writer" | "sessions" | "workspaces" | "world" | "history" | "known" | "openSecrets" | "checks" | "names"
> {
  slots: Slots;
  /** Called before the reconciler acts on a deadline. */
  lookAtClock(): void;
  /** Called when a reserved slot is freed unused. */
  onSlotFreed(): void;
  /** Returns null if no role of the run works on a mailbox. */
  openMailbox: (run: Run) => TeamMailbox | null;
  /** Called when the agent of a session starts or ends a sub-agent of its own. */
  onSubagent(sessionId: string, subagent: SubagentReport): void;
}

type Lifecycle =
  /** The run's workers occupy no slots. */
  | { stage: "unclaimed" }
  /** They occupy slots, but `begin` has not been called. */
  | { stage: "claimed" }
  | { stage: "active"; isBranchOpen: boolean }
  | { stage: "releasing" }
  /** The release is not repeated until the run is reopened or the engine restarts, so that it does not loop. */
  | { stage: "releaseFailed" }
  | { stage: "left" };

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #runners = new Map<string, SessionRunner>();
  /** Runners that are ending. The usage of their open turns counts until the log contains it. */
  readonly #leaving = new Set<SessionRunner>();
  /** Session ends, merges and the release that are under way. */
  readonly #work = new Set<Promise<unknown>>();
  /** Sessions without a runner because of the machine, such as a full disk. They get one when the user resumes the run. */
  readonly #blocked = new Set<string>();
  readonly #mergeQueue: MergeQueue;
  /** Aborts `reportUsedNames` when the run is left. */
  readonly #namesEnd = new AbortController();
  readonly #radar: ConflictRadar;
  /** `held` while the run is paused because the machine did not allow its work, which is then not tried again. */
  #hold: "none" | "pausing" | "held" = "none";
  #watch: RepositoryWatch | null = null;
  /** `undefined` until `#openMailbox` is called for the first time. */
  #mailbox: TeamMailbox | null | undefined = undefined;
  #life: Lifecycle = { stage: "unclaimed" };
  #comparison: "none" | "running" | "repeat" = "none";
  #lookDone: Promise<void> = Promise.resolve();
  readonly #alarm: RunAlarm;
  readonly #starts: SessionStarts;
  /** The index that `#prepareAhead` has seen last. */
  #lastOpen: Partial<Pick<OpenWork, "active" | "ready">> = {};
  /** By task: the workspace that `#prepareAhead` has made. */
  readonly #prepared = new Map<string, Promise<string | null>>();
  readonly #warmStart: WarmStart;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#mergeQueue = new MergeQueue(options);
    this.#radar = new ConflictRadar(options.writer, options.workspaces);
    this.#warmStart = new WarmStart(options);
    this.#starts = new SessionStarts(options);
    this.#alarm = new RunAlarm({
      ...options,
      runners: () => [...this.#runners.values()],
      look: () => this.look(),
    });
  }

  get #writer(): RunWriter {
    return this.#options.writer;
  }

  /** Ends sessions that no longer count (`reap`), then calls `look`. */
  async begin(): Promise<void> {
    if (this.begun) return;
    this.#life = { stage: "active", isBranchOpen: false };
    const { run } = this.#writer;
    const { sessions, idle } = schedule(run, { freeSlots: 0 }, this.#options.world.now());
    if (run.base !== null) await this.#options.sessions.reap(run.id, [...sessions, ...idle]);
    this.look();
  }

  /** Called before `begin`. From now on the run's workers occupy slots. */
  claim(): void {
    if (this.#life.stage === "unclaimed") this.#life = { stage: "claimed" };
  }

  get claimed(): boolean {
    return this.#life.stage !== "unclaimed";
  }

  get begun(): boolean {
    return this.claimed && this.#life.stage !== "claimed";
  }

  get #hasLeft(): boolean {
    return this.#life.stage === "left";
  }

  /** Compares now, or once more after the comparison that is under way. */
  look(): void {
    if (!this.begun || this.#hasLeft) return;
    if (this.#comparison === "none") this.#lookDone = this.#loop();
    else this.#comparison = "repeat";
  }

  async #loop(): Promise<void> {
    const isAskedAgain = (): boolean => this.#comparison === "repeat";
    do {
      this.#comparison = "running";
      await this.#compare().catch((error: unknown) => this.#fail("reconcile", error));
    } while (isAskedAgain() && !this.#hasLeft);
    // Reset in the same microtask as the last check, so that no call of `look` is lost.
    this.#comparison = "none";
  }

  /** Pauses the run if the machine is the reason (`isEnvironmentCode`), else ends it. */
  async #fail(operation: string, error: unknown): Promise<void> {
    const fault = asTuttiError(error);
    if (!isEnvironmentCode(fault.code) || this.#writer.run.status === "created") return this.#fault(operation, fault);
    if (this.#life.stage === "active") this.#life = { stage: "active", isBranchOpen: false };
    await this.#waitForUser(fault);
  }

  /** Ends the run with `error`. A failed store halts the engine by itself, so its error is dropped here. */
  async #fault(operation: string, { message, code }: TuttiError): Promise<void> {
    await this.#writer.submit({ type: "fault", operation, error: message, code }).catch(() => {});
  }

  async #compare(): Promise<void> {
    const { run } = this.#writer;
    const mailbox = this.#openMailbox();
    if (mailbox) this.#do("mailbox", mailbox.sync(run));
    if (isRunOver(run.status)) {
      this.#alarm.cancel();
      this.#blocked.clear();
      this.#endOthers(new Set());
      this.#mergeQueue.end();
      if (!run.released && this.#life.stage === "active") this.#do("release", this.#release());
      return;
    }
    if (this.#hold === "held" && run.status !== "paused") {
      this.#hold = "none";
      this.#blocked.clear();
    }
    const isHeld = this.#hold !== "none";
    // A reopened run waits until `#release` of its previous end is done.
    if (this.#life.stage === "releasing") return;
    if (this.#life.stage === "releaseFailed") this.#life = { stage: "active", isBranchOpen: false };
    if (run.base !== null && this.#life.stage === "active" && !this.#life.isBranchOpen && !isHeld) {
      this.#life = { stage: "active", isBranchOpen: true };
      const head = run.head ?? run.base;
      const moved = await this.#options.workspaces.openBranch(run.cwd, run.id, head, pendingMerges(run));
      if (moved) await this.#writer.submit({ type: "refMoved", moved });
    }
    // `leave` waits for this comparison. An alarm that it sets now would keep the process alive.
    if (this.#hasLeft) return;
    const limits = { ...this.#starts.limits(run), since: Math.max(this.#alarm.tickedAt, run.updatedAt) };
    const wanted = schedule(run, limits, this.#options.world.now());
    const opensAt = this.#starts.opensAt(run, wanted.spawnMain);
    for (const sessionId of wanted.sessions) this.#startRunner(sessionId);
    this.#endOthers(new Set([...wanted.sessions, ...wanted.idle]));
    for (const runner of this.#runners.values()) void runner.refresh();
    if (wanted.merges.length > 0 && !this.#mergeQueue.isBusy && !isHeld)
      this.#do("merge", this.#mergeQueue.run(this.#sessionStarts()));
    this.#alarm.set(
      wanted.deadlines.filter(({ sessionId }) => this.#runners.get(sessionId)?.caughtUp),
      // Clock-based steps wait until every session is `caughtUp`.
      [...this.#runners.values()].every(({ caughtUp }) => caughtUp) ? earliest(wanted.lookAt, opensAt) : null,
    );
    if (wanted.spawnMain) await this.#starts.startMain();
    await this.#starts.startTasks(wanted.spawn);
    const next = isHeld ? null : this.#findNext(run);
    if (this.#warmStart.isObsolete(next?.taskId ?? null)) this.#do("end of a session", this.#warmStart.discard());
    if (next) this.#do("preparation", this.#prepareAhead(run, next));
  }

  #sessionStarts(): Promise<unknown> {
    return Promise.all([...this.#runners.values()].map(({ started }) => started));
  }

  /** Null if nothing has changed since the last call, too. */
  #findNext(run: Run): ProbableStart | null {
    const { active, ready } = openWork(run);
    if (active === this.#lastOpen.active && ready === this.#lastOpen.ready) return null;
    this.#lastOpen = { active, ready };
    return probableNext(run);
  }

  /** Failures do not count: the start of the task prepares its workspace again and reports them. */
  async #prepareAhead(run: Run, { taskId, commit }: ProbableStart): Promise<void> {
    const key = { runId: run.id, name: taskId, attempt: 1 };
    const made = this.#prepared.get(taskId) ?? this.#options.workspaces.prepareAhead(run.cwd, key, commit);
    this.#prepared.set(taskId, made);
    try {
      const path = await made;
      if (path !== null) await this.#warmStart.prepare(taskId, key, path);
    } catch {}
  }

  /**
   * The `FollowUps` start tasks that become ready in `next` within the same append, so that a crash cannot fall between
   * the end of one task and the start of the following one.
   */
  callFor(next: Run): FollowUps | null {
    if (this.#life.stage !== "active" || !this.#life.isBranchOpen || isRunOver(next.status)) return null;
    const { spawn } = schedule(next, this.#starts.limits(next, next), this.#options.world.now());
    return spawn.length === 0 ? null : this.#starts.followUps(next, spawn);
  }

  #startRunner(sessionId: string): void {
    if (this.#runners.has(sessionId) || this.#blocked.has(sessionId)) return;
    const { run } = this.#writer;
    const worker = workerOfSession(run, sessionId);
    const runner = new SessionRunner({
      ...this.#options,
      sessionId,
      taskId: worker?.taskId ?? null,
      attempt: worker?.attempt ?? run.main!.attempt,
      onCaughtUp: () => this.look(),
      onSpent: () => this.#spent(),
      onEnvironment: (error) => this.#block(sessionId, error),
      mailbox: this.#openMailbox(),
      watch: (this.#watch ??= new RepositoryWatch(this.#options.workspaces, run.cwd)),
      radar: this.#radar,
      warmStart: this.#warmStart,
      onSubagent: (subagent) => this.#options.onSubagent(sessionId, subagent),
    });
    this.#runners.set(sessionId, runner);
  }

  #openMailbox(): TeamMailbox | null {
    if (this.#mailbox === undefined) this.#mailbox = this.#options.openMailbox(this.#writer.run);
    return this.#mailbox;
  }

  /** Detaches from a session that the machine blocks. Its keeper continues; another runner adopts it later. */
  #block(sessionId: string, error: TuttiError): void {
    const runner = this.#runners.get(sessionId);
    if (!runner || this.#hasLeft) return;
    this.#runners.delete(sessionId);
    this.#blocked.add(sessionId);
    this.#do("end of a session", runner.leave());
    void this.#waitForUser(error);
  }

  /** Pauses the run until the user resumes it, because nothing here can check whether the work would succeed now. */
  async #waitForUser({ message, details }: TuttiError): Promise<void> {
    const { output } = (details ?? {}) as { output?: string };
    this.#hold = "pausing";
    await this.#writer.submit({ type: "environment", error: message, output }).catch(() => {});
    this.#hold = "held";
    // The user may have resumed the run meanwhile.
    this.look();
  }

  /**
   * Submits `spending` as soon as open turns exhaust the budget (`exhaustedBudget`), so that the run stops before they
   * end.
   */
  #spent(): void {
    const { run } = this.#writer;
    if (!hasBudget(run)) return;
    const open = [...this.#runners.values(), ...this.#leaving];
    const usage = open.map(({ spent }) => spent).reduce(addUsage, NO_USAGE);
    if (exhaustedBudget(run, this.#options.world.now(), { turn: false, session: false }, usage) === null) return;
    this.#writer.submit({ type: "spending", usage }).catch(() => {});
  }

  /** Closes a session if its result `isAccepted`, and stops every other one that is not `wanted`. */
  #endOthers(wanted: ReadonlySet<string>): void {
    for (const sessionId of this.#blocked) {
      if (wanted.has(sessionId)) continue;
      this.#blocked.delete(sessionId);
      this.#do("end of a session", this.#options.sessions.end(this.#writer.id, sessionId));
    }
    for (const [sessionId, runner] of this.#runners) {
      if (wanted.has(sessionId)) continue;
      this.#runners.delete(sessionId);
      const { run } = this.#writer;
      const worker = runner.taskId === null ? null : workerOf(run, runner.taskId);
      const isAccepted = worker
        ? worker.sessionId === sessionId && worker.status === "completed"
        : run.status === "completed" || run.main?.sessionId !== sessionId || run.main.state === "over";
      this.#leaving.add(runner);
      this.#do(
        "end of a session",
        runner.end(isAccepted ? "close" : "stop").finally(() => {
          this.#leaving.delete(runner);
          this.#spent();
        }),
      );
    }
  }

  /** Removes everything of an ended run except its branch, its refs and its log. */
  async #release(): Promise<void> {
    this.#life = { stage: "releasing" };
    const { run } = this.#writer;
    try {
      await Promise.allSettled(this.#work);
      await this.#options.sessions.reap(run.id, []);
      if (run.status === "completed" && run.head !== null && skipsAggregation(run))
        await reportUsedNames(this.#options, this.#namesEnd.signal);
      if (run.base !== null) await this.#releaseWorkspaces(run, run.head ?? run.base);
      await this.#writer.submit({ type: "released" });
    } finally {
      const { status, released } = this.#writer.run;
      const isReopened = !isRunOver(status);
      if (!this.#hasLeft) {
        this.#life = isReopened || released ? { stage: "active", isBranchOpen: false } : { stage: "releaseFailed" };
      }
      if (isReopened) this.look();
    }
  }

  async #releaseWorkspaces(run: Run, head: string): Promise<void> {
    const movedRefs = await this.#options.workspaces.release(run.cwd, run.id, recordedRefs(run, head));
    for (const moved of movedRefs) await this.#writer.submit({ type: "refMoved", moved });
  }

  /** Runs `work` beside the loop. A failed merge ends or pauses a running run; every other failure is only recorded. */
  #do(operation: string, work: Promise<unknown>): void {
    const watched: Promise<unknown> = work
      .catch(async (error: unknown) => {
        const { status } = this.#writer.run;
        if (!isRunOver(status) && operation === "merge") return this.#fail(operation, error);
        const { message, code } = asTuttiError(error);
        await this.#writer.submit({ type: "mishap", operation, error: message, code }).catch(() => {});
      })
      .finally(() => this.#work.delete(watched));
    this.#work.add(watched);
  }

  /** Resolves when no comparison and no work beside it is under way. */
  async settled(): Promise<void> {
    do {
      await this.#lookDone;
      await Promise.allSettled(this.#work);
    } while (this.#comparison !== "none" || this.#work.size > 0);
  }

  /** Restarts the idle time of all sessions after a suspend. */
  touch(): void {
    for (const runner of this.#runners.values()) runner.touch();
  }

  /** Detaches from all sessions and, with `stop`, ends them. The run can be continued in either case. */
  async leave(stop: boolean): Promise<void> {
    const { begun } = this;
    this.#life = { stage: "left" };
    this.#mergeQueue.end();
    this.#namesEnd.abort();
    this.#alarm.cancel();
    await this.#lookDone;
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    await Promise.all(runners.map((runner) => runner.leave()));
    await this.#warmStart.end();
    if (stop && begun) await this.#options.sessions.reap(this.#writer.id, []);
    await Promise.allSettled(this.#work);
  }
}
