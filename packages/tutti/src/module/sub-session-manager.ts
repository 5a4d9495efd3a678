// The SubSessionManager of document 004: sessions that start others in their own way, without plan and answer blocks. A view
// of the engine's relations under the documented names. What is asked is decided at once; the events come when it is on disk.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { Backstage, type Controller } from "./backstage.ts";
import { checkOptions } from "./check-options.ts";
import { forwardEvents, isOfSubSessions, type ModuleEvents } from "./module-events.ts";
import {
  readUpdates,
  subSessionRelation,
  type RelationUpdates,
  type SubSessionRelation,
} from "./sub-session-relation.ts";
import type { ReturnedResult } from "../engine/return-result.ts";
import { KEPT_MS, type SubSessionMonitor, type SubSessionStats } from "../engine/sub-session-monitor.ts";
import type { SubSessionLog } from "../engine/sub-session-log.ts";
import type { TaskInvocation } from "../engine/task-invocations.ts";
import { childrenOf, isOpen, type SubSession } from "../run/sub-sessions.ts";
import { TuttiError } from "../schema/error.ts";
import { SubSessionOptions } from "../schema/options.ts";
import { SUBSESSION_STATUS, type SubSessionStatus } from "../schema/status.ts";

export class SubSessionManager extends EventEmitter<ModuleEvents> {
  readonly config: z.output<typeof SubSessionOptions>;
  readonly backstage: Backstage;

  /** Managers that are given the same controller, or one `Backstage`, share one engine. */
  constructor(cdpController: Controller, config: Partial<z.input<typeof SubSessionOptions>> = {}) {
    super();
    this.config = checkOptions(SubSessionOptions, config);
    this.backstage = Backstage.of(cdpController);
    // Who comes late and wants nothing in particular takes the engine as it is.
    if (!this.backstage.isOpen || Object.keys(config).length > 0) this.backstage.wish({ subSession: this.config });
    forwardEvents(this.backstage, this, isOfSubSessions);
  }

  /** By child. */
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

  /** Somebody saw the session start another; one that appears soon after it is taken for that. */
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

  /** Those of which something is still to come: active, completing, or completed and not yet returned. */
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

  /** A step that the document does not have is refused with wrong_state. */
  updateStatus(childSessionId: string, newStatus: SubSessionStatus, updates: RelationUpdates = {}): void {
    if (!Object.values(SUBSESSION_STATUS).includes(newStatus))
      throw new TuttiError("invalid_input", `there is no status ${JSON.stringify(newStatus)} of a sub-session`);
    const known = readUpdates(updates);
    const more = known === undefined ? {} : { updates: known };
    void this.#log.order({ type: "setStatus", childSessionId, status: newStatus, ...more });
  }

  recordActivity(childSessionId: string, messageCount: number): void {
    if (!Number.isInteger(messageCount) || messageCount < 0)
      throw new TuttiError("invalid_input", "the number of messages is a whole number");
    void this.#log.order({ type: "active", childSessionId, messageCount });
  }

  /** Resolves when the parent has the result and that is on disk; or with what stood in the way. */
  async extractAndReturnResult(childSessionId: string): Promise<ReturnedResult> {
    return this.#monitor.extract(childSessionId);
  }

  /** The same at once, also for one that is still at work or could not be returned before. */
  async forceReturn(childSessionId: string): Promise<ReturnedResult> {
    return this.#monitor.extract(childSessionId);
  }

  async unregister(childSessionId: string, options: { archiveSession?: boolean } = {}): Promise<void> {
    await this.#monitor.unregister(childSessionId, options);
  }

  async unregisterAllChildren(parentSessionId: string, options: { archiveSession?: boolean } = {}): Promise<void> {
    await this.#monitor.unregisterChildren(parentSessionId, options);
  }

  /** Takes out what was returned, orphaned or in error for so long. */
  async cleanup({ maxAge = KEPT_MS }: { maxAge?: number } = {}): Promise<{ removed: number }> {
    return { removed: await this.#monitor.cleanup(maxAge) };
  }

  getStats(): SubSessionStats {
    return this.#monitor.stats();
  }

  /** Where its transcript starts an agent; what is new and certain is linked to the next session that appears. */
  async scanForTaskSpawns(parentSessionId: string): Promise<TaskInvocation[]> {
    return this.#monitor.spawns.scan(parentSessionId);
  }

  /** Links sessions that have appeared since the last look; answers how many. */
  async autoDetectNewSessions(): Promise<number> {
    return this.#monitor.spawns.detect();
  }

  /** Its transcript is looked at from now on, and what it starts is linked to it. */
  async watchParentSession(parentSessionId: string): Promise<void> {
    await this.#monitor.watch(parentSessionId);
  }

  get #monitor(): SubSessionMonitor {
    return this.backstage.engine.subSessions;
  }

  get #log(): SubSessionLog {
    return this.backstage.engine.subSessionLog;
  }

  #all(): SubSession[] {
    return [...this.#log.ahead.relations.values()];
  }
}

function checkId(id: unknown): void {
  if (typeof id !== "string" || id === "") throw new TuttiError("invalid_input", "a session has an id that is a text");
}
