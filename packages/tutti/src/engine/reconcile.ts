// Compares what should exist with what is there, for one run, and acts on the difference. It looks at the state only, so
// it can be called at any moment and any number of times, and a restart is just the first call.
import { Attendant, type AttendantOptions } from "./attendant.ts";
import { mergeWork } from "./merge-work.ts";
import type { CalledFor, RunWriter } from "./run-writer.ts";
import type { Subagent } from "./sub-session-part.ts";
import type { Asker, Slots } from "./slots.ts";
import { castOf } from "../run/cast.ts";
import { reached } from "../run/budget.ts";
import { workerOf, workerOfSession } from "../run/lookup.ts";
import { providerOf } from "../run/provider-name.ts";
import { askedMain } from "../run/provider.ts";
import { schedule, type Deadline } from "../run/schedule.ts";
import { asTuttiError } from "../schema/error.ts";
import { NO_USAGE, type Usage } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase } from "../schema/status.ts";
import type { SessionHost } from "../session/session.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { World } from "../world.ts";

/** Without a reason, `abort` makes an exception with a stack trace, which costs more than the timer it ends. */
const NO_REASON = "the alarm was set anew";

export interface ReconcilerOptions {
  writer: RunWriter;
  sessions: SessionHost;
  workspaces: Workspaces;
  world: World;
  slots: Slots;
  /** To be called before a deadline is acted on. */
  lookAtClock(): void;
  /** A place for a worker that was held is free again without having been used. */
  onPlaceLeft(): void;
  history: AttendantOptions["history"];
  known: AttendantOptions["known"];
  /** A session tells of an agent that it has started itself. */
  onSubagent(sessionId: string, told: Subagent): void;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #attendants = new Map<string, Attendant>();
  /** Those that are being ended; what their open turns have used counts until the log says it. */
  readonly #leaving = new Set<Attendant>();
  /** Ends, merges and the release that are under way. */
  readonly #work = new Set<Promise<unknown>>();
  #merging = false;
  #releasing = false;
  /** The release has failed. */
  #untidy = false;
  #branchOpen = false;
  /** When the rules were last asked what is due by now. */
  #tickedAt = Number.NEGATIVE_INFINITY;
  #claimed = false;
  #begun = false;
  #left = false;
  #again = false;
  #looking = false;
  #looked: Promise<void> = Promise.resolve();
  #alarm = new AbortController();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  get #writer(): RunWriter {
    return this.#options.writer;
  }

  /** Takes the run up: ends sessions that no longer count, then looks. Until then the run only rests in the log. */
  async begin(): Promise<void> {
    if (this.#begun) return;
    this.claim();
    this.#begun = true;
    const { run } = this.#writer;
    const { sessions, idle } = schedule(run, { freeSlots: 0 }, this.#options.world.now());
    if (run.base !== null) await this.#options.sessions.reap(run.id, [...sessions, ...idle]);
    this.look();
  }

  /** The run is about to be taken up: from now on its workers take their places. */
  claim(): void {
    this.#claimed = true;
  }

  /** Whether its workers take places; those of a resting run take none. */
  get claimed(): boolean {
    return this.#claimed;
  }

  /** Whether this engine works on the run. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Looks now, or once more after the look that is under way. */
  look(): void {
    if (!this.#begun || this.#left) return;
    this.#again = true;
    if (!this.#looking) this.#looked = this.#loop();
  }

  async #loop(): Promise<void> {
    this.#looking = true;
    while (this.#again && !this.#left) {
      this.#again = false;
      await this.#compare().catch((error: unknown) => this.#fault("reconcile", error));
    }
    // In the same step as the last question whether to look again, so that no call is lost in between.
    this.#looking = false;
  }

  /** What could not be done for the run as a whole ends it, with the reason. A store that fails halts the engine by itself. */
  async #fault(operation: string, error: unknown): Promise<void> {
    const { message, code } = asTuttiError(error);
    await this.#writer.submit({ type: "fault", operation, error: message, code }).catch(() => {});
  }

  async #compare(): Promise<void> {
    const { run } = this.#writer;
    if (isRunOver(run.status)) {
      this.#alarm.abort(NO_REASON);
      this.#endOthers(new Set());
      if (!run.released && !this.#releasing && !this.#untidy) this.#do("release", this.#release());
      return;
    }
    // A run that was reopened begins anew when its old end has been tidied up.
    if (this.#releasing) return;
    this.#untidy = false;
    if (run.base !== null && !this.#branchOpen) {
      this.#branchOpen = true;
      await this.#options.workspaces.openBranch(run.cwd, run.id, run.head ?? run.base);
    }
    const { slots, world } = this.#options;
    const limits = { freeSlots: slots.free(workerAgent(run)), since: Math.max(this.#tickedAt, run.updatedAt) };
    const wanted = schedule(run, limits, world.now());
    const opensAt = slots.opensAt(wanted.spawnMain ? mainAgent(run) : workerAgent(run));
    for (const sessionId of wanted.sessions) this.#attend(sessionId);
    this.#endOthers(new Set([...wanted.sessions, ...wanted.idle]));
    for (const attendant of this.#attendants.values()) void attendant.refresh();
    if (wanted.merges.length > 0 && !this.#merging) this.#do("merge", this.#merge());
    this.#setAlarm(
      wanted.deadlines.filter(({ sessionId }) => this.#attendants.get(sessionId)?.caughtUp),
      // What is due by the clock alone waits for what sessions have to tell first.
      [...this.#attendants.values()].every(({ caughtUp }) => caughtUp) ? earliest(wanted.lookAt, opensAt) : null,
    );
    if (wanted.spawnMain && slots.opensAt(mainAgent(run)) === null) await this.#spawnMain();
    await this.#spawn(wanted.spawn);
  }

  /**
   * Tasks that become ready by what is about to be stored are started with it: between the end of one and the start of
   * the next there is no moment at which a crash could leave neither.
   */
  callFor(next: Run): CalledFor | null {
    if (!this.#begun || this.#left || this.#releasing || !this.#branchOpen || isRunOver(next.status)) return null;
    const { slots, world } = this.#options;
    const agent = workerAgent(next);
    const { spawn } = schedule(next, { freeSlots: slots.free(agent, next) }, world.now());
    if (spawn.length === 0) return null;
    slots.reserve(agent, spawn.length);
    return {
      commands: spawn.map((taskId) => ({ type: "spawn", taskId })),
      done: (stored) => {
        slots.release(agent, spawn.length);
        if (stored && spawn.some((taskId) => !this.#isActive(taskId))) this.#options.onPlaceLeft();
      },
    };
  }

  /** Other runs look at the same moment, when the wait for a provider is over; only one of them is to ask. */
  async #spawnMain(): Promise<void> {
    const before = this.#writer.run;
    const letGo = this.#options.slots.holdMain(mainAgent(before));
    try {
      await this.#writer.submit({ type: "spawnMain" });
    } finally {
      letGo();
    }
    // Others saw that it was about to ask, and nothing will tell them that it is not.
    if (this.#writer.run !== before && askedMain(this.#writer.run) === null) this.#options.onPlaceLeft();
  }

  async #spawn(taskIds: readonly string[]): Promise<void> {
    const { slots } = this.#options;
    // Between this look at the free places and the answer of the log, other runs look too.
    const agent = workerAgent(this.#writer.run);
    const places = taskIds.slice(0, slots.free(agent));
    slots.reserve(agent, places.length);
    try {
      await Promise.all(places.map((taskId) => this.#writer.submit({ type: "spawn", taskId })));
    } finally {
      slots.release(agent, places.length);
    }
    // Others saw these places taken, and nothing will tell them that they were not.
    if (places.some((taskId) => !this.#isActive(taskId))) this.#options.onPlaceLeft();
  }

  #isActive(taskId: string): boolean {
    const { run } = this.#writer;
    const worker = workerOf(run, taskId);
    return !isRunOver(run.status) && worker !== undefined && worker.session.state !== "over";
  }

  #attend(sessionId: string): void {
    if (this.#attendants.has(sessionId)) return;
    const { writer, sessions, workspaces, world, history, known } = this.#options;
    const worker = workerOfSession(writer.run, sessionId);
    const attempt = worker?.attempt ?? writer.run.main!.attempt;
    const options = {
      writer,
      sessionId,
      taskId: worker?.taskId ?? null,
      attempt,
      sessions,
      workspaces,
      world,
      history,
      known,
    };
    const attendant = new Attendant({
      ...options,
      onCaughtUp: () => this.look(),
      onSpent: () => this.#spent(),
      onSubagent: (told) => this.#options.onSubagent(sessionId, told),
    });
    this.#attendants.set(sessionId, attendant);
  }

  /** Open turns cost while they go on; a budget that they use up stops the run at once, not at their end. */
  #spent(): void {
    const { run } = this.#writer;
    const open = [...this.#attendants.values(), ...this.#leaving];
    const usage = open.map(({ spent }) => spent).reduce(addUsage, NO_USAGE);
    if (reached(run, this.#options.world.now(), { turn: false, session: false }, usage) === null) return;
    this.#writer.submit({ type: "spending", usage }).catch(() => {});
  }

  /** A session whose result was accepted may finish in peace; any other that is not wanted is stopped. */
  #endOthers(wanted: ReadonlySet<string>): void {
    for (const [sessionId, attendant] of this.#attendants) {
      if (wanted.has(sessionId)) continue;
      this.#attendants.delete(sessionId);
      const { run } = this.#writer;
      const worker = attendant.taskId === null ? null : run.workers[attendant.taskId];
      const inPeace = worker
        ? worker.sessionId === sessionId && worker.status === "completed"
        : run.status === "completed" || run.main?.sessionId !== sessionId || run.main.state === "over";
      this.#leaving.add(attendant);
      this.#do(
        "end of a session",
        attendant.end(inPeace ? "close" : "stop").finally(() => {
          this.#leaving.delete(attendant);
          this.#spent();
        }),
      );
    }
  }

  /**
   * One after the other in git; what the log is told of it may be stored while the next one is merged already. A merge
   * that the log has not heard of is found again after a crash.
   */
  async #merge(): Promise<void> {
    this.#merging = true;
    const told = new Map<string, Promise<unknown>>();
    const merged = new Set<string>();
    try {
      for (;;) {
        const { run } = this.#writer;
        const merges = schedule(run, { freeSlots: 0 }, this.#options.world.now()).merges;
        const taskId = this.#left ? undefined : merges.find((each) => !told.has(each));
        if (taskId === undefined && told.size === 0) return;
        if (taskId === undefined) {
          await Promise.all(told.values());
          told.clear();
          merged.clear();
          continue;
        }
        const report = await mergeWork(run, taskId, this.#options.workspaces, merged);
        if (report.type === "merged") merged.add(taskId);
        const stored = this.#writer.submit(report);
        // Its failure is met above; until then nobody listens.
        stored.catch(() => {});
        told.set(taskId, stored);
      }
    } finally {
      this.#merging = false;
    }
  }

  /** After the end of a run nothing of it may be left but its branch, its refs and its log. */
  async #release(): Promise<void> {
    this.#releasing = true;
    const { run } = this.#writer;
    try {
      await Promise.allSettled(this.#work);
      await this.#options.sessions.reap(run.id, []);
      if (run.base !== null) await this.#options.workspaces.release(run.cwd, run.id);
      await this.#writer.submit({ type: "released" });
    } finally {
      const reopened = !isRunOver(this.#writer.run.status);
      this.#releasing = false;
      // What could not be tidied up is tried again at the next end or the next start, not over and over.
      this.#untidy = !reopened && !this.#writer.run.released;
      this.#branchOpen = false;
      if (reopened) this.look();
    }
  }

  /** Work beside the loop. Of a run that is over a fault changes nothing any more; it is told, and tried again at the next start. */
  #do(operation: string, work: Promise<unknown>): void {
    const watched: Promise<unknown> = work
      .catch(async (error: unknown) => {
        const { status } = this.#writer.run;
        if (!isRunOver(status) && operation === "merge") return this.#fault(operation, error);
        const { message, code } = asTuttiError(error);
        await this.#writer.submit({ type: "mishap", operation, error: message, code }).catch(() => {});
      })
      .finally(() => this.#work.delete(watched));
    this.#work.add(watched);
  }

  /** Resolves when no work beside the loop is under way. */
  async settled(): Promise<void> {
    do {
      await this.#looked;
      await Promise.allSettled(this.#work);
    } while (this.#looking || this.#work.size > 0);
  }

  /** Wakes up when the first moment has come, and lets the rules say what that means. */
  #setAlarm(deadlines: readonly Deadline[], lookAt: number | null): void {
    this.#alarm.abort(NO_REASON);
    const { world } = this.#options;
    const moments = [...deadlines.map((deadline) => deadline.at), ...(lookAt === null ? [] : [lookAt])];
    const idleAt = this.#idleAt();
    if (idleAt !== null) moments.push(idleAt);
    if (moments.length === 0) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    const first = Math.min(...moments);
    void world.sleep(Math.min(Math.max(0, first - world.now()) + 1, 0x7fffffff), alarm.signal).then(() => {
      if (alarm.signal.aborted) return;
      this.#options.lookAtClock();
      for (const { sessionId, at } of deadlines) {
        if (at < world.now()) this.#writer.submit({ type: "expired", sessionId }).catch(() => {});
      }
      for (const { sessionId, silentMs, taskId } of this.#attendants.values()) {
        if (taskId !== null) this.#writer.submit({ type: "idle", sessionId, forMs: silentMs }).catch(() => {});
      }
      // Not before that is stored: what is due would be found due again, every moment until then.
      void this.#tick().then(() => this.look());
    });
  }

  /** Lets the rules look at the clock: something may be due that nobody reports. */
  async #tick(): Promise<void> {
    this.#tickedAt = this.#options.world.now();
    await this.#writer.submit({ type: "tick" }).catch(() => {});
  }

  /** Nobody could be heard for a while: the machine slept, or this process was stopped. */
  touch(): void {
    for (const attendant of this.#attendants.values()) attendant.touch();
  }

  /** When the worker that has been silent for longest will have been so for too long. */
  #idleAt(): number | null {
    const { idleTimeout } = this.#writer.run.template.config;
    const silent = [...this.#attendants.values()].filter(({ taskId }) => taskId !== null);
    if (idleTimeout === undefined || silent.length === 0) return null;
    const left = Math.min(...silent.map(({ silentMs }) => idleTimeout - silentMs));
    // One that was not ended when its time had come is paused or waits; it is looked at again later.
    return this.#options.world.now() + (left > 0 ? left : idleTimeout);
  }

  /** Lets go of everything. With `stop`, the sessions are ended; the run can be taken up again in either case. */
  async leave(stop: boolean): Promise<void> {
    this.#left = true;
    this.#alarm.abort(NO_REASON);
    await this.#looked;
    const attendants = [...this.#attendants.values()];
    this.#attendants.clear();
    await Promise.all(attendants.map((attendant) => attendant.leave()));
    if (stop && this.#begun) await this.#options.sessions.reap(this.#writer.id, []);
    await Promise.allSettled(this.#work);
  }
}

const workerAgent = (run: Run): Asker => asker(run, "workerExecution");
const mainAgent = (run: Run): Asker => asker(run, run.owed?.phase ?? "analysis");

function asker(run: Run, phase: Phase): Asker {
  const { agent } = castOf(run, phase);
  return { agent, provider: providerOf(agent, run.providers) };
}

const earliest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});
