// Looks after sub-sessions: who is silent has finished, and what it said last goes to its parent.
//
// Invariants
// 1. One look at a time: a slow one delays the next. What cannot be found out now is looked at again next time.
// 2. A result is sent once. Whoever died between sending it and writing that down finds it in the parent's transcript.
// 3. What an agent reports of its own (`reported`) ends by its report, or with its parent, and in no other way.
import { returnResult, type ReturnedResult } from "./return-result.ts";
import type { SeenMessage, SessionReach } from "./session-reach.ts";
import { Silence } from "./silence.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import { TaskSpawns } from "./task-spawns.ts";
import { noSuchSubSession } from "../run/decide-sub-session.ts";
import { childrenOf, countByStatus, isOpen, rootOf, type SubSession } from "../run/sub-sessions.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import type { SubSessionStatus } from "../schema/status.ts";
import type { World } from "../world.ts";

export interface SubSessionSettings {
  pollInterval: number;
  inactivityThreshold: number;
  confirmationDelay: number;
  resultPrefix: string;
  resultSuffix: string;
  maxMessageLength: number;
  autoArchiveOnReturn: boolean;
  detectTaskSpawn: boolean;
  taskSpawnWindow: number;
}

export interface SubSessionMonitorOptions {
  log: SubSessionLog;
  reach: SessionReach;
  world: World;
  settings: SubSessionSettings;
  /** Whether it looks by itself as long as something is open. */
  automatic: boolean;
  /** The run that a session belongs to, as long as it may go on. */
  runOf: (sessionId: string) => Run | null;
  /** Whether the run is still at work; what its agents reported must be known as long. */
  isLive: (runId: string) => boolean;
}

export interface SubSessionStats {
  total: number;
  byStatus: Record<SubSessionStatus, number>;
  parents: number;
  pendingTaskSpawns: number;
  isMonitoring: boolean;
}

/** How long relations are kept of which nothing more will come. */
export const KEPT_MS = 3_600_000;

export class SubSessionMonitor {
  readonly #options: SubSessionMonitorOptions;
  readonly spawns: TaskSpawns;
  /** Whether somebody wants it to look, whatever there is. */
  #wanted = false;
  #loop: AbortController | null = null;
  #closed = false;
  #polling: Promise<void> | null = null;
  readonly #returning = new Map<string, Promise<ReturnedResult>>();
  readonly #silence: Silence;

  constructor(options: SubSessionMonitorOptions) {
    this.#options = options;
    const { log, reach, world, settings } = options;
    this.#silence = new Silence(settings);
    this.spawns = new TaskSpawns({
      reach,
      world,
      windowMs: settings.taskSpawnWindow,
      isTaken: (id) => options.runOf(id) !== null || log.get(id) !== null,
      link: (child, parent, taskToolId) => this.#link(child, parent, taskToolId),
    });
  }

  /** Refused at once or not at all; resolves when it is on disk. Where the parent belongs to a run, so does the child. */
  register(childSessionId: string, parentSessionId: string, taskToolId?: string): Promise<void> {
    const { log, runOf } = this.#options;
    const run = runOf(rootOf(log.ahead, parentSessionId));
    const ofRun = run ? { orchestratorId: run.id, depth: run.budget.depth } : {};
    return log.order({ type: "register", childSessionId, parentSessionId, taskToolId, ...ofRun });
  }

  #link(childSessionId: string, parentSessionId: string, taskToolId: string | null): boolean {
    try {
      void this.register(childSessionId, parentSessionId, taskToolId ?? undefined);
      return true;
    } catch (error) {
      if (error instanceof TuttiError) return false;
      throw error;
    }
  }

  get isMonitoring(): boolean {
    return this.#loop !== null;
  }

  get #now(): number {
    return this.#options.world.now();
  }

  #timestamp(): string {
    return new Date(this.#now).toISOString();
  }

  start(): void {
    if (this.#wanted || this.#closed) return;
    this.#wanted = true;
    void this.#options.log.tell({ type: "subsession:monitoring:started", data: { timestamp: this.#timestamp() } });
    this.wake();
  }

  stop(): void {
    if (!this.#wanted) return;
    this.#wanted = false;
    this.#loop?.abort();
    this.#loop = null;
    void this.#options.log.tell({ type: "subsession:monitoring:stopped", data: { timestamp: this.#timestamp() } });
  }

  /** From now on what the session starts is found in its transcript, as far as it can be seen. */
  async watch(parentSessionId: string): Promise<void> {
    const { log } = this.#options;
    const isKnown = childrenOf(log.ahead, parentSessionId).length > 0 || (await this.isThere(parentSessionId));
    if (!isKnown) throw new TuttiError("session_not_found", `there is no session ${parentSessionId}`);
    await this.spawns.watch(parentSessionId);
    this.start();
  }

  /** Something may be there to look after. */
  wake(): void {
    if (this.#closed || this.#loop || !this.#isNeeded()) return;
    const loop = new AbortController();
    this.#loop = loop;
    void this.#look(loop);
  }

  /** A look that is under way is not waited for: what it can no longer write is found anew by the next engine. */
  close(): void {
    this.#closed = true;
    this.#loop?.abort();
    this.#loop = null;
  }

  #isNeeded(): boolean {
    if (this.#wanted) return true;
    return this.#options.automatic && (this.spawns.watches || this.#relations().some((each) => this.#isLeft(each)));
  }

  /** Whether looking at it again can lead anywhere. */
  #isLeft(relation: SubSession): boolean {
    return isOpen(relation) || !this.#isKept(relation);
  }

  #isKept({ orchestratorId }: SubSession): boolean {
    return orchestratorId !== undefined && this.#options.isLive(orchestratorId);
  }

  async #look(loop: AbortController): Promise<void> {
    const { world, settings } = this.#options;
    while (!loop.signal.aborted && this.#isNeeded()) {
      await world.sleep(settings.pollInterval, loop.signal, true);
      if (!loop.signal.aborted) await this.poll();
    }
    if (this.#loop === loop) this.#loop = null;
  }

  #relations(): SubSession[] {
    return [...this.#options.log.ahead.relations.values()];
  }

  /** Looks at everything now. */
  poll(): Promise<void> {
    this.#polling ??= this.#pollAll().finally(() => (this.#polling = null));
    return this.#polling;
  }

  async #pollAll(): Promise<void> {
    const { settings } = this.#options;
    // A controller that does not answer, or a store that failed: the next look will tell.
    if (settings.detectTaskSpawn) await this.spawns.poll().catch(() => {});
    await Promise.all(this.#relations().map((relation) => this.#lookAt(relation).catch(() => {})));
    await this.cleanup(KEPT_MS, (relation) => !this.#isKept(relation)).catch(() => {});
  }

  async #lookAt(relation: SubSession): Promise<void> {
    const { log, settings } = this.#options;
    const { childSessionId, status } = relation;
    if (status === "returned" && settings.autoArchiveOnReturn) return this.#archive(relation);
    if (!isOpen(relation)) return;
    if (!(await this.isThere(relation.parentSessionId))) {
      return log.order({ type: "setStatus", childSessionId, status: "orphaned" });
    }
    if (relation.reported) return;
    if (status === "completed") return void (await this.#return(relation, { patient: true }));
    await this.#measure(relation);
  }

  /** One that is a sub-session itself is there as long as it has not come to its end. */
  async isThere(sessionId: string): Promise<boolean> {
    const relation = this.#options.log.get(sessionId);
    return (relation !== null && isOpen(relation)) || this.#options.reach.isThere(sessionId);
  }

  /** Whether it is silent, and for how long. */
  async #measure({ childSessionId }: SubSession): Promise<void> {
    const { log, reach } = this.#options;
    const messages = await this.#messages(childSessionId);
    if (messages === null) return;
    const isBusy = await reach.isBusy(childSessionId);
    // Time has passed: somebody may have taken it out or returned it meanwhile.
    const current = log.get(childSessionId);
    if (current === null || (current.status !== "active" && current.status !== "completing")) return;
    const status = this.#silence.judge(current, messages, isBusy, this.#now);
    if (status === null) return;
    if (status === "active") return log.order({ type: "active", childSessionId, messageCount: messages.length });
    await log.order({ type: "setStatus", childSessionId, status });
    if (status === "completed") await this.#return(log.get(childSessionId)!, { patient: true });
  }

  /** One that is gone for good has failed, and its parent hears of it. */
  async #messages(childSessionId: string): Promise<SeenMessage[] | null> {
    const { log, reach } = this.#options;
    try {
      return await reach.messages(childSessionId);
    } catch (error) {
      const relation = log.get(childSessionId);
      if (relation && error instanceof TuttiError && error.code === "session_not_found")
        await this.#return(relation, { patient: false });
      return null;
    }
  }

  /** What it said last goes to its parent, whatever its status. */
  async extract(childSessionId: string): Promise<ReturnedResult> {
    return this.#return(this.#find(childSessionId), { patient: false });
  }

  /** Who asks while it is on its way gets the same answer. */
  #return(relation: SubSession, { patient }: { patient: boolean }): Promise<ReturnedResult> {
    const { childSessionId } = relation;
    const under = this.#returning.get(childSessionId);
    if (under) return under;
    const { log, reach, settings } = this.#options;
    const returned = returnResult({ log, reach, settings, patient, isThere: (id) => this.isThere(id) }, relation)
      .then(async (result) => {
        const now = log.get(childSessionId);
        // If it cannot be put away now, it is tried again with the next look.
        if (result.success && settings.autoArchiveOnReturn && now) await this.#archive(now).catch(() => {});
        return result;
      })
      .finally(() => this.#returning.delete(childSessionId));
    this.#returning.set(childSessionId, returned);
    return returned;
  }

  async #archive({ childSessionId, archivedAt, reported }: SubSession): Promise<void> {
    if (archivedAt !== undefined || reported) return;
    await this.#options.reach.archive(childSessionId);
    await this.#options.log.order({ type: "archived", childSessionId });
  }

  async unregister(childSessionId: string, { archiveSession = false } = {}): Promise<void> {
    const relation = this.#find(childSessionId);
    if (archiveSession) await this.#archive(relation);
    this.#silence.forget(childSessionId);
    if (this.#options.log.get(childSessionId)) await this.#options.log.order({ type: "unregister", childSessionId });
  }

  async unregisterChildren(parentSessionId: string, options: { archiveSession?: boolean } = {}): Promise<void> {
    this.spawns.unwatch(parentSessionId);
    const children = childrenOf(this.#options.log.ahead, parentSessionId);
    await Promise.all(children.map(({ childSessionId }) => this.unregister(childSessionId, options)));
  }

  /** Takes out what ended so long ago; answers how many. */
  async cleanup(maxAge: number, which: (relation: SubSession) => boolean = () => true): Promise<number> {
    const old = this.#relations().filter(
      (relation) => !isOpen(relation) && this.#now - relation.since >= maxAge && which(relation),
    );
    await Promise.all(old.map(({ childSessionId }) => this.unregister(childSessionId)));
    return old.length;
  }

  stats(): SubSessionStats {
    const relations = this.#relations();
    return {
      total: relations.length,
      byStatus: countByStatus(relations),
      parents: new Set(relations.map(({ parentSessionId }) => parentSessionId)).size,
      pendingTaskSpawns: this.spawns.pending,
      isMonitoring: this.isMonitoring,
    };
  }

  #find(childSessionId: string): SubSession {
    const relation = this.#options.log.get(childSessionId);
    if (!relation) throw noSuchSubSession(childSessionId);
    return relation;
  }
}
