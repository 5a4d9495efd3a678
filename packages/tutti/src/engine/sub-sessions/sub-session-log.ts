// `SubSessionLog` keeps the relations between sessions in the server's own log. The classes of document 004 answer
// synchronously, so a command is decided at once against `ahead`, which includes events that are still being written.
// `stored` contains only durable events.
import type { ServerLog } from "../runs/server-log.ts";
import { decideSubSession, type SubSessionCommand } from "../../run/rules/decide-sub-session.ts";
import {
  applySubSession,
  childrenOf,
  noSubSessions,
  type SubSession,
  type SubSessions,
} from "../../run/fold/sub-sessions.ts";
import { isServerEvent, type RunEvent, type StoredEvent } from "../../schema/event.ts";
import type { World } from "../../world.ts";

interface SubSessionLogHooks {
  /** Called after each decision, before it is on disk. */
  decided(): void;
  /** Called when a new relation or a change of its status is on disk. */
  stored(relation: SubSession): void;
}

export class SubSessionLog {
  readonly #log: ServerLog;
  readonly #world: World;
  readonly #hooks: SubSessionLogHooks;
  #stored: SubSessions = noSubSessions();
  #ahead: SubSessions = noSubSessions();
  #isRead = false;
  #written: Promise<void> = Promise.resolve();

  constructor(log: ServerLog, world: World, hooks: SubSessionLogHooks) {
    this.#log = log;
    this.#world = world;
    this.#hooks = hooks;
  }

  get stored(): SubSessions {
    this.#read();
    return this.#stored;
  }

  get ahead(): SubSessions {
    this.#read();
    return this.#ahead;
  }

  get(childSessionId: string): SubSession | null {
    return this.ahead.relations.get(childSessionId) ?? null;
  }

  children(parentSessionId: string): SubSession[] {
    return childrenOf(this.stored, parentSessionId);
  }

  /** Throws at once or not at all; resolves when the events of `command` are on disk. */
  order(command: SubSessionCommand): Promise<void> {
    return this.#append(decideSubSession(this.ahead, command, this.#world.now()));
  }

  /** `event` must not change a relation. */
  append(event: RunEvent): Promise<void> {
    this.#read();
    return this.#append([event]);
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (!this.#isRead) return;
    for (const event of events) {
      if (!isServerEvent(event)) continue;
      const before = "childSessionId" in event.data ? this.#stored.relations.get(event.data.childSessionId) : undefined;
      applySubSession(this.#stored, event);
      if (!("childSessionId" in event.data)) continue;
      const after = this.#stored.relations.get(event.data.childSessionId);
      // An unregistered relation has ended for its run.
      const relation = after ?? (before && { ...before, status: "orphaned" as const });
      if (relation && relation.status !== before?.status) this.#hooks.stored(relation);
    }
  }

  #append(events: readonly RunEvent[]): Promise<void> {
    if (events.length > 0) {
      for (const event of events) if (isServerEvent(event)) applySubSession(this.#ahead, event);
      this.#written = this.#log.append(events).then(() => {});
      // A caller may ignore the promise; a failed write halts the engine.
      this.#written.catch(() => {});
      this.#hooks.decided();
    }
    // Without new `events` the call waits for the earlier ones.
    return this.#written;
  }

  /** Most engines have no sub-sessions, so the log is read by the first call of `#read`. */
  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    for (const event of this.#log.read()) {
      if (!isServerEvent(event)) continue;
      applySubSession(this.#stored, event);
      applySubSession(this.#ahead, event);
    }
  }
}
