// `SubSessionMonitor` polls sub-sessions. A silent one counts as finished, and its last message goes to its parent.
//
// Invariants
// 1. One poll runs at a time. A check that fails is repeated by the next poll.
// 2. A result is sent once. After a crash between sending and recording it, `returnResult` finds it in the parent's
//    transcript.
// 3. A sub-session that an agent reports itself (`reported`) ends by its report or with its parent, and in no other
//    way.
import { returnResult, type ReturnedResult } from "./return-result.ts";
import type { SeenMessage, SessionAccess } from "../sessions/session-access.ts";
import { Silence } from "../sessions/silence.ts";
import type { SubSessionLog } from "./sub-session-log.ts";
import { TaskSpawns } from "./task-spawns.ts";
import { noSuchSubSession } from "../../run/rules/decide-sub-session.ts";
import { childrenOf, countByStatus, isOpen, rootOf, type SubSession } from "../../run/fold/sub-sessions.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";
import type { SubSessionStatus } from "../../schema/status.ts";
import type { World } from "../../world.ts";

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

interface SubSessionMonitorOptions {
  log: SubSessionLog;
  reach: SessionAccess;
  world: World;
  settings: SubSessionSettings;
  /** Whether the monitor polls while a sub-session is open, also without `start`. */
  automatic: boolean;
  /** Returns null for a session of no run, or of a run that cannot continue. */
  runOf: (sessionId: string) => Run | null;
  /** Returns the settings of the template if `relation` belongs to a natural run, else null. */
  naturalSettings: (
    relation: SubSession,
  ) => Pick<SubSessionSettings, "inactivityThreshold" | "confirmationDelay"> | null;
  /** Whether `sessionId` itself is alive. A successor does not count. */
  isAlive: (sessionId: string) => boolean;
  informRun: (relation: SubSession) => void;
  /** Whether the run is live; its `reported` sub-sessions are kept that long. */
  isLive: (runId: string) => boolean;
}

export interface SubSessionStats {
  total: number;
  byStatus: Record<SubSessionStatus, number>;
  parents: number;
  pendingTaskSpawns: number;
  isMonitoring: boolean;
}

/** `KEPT_MS` is how long ended relations are kept. */
export const KEPT_MS = 3_600_000;

export class SubSessionMonitor {
  readonly #options: SubSessionMonitorOptions;
  readonly spawns: TaskSpawns;
  /** True after `start`: then the monitor polls even if nothing is open. */
  #started = false;
  #loop: AbortController | null = null;
  #closed = false;
  #polling: Promise<void> | null = null;
  readonly #returning = new Map<string, Promise<ReturnedResult>>();
  readonly #silence: Silence;

  constructor(options: SubSessionMonitorOptions) {
    this.#options = options;
    const { log, reach, world, settings } = options;
    this.#silence = new Silence((relation) => options.naturalSettings(relation) ?? settings);
    this.spawns = new TaskSpawns({
      reach,
      world,
      windowMs: settings.taskSpawnWindow,
      isTaken: (id) => options.runOf(id) !== null || log.get(id) !== null,
      onGone: (parentSessionId) => void log.order({ type: "unwatch", parentSessionId }),
      link: (child, parent, taskToolId) => this.#link(child, parent, taskToolId),
    });
  }

  /**
   * Throws at once or not at all; resolves when the relation is on disk. If `runOf` the topmost parent is a run, the
   * child belongs to it.
   */
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
    if (this.#started || this.#closed) return;
    this.#started = true;
    void this.#options.log.append({ type: "subsession:monitoring:started", data: { timestamp: this.#timestamp() } });
    this.wake();
  }

  stop(): void {
    if (!this.#started) return;
    this.#started = false;
    this.#loop?.abort();
    this.#loop = null;
    void this.#options.log.append({ type: "subsession:monitoring:stopped", data: { timestamp: this.#timestamp() } });
  }

  /** From now on sub-sessions of `parentSessionId` are detected in its transcript. */
  async watch(parentSessionId: string): Promise<void> {
    const { log } = this.#options;
    const isKnown = childrenOf(log.ahead, parentSessionId).length > 0 || (await this.isThere(parentSessionId));
    if (!isKnown)
      throw new TuttiError("session_not_found", `Session "${parentSessionId}" does not exist. Check the session id.`);
    await this.spawns.watch(parentSessionId);
    await log.order({ type: "watch", parentSessionId });
    this.start();
  }

  /** Does nothing unless polling `#isNeeded`. */
  wake(): void {
    if (this.#closed || this.#loop || !this.#isNeeded()) return;
    const loop = new AbortController();
    this.#loop = loop;
    void this.#look(loop);
  }

  /** Does not wait for a poll under way: the next engine repeats whatever it could not store. */
  close(): void {
    this.#closed = true;
    this.#loop?.abort();
    this.#loop = null;
  }

  #isNeeded(): boolean {
    if (this.#started) return true;
    const { automatic, log } = this.#options;
    return automatic && (log.ahead.watched.size > 0 || this.#relations().some((each) => this.#needsPolling(each)));
  }

  /** Whether a further poll can change the relation or remove it. */
  #needsPolling(relation: SubSession): boolean {
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

  /** Polls now, or joins the poll that is under way. */
  poll(): Promise<void> {
    this.#polling ??= this.#pollAll().finally(() => (this.#polling = null));
    return this.#polling;
  }

  async #pollAll(): Promise<void> {
    const { settings } = this.#options;
    // The next `poll` repeats everything that fails here.
    if (settings.detectTaskSpawn) {
      await this.#watchAgain().catch(() => {});
      await this.spawns.poll().catch(() => {});
    }
    await Promise.all(this.#relations().map((relation) => this.#lookAt(relation).catch(() => {})));
    await this.cleanup(KEPT_MS, (relation) => !this.#isKept(relation)).catch(() => {});
  }

  /** `watched` has the sessions that an earlier engine watched. */
  async #watchAgain(): Promise<void> {
    for (const parent of this.#options.log.ahead.watched)
      if (!this.spawns.isWatched(parent)) await this.spawns.watch(parent);
  }

  async #lookAt(relation: SubSession): Promise<void> {
    const { log, settings } = this.#options;
    const { childSessionId, status } = relation;
    // An earlier engine may have stopped before it called `informRun`.
    this.#options.informRun(relation);
    if (status === "returned" && settings.autoArchiveOnReturn) return this.#archive(relation);
    if (!isOpen(relation)) return;
    // A sub-agent in the background may outlive the sub-agent that started it, but not the session at its root
    // (`rootOf`).
    const isThere = relation.reported
      ? this.#options.isAlive(rootOf(log.ahead, childSessionId))
      : await this.isThere(relation.parentSessionId);
    if (!isThere) {
      return log.order({ type: "setStatus", childSessionId, status: "orphaned" });
    }
    if (relation.reported) return;
    if (status === "completed") return void (await this.#return(relation, { patient: true }));
    await this.#measure(relation);
  }

  /** A parent that is a sub-session itself exists until it ends. */
  async isThere(sessionId: string): Promise<boolean> {
    const relation = this.#options.log.get(sessionId);
    return (relation !== null && isOpen(relation)) || this.#options.reach.isThere(sessionId);
  }

  /** Lets `#silence` judge the status of a child. */
  async #measure({ childSessionId }: SubSession): Promise<void> {
    const { log, reach } = this.#options;
    const seen = await this.#messages(childSessionId);
    if (seen === null) return;
    const activity = await reach.activity(childSessionId);
    // The child may have sent its last message after `seen` was read.
    const messages = (activity.isReturned ? await this.#messages(childSessionId) : null) ?? seen;
    // The relation may have been removed or returned while this poll waited.
    const current = log.get(childSessionId);
    if (current === null || (current.status !== "active" && current.status !== "completing")) return;
    if (activity.isReturned) return this.#noteReturned(childSessionId, messages);
    const status = this.#silence.judge(current, messages, activity, this.#now);
    if (status === null) return;
    if (status === "active") return log.order({ type: "active", childSessionId, messageCount: messages.length });
    await log.order({ type: "setStatus", childSessionId, status });
    if (status === "completed") await this.#return(log.get(childSessionId)!, { patient: true });
  }

  /** The program of the parent has returned the result itself, so `returnResult` must not send it. */
  async #noteReturned(childSessionId: string, messages: readonly SeenMessage[]): Promise<void> {
    const { log } = this.#options;
    const text = messages.findLast((message) => message.role === "assistant" && message.text !== "")?.text ?? null;
    const updates = { lastAssistantMessage: text };
    await log.order({ type: "setStatus", childSessionId, status: "completed", updates });
    await log.order({ type: "setStatus", childSessionId, status: "returned", updates });
  }

  /**
   * Returns null if the messages cannot be read. A child that is gone (`session_not_found`) is returned to its parent
   * as failed.
   */
  async #messages(childSessionId: string): Promise<SeenMessage[] | null> {
    const { log, reach } = this.#options;
    try {
      return await reach.messages(childSessionId);
    } catch (error) {
      const relation = log.get(childSessionId);
      if (relation && error instanceof TuttiError && error.code === "session_not_found")
        await this.#return(relation, { patient: true });
      return null;
    }
  }

  /** Unlike a poll, `extract` returns the last message whatever the status of the child, also to a busy parent. */
  async extract(childSessionId: string): Promise<ReturnedResult> {
    return this.#return(this.#find(childSessionId), { patient: false });
  }

  /** Concurrent calls for the same child share one entry of `#returning`. */
  #return(relation: SubSession, { patient }: { patient: boolean }): Promise<ReturnedResult> {
    const { childSessionId } = relation;
    const pending = this.#returning.get(childSessionId);
    if (pending) return pending;
    const { log, reach, settings } = this.#options;
    const returned = returnResult({ log, reach, settings, patient, isThere: (id) => this.isThere(id) }, relation)
      .then(async (result) => {
        const updated = log.get(childSessionId);
        // The next poll repeats a failed archive.
        if (result.success && settings.autoArchiveOnReturn && updated) await this.#archive(updated).catch(() => {});
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
    await this.#options.log.order({ type: "unwatch", parentSessionId });
    const children = childrenOf(this.#options.log.ahead, parentSessionId);
    await Promise.all(children.map(({ childSessionId }) => this.unregister(childSessionId, options)));
  }

  /** Removes relations that ended at least `maxAge` milliseconds ago. Returns their number. */
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
