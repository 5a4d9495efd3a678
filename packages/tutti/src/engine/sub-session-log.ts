// The relations between sessions as the server's own log has them. What is asked is decided at once, against everything
// that is being written too, because the documented classes answer at once; what has become durable is kept apart, and only
// that is told to others.
import type { ServerLog } from "./server-log.ts";
import { decideSubSession, type SubSessionCommand } from "../run/decide-sub-session.ts";
import { applySubSession, childrenOf, noSubSessions, type SubSession, type SubSessions } from "../run/sub-sessions.ts";
import { isServerEvent, type RunEvent, type StoredEvent } from "../schema/event.ts";
import type { World } from "../world.ts";

export class SubSessionLog {
  readonly #log: ServerLog;
  readonly #world: World;
  /** Called when something was decided. */
  readonly #decided: () => void;
  #stored: SubSessions = noSubSessions();
  #ahead: SubSessions = noSubSessions();
  #isRead = false;
  #written: Promise<void> = Promise.resolve();

  constructor(log: ServerLog, world: World, decided: () => void) {
    this.#log = log;
    this.#world = world;
    this.#decided = decided;
  }

  /** As they stand on disk. */
  get stored(): SubSessions {
    this.#read();
    return this.#stored;
  }

  /** As they will stand when everything that was decided is on disk. */
  get ahead(): SubSessions {
    this.#read();
    return this.#ahead;
  }

  get(childSessionId: string): SubSession | null {
    return this.ahead.relations.get(childSessionId) ?? null;
  }

  /** What a session has started, as far as it is on disk. */
  children(parentSessionId: string): SubSession[] {
    return childrenOf(this.stored, parentSessionId);
  }

  /** Refused at once or not at all; resolves when what follows is on disk. */
  order(command: SubSessionCommand): Promise<void> {
    return this.#tell(decideSubSession(this.ahead, command, this.#world.now()));
  }

  /** What changes no relation. */
  tell(event: RunEvent): Promise<void> {
    this.#read();
    return this.#tell([event]);
  }

  /** What has just become durable. */
  heard(events: readonly StoredEvent[]): void {
    if (!this.#isRead) return;
    for (const event of events) if (isServerEvent(event)) applySubSession(this.#stored, event);
  }

  #tell(events: readonly RunEvent[]): Promise<void> {
    if (events.length > 0) {
      for (const event of events) if (isServerEvent(event)) applySubSession(this.#ahead, event);
      this.#written = this.#log.tell(events).then(() => {});
      // Whoever does not wait for it is told by the engine, which halts.
      this.#written.catch(() => {});
      this.#decided();
    }
    // Who asks for what was asked before waits for it too.
    return this.#written;
  }

  /** Only when it is needed: most engines never have to do with it. */
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
