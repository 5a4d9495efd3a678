// Sessions that have just said that they start another, and new sessions that may be those. Where nobody tells which belongs
// to which, closeness in time has to do. It is remembered for seconds only, so it is no part of the log: what comes of it,
// a registered sub-session, is.
import { findTaskInvocations, type TaskInvocation } from "./task-invocations.ts";
import type { SessionReach } from "./session-reach.ts";
import type { World } from "../world.ts";

export interface TaskSpawnsOptions {
  reach: SessionReach;
  world: World;
  /** How close in time a new session must be. */
  windowMs: number;
  /** Whether a session can be nobody's child, because it is one already or belongs to a run. */
  isTaken(sessionId: string): boolean;
  /** Answers whether it could be. */
  link(childSessionId: string, parentSessionId: string, taskToolId: string | null): boolean;
}

type Seen = Map<string, { at: number | null }>;

interface Spawn {
  taskToolId: string | null;
  at: number;
}

export class TaskSpawns {
  readonly #options: TaskSpawnsOptions;
  /** By parent, in the order in which they were told. */
  readonly #pending = new Map<string, Spawn[]>();
  readonly #watched = new Set<string>();
  /** By watched parent: what was found in its transcript before. */
  readonly #known = new Map<string, Set<string>>();
  /** Sessions that were there, with the moment at which they were first seen; those from before we looked are not new. */
  #seen: Promise<Seen> | null = null;
  readonly #folders = new Map<string, string | null>();

  constructor(options: TaskSpawnsOptions) {
    this.#options = options;
  }

  get pending(): number {
    this.#forgetLate();
    return [...this.#pending.values()].reduce((sum, spawns) => sum + spawns.length, 0);
  }

  register(parentSessionId: string, taskToolId: string | null): void {
    void this.#lookBefore();
    const spawns = this.#pending.get(parentSessionId) ?? [];
    spawns.push({ taskToolId, at: this.#options.world.now() });
    this.#pending.set(parentSessionId, spawns);
  }

  /** The session becomes the child of whoever said first that it starts one, if that was not too long ago. */
  tryLink(sessionId: string): boolean {
    this.#forgetLate();
    if (this.#options.isTaken(sessionId)) return false;
    for (const [parent, spawns] of this.#pending) {
      const [spawn] = spawns;
      if (!spawn || parent === sessionId || !this.#sameFolder(parent, sessionId)) continue;
      if (!this.#options.link(sessionId, parent, spawn.taskToolId)) continue;
      spawns.shift();
      if (spawns.length === 0) this.#pending.delete(parent);
      return true;
    }
    return false;
  }

  /** Everything in the transcript that looks like it; what is certain and new waits for its session. */
  async scan(parentSessionId: string, { onlyTools = false } = {}): Promise<TaskInvocation[]> {
    const messages = (await this.#options.reach.messages(parentSessionId)) ?? [];
    const found = findTaskInvocations(messages);
    const known = this.#known.get(parentSessionId);
    const names = new Set(found.map((invocation, at) => nameOf(invocation, at)));
    this.#known.set(parentSessionId, names);
    found.forEach((invocation, at) => {
      // What was said before anybody looked is long done, but for the last word.
      const isNew = known ? !known.has(nameOf(invocation, at)) : invocation.message === messages.length - 1;
      const counts = invocation.source === "tool" || (invocation.source === "block" && !onlyTools);
      if (isNew && counts) this.register(parentSessionId, invocation.taskToolId);
    });
    return found;
  }

  /** From now on its transcript is looked at with every poll. */
  async watch(parentSessionId: string): Promise<void> {
    void this.#lookBefore();
    this.#watched.add(parentSessionId);
    await this.scan(parentSessionId, { onlyTools: true });
  }

  get watches(): boolean {
    return this.#watched.size > 0;
  }

  async poll(): Promise<void> {
    const { reach } = this.#options;
    for (const parent of this.#watched) {
      if (await reach.isThere(parent)) await this.scan(parent, { onlyTools: true });
      else this.unwatch(parent);
    }
    if (this.watches || this.pending > 0) await this.detect();
  }

  unwatch(parentSessionId: string): void {
    this.#watched.delete(parentSessionId);
    this.#known.delete(parentSessionId);
    this.#pending.delete(parentSessionId);
  }

  /** Links sessions that have come since the last look; answers how many. */
  async detect(): Promise<number> {
    const before = await this.#lookBefore();
    const now = this.#options.world.now();
    for (const { id, cwd } of await this.#options.reach.others()) {
      if (!before.has(id)) before.set(id, { at: now });
      this.#folders.set(id, cwd);
    }
    const fresh = [...before].filter(([, { at }]) => at !== null && now - at <= this.#options.windowMs);
    return fresh.filter(([id]) => this.tryLink(id)).length;
  }

  /** Who is there already is nobody's new session. A look that fails is no look. */
  #lookBefore(): Promise<Seen> {
    if (this.#seen) return this.#seen;
    const seen = this.#options.reach.others().then((sessions) => {
      for (const { id, cwd } of sessions) this.#folders.set(id, cwd);
      return new Map(sessions.map(({ id }) => [id, { at: null }]));
    });
    seen.catch(() => (this.#seen = null));
    this.#seen = seen;
    return seen;
  }

  /** Sessions that work elsewhere do not belong together; where that is not known, they may. */
  #sameFolder(a: string, b: string): boolean {
    const [one, other] = [this.#folders.get(a) ?? null, this.#folders.get(b) ?? null];
    return one === null || other === null || one === other;
  }

  #forgetLate(): void {
    const { world, windowMs } = this.#options;
    const since = world.now() - windowMs;
    for (const [parent, spawns] of this.#pending) {
      const left = spawns.filter(({ at }) => at >= since);
      if (left.length === 0) this.#pending.delete(parent);
      else this.#pending.set(parent, left);
    }
  }
}

const nameOf = ({ taskToolId, source, message }: TaskInvocation, at: number): string =>
  taskToolId ?? `${source} ${message} ${at}`;
