// `SubSessionManager` of document 004 is about sessions that start other sessions by themselves, without a plan or
// answer blocks. It is a view of the relations in the engine. Operations take effect immediately; their events follow
// when they are on disk.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { SharedEngine, type Controller } from "./shared-engine.ts";
import { checkOptions } from "./check-options.ts";
import { forwardEvents, isOfSubSessions, type ModuleEvents } from "./module-events.ts";
import {
  readUpdates,
  subSessionRelation,
  type RelationUpdates,
  type SubSessionRelation,
} from "./sub-session-relation.ts";
import type { ReturnedResult } from "../engine/sub-sessions/return-result.ts";
import { KEPT_MS, type SubSessionMonitor, type SubSessionStats } from "../engine/sub-sessions/sub-session-monitor.ts";
import type { SubSessionLog } from "../engine/sub-sessions/sub-session-log.ts";
import type { TaskInvocation } from "../engine/sub-sessions/task-invocations.ts";
import { childrenOf, isOpen, type SubSession } from "../run/fold/sub-sessions.ts";
import { TuttiError } from "../schema/error.ts";
import { SubSessionOptions } from "../schema/options.ts";
import { SUBSESSION_STATUS, type SubSessionStatus } from "../schema/status.ts";

export class SubSessionManager extends EventEmitter<ModuleEvents> {
  readonly config: z.output<typeof SubSessionOptions>;
  readonly sharedEngine: SharedEngine;

  /** Managers with the same `cdpController`, or the same `SharedEngine`, share one engine. */
  constructor(cdpController: Controller, config: Partial<z.input<typeof SubSessionOptions>> = {}) {
    super();
    this.config = checkOptions(SubSessionOptions, config);
    this.sharedEngine = SharedEngine.of(cdpController);
    // Without options of its own, a manager may join an engine that `isOpen` already.
    if (!this.sharedEngine.isOpen || Object.keys(config).length > 0)
      this.sharedEngine.configure({ subSession: this.config });
    forwardEvents(this.sharedEngine, this, isOfSubSessions);
  }

  /** By `childSessionId`. */
  get relations(): Map<string, SubSessionRelation> {
    return new Map(this.#all().map((relation) => [relation.childSessionId, subSessionRelation(relation)]));
  }

  get parentToChildren(): Map<string, Set<string>> {
    const groups = Map.groupBy(this.#all(), ({ parentSessionId }) => parentSessionId);
    return new Map(
      [...groups].map(([parent, children]) => [parent, new Set(children.map((each) => each.childSessionId))]),
    );
  }

  startMonitoring(): void {
    this.#monitor.start();
  }

  stopMonitoring(): void {
    this.#monitor.stop();
  }

  registerSubSession(
    childSessionId: string,
    parentSessionId: string,
    { taskToolId }: { taskToolId?: string | undefined } = {},
  ): SubSessionRelation {
    checkId(childSessionId);
    checkId(parentSessionId);
    void this.#monitor.register(childSessionId, parentSessionId, taskToolId);
    return this.getRelation(childSessionId)!;
  }

  /** The next new session is linked to `parentSessionId`. */
  registerTaskSpawn(parentSessionId: string, taskToolId?: string): void {
    checkId(parentSessionId);
    this.#monitor.spawns.register(parentSessionId, taskToolId ?? null);
  }

  tryLinkToTaskSpawn(newSessionId: string): boolean {
    return this.#monitor.spawns.tryLink(newSessionId);
  }

  getRelation(childSessionId: string): SubSessionRelation | null {
    const relation = this.#log.get(childSessionId);
    return relation && subSessionRelation(relation);
  }

  getChildren(parentSessionId: string): SubSessionRelation[] {
    return childrenOf(this.#log.ahead, parentSessionId).map(subSessionRelation);
  }

  /** Returns the children that are active, completing, or completed and not yet returned (`isOpen`). */
  getActiveChildren(parentSessionId: string): SubSessionRelation[] {
    return childrenOf(this.#log.ahead, parentSessionId).filter(isOpen).map(subSessionRelation);
  }

  getByStatus(status: SubSessionStatus): SubSessionRelation[] {
    return this.#all()
      .filter((relation) => relation.status === status)
      .map(subSessionRelation);
  }

  isSubSession(sessionId: string): boolean {
    return this.#log.get(sessionId) !== null;
  }

  hasActiveSubSessions(sessionId: string): boolean {
    return this.getActiveChildren(sessionId).length > 0;
  }

  /** Throws `wrong_state` for a transition that the document does not allow. */
  updateStatus(childSessionId: string, newStatus: SubSessionStatus, updates: RelationUpdates = {}): void {
    if (!Object.values(SUBSESSION_STATUS).includes(newStatus))
      throw new TuttiError(
        "invalid_input",
        `${JSON.stringify(newStatus)} is not a status of a sub-session. Use one of ${Object.values(SUBSESSION_STATUS).join(", ")}.`,
      );
    const known = readUpdates(updates);
    const more = known === undefined ? {} : { updates: known };
    void this.#log.order({ type: "setStatus", childSessionId, status: newStatus, ...more });
  }

  recordActivity(childSessionId: string, messageCount: number): void {
    if (!Number.isInteger(messageCount) || messageCount < 0)
      throw new TuttiError("invalid_input", `"messageCount" is ${messageCount}. Pass a whole number of at least 0.`);
    void this.#log.order({ type: "active", childSessionId, messageCount });
  }

  /** Resolves when the parent has the result and that is on disk, or with the reason why not. */
  async extractAndReturnResult(childSessionId: string): Promise<ReturnedResult> {
    return this.#monitor.extract(childSessionId);
  }

  /** Like `extractAndReturnResult`, also for a session that is still active or failed to return before. */
  async forceReturn(childSessionId: string): Promise<ReturnedResult> {
    return this.#monitor.extract(childSessionId);
  }

  async unregister(childSessionId: string, options: { archiveSession?: boolean } = {}): Promise<void> {
    await this.#monitor.unregister(childSessionId, options);
  }

  async unregisterAllChildren(parentSessionId: string, options: { archiveSession?: boolean } = {}): Promise<void> {
    await this.#monitor.unregisterChildren(parentSessionId, options);
  }

  /** Removes relations that have been returned, orphaned or in error for at least `maxAge` milliseconds. */
  async cleanup({ maxAge = KEPT_MS }: { maxAge?: number } = {}): Promise<{ removed: number }> {
    return { removed: await this.#monitor.cleanup(maxAge) };
  }

  getStats(): SubSessionStats {
    return this.#monitor.stats();
  }

  /**
   * Returns the agent starts in the transcript of `parentSessionId`. New ones that are certain are linked to the next
   * new session.
   */
  async scanForTaskSpawns(parentSessionId: string): Promise<TaskInvocation[]> {
    return this.#monitor.spawns.scan(parentSessionId);
  }

  /** Returns the number of sessions that are new since the last call and were linked. */
  async autoDetectNewSessions(): Promise<number> {
    return this.#monitor.spawns.detect();
  }

  /** Watches the transcript of `parentSessionId` from now on, and links the sessions that it starts. */
  async watchParentSession(parentSessionId: string): Promise<void> {
    await this.#monitor.watch(parentSessionId);
  }

  get #monitor(): SubSessionMonitor {
    return this.sharedEngine.engine.subSessions;
  }

  get #log(): SubSessionLog {
    return this.sharedEngine.engine.subSessionLog;
  }

  #all(): SubSession[] {
    return [...this.#log.ahead.relations.values()];
  }
}

function checkId(id: unknown): void {
  if (typeof id !== "string" || id === "")
    throw new TuttiError("invalid_input", `${JSON.stringify(id)} is not a session id. Pass a non-empty string.`);
}
