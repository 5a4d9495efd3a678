// `TaskSpawns` links new sessions to the parents that announced them. Without an explicit link, closeness in time
// decides. Announcements expire after seconds, so only the resulting sub-session is stored in the log.
import { findTaskInvocations, type TaskInvocation } from "./task-invocations.ts";
import type { SeenMessage, SessionAccess } from "../sessions/session-access.ts";
import type { World } from "../../world.ts";

interface TaskSpawnsOptions {
  reach: SessionAccess;
  world: World;
  /** Maximum milliseconds between `register` and the new session. */
  windowMs: number;
  /** Whether `sessionId` is a sub-session already or belongs to a run. */
  isTaken(sessionId: string): boolean;
  /** Called when a watched session is gone. */
  onGone(sessionId: string): void;
  /** Returns false if the link was rejected. */
  link(childSessionId: string, parentSessionId: string, taskToolId: string | null): boolean;
}

type SeenSessions = Map<string, { at: number | null }>;

interface Spawn {
  taskToolId: string | null;
  at: number;
}

export class TaskSpawns {
  readonly #options: TaskSpawnsOptions;
  /** By parent, oldest first. */
  readonly #pending = new Map<string, Spawn[]>();
  readonly #watched = new Set<string>();
  /** Maps a watched parent to the `nameOf` each invocation found so far. */
  readonly #known = new Map<string, Set<string>>();
  /** When each session was first seen; null for sessions from before the first look, which are not new. */
  #seen: Promise<SeenSessions> | null = null;
  readonly #folders = new Map<string, string | null>();

  constructor(options: TaskSpawnsOptions) {
    this.#options = options;
  }

  get pending(): number {
    this.#dropExpired();
    return [...this.#pending.values()].reduce((sum, spawns) => sum + spawns.length, 0);
  }

  register(parentSessionId: string, taskToolId: string | null): void {
    void this.#firstLook();
    const spawns = this.#pending.get(parentSessionId) ?? [];
    spawns.push({ taskToolId, at: this.#options.world.now() });
    this.#pending.set(parentSessionId, spawns);
  }

  /** Makes `sessionId` a child of the parent with the oldest unexpired announcement. */
  tryLink(sessionId: string): boolean {
    this.#dropExpired();
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

  /** Returns all invocations in the transcript. `register` announces those that are certain and new. */
  async scan(parentSessionId: string, { onlyTools = false } = {}): Promise<TaskInvocation[]> {
    const messages = (await this.#options.reach.messages(parentSessionId)) ?? [];
    const found = findTaskInvocations(messages);
    const known = this.#known.get(parentSessionId);
    const names = new Set(found.map((invocation, at) => nameOf(invocation, at)));
    this.#known.set(parentSessionId, names);
    found.forEach((invocation, at) => {
      // Roo Code names the child in the result of the call.
      const child = childNamedIn(messages, invocation);
      if (child !== null && !this.#options.isTaken(child)) {
        this.#drop(parentSessionId, invocation.taskToolId);
        this.#options.link(child, parentSessionId, invocation.taskToolId);
        return;
      }
      // On the first `scan` only the last message counts; earlier invocations have their sessions already.
      const isNew = known ? !known.has(nameOf(invocation, at)) : invocation.message === messages.length - 1;
      const counts = invocation.source === "tool" || (invocation.source === "block" && !onlyTools);
      if (isNew && counts) this.register(parentSessionId, invocation.taskToolId);
    });
    return found;
  }

  /** Scans the transcript with every `poll` from now on. */
  async watch(parentSessionId: string): Promise<void> {
    void this.#firstLook();
    this.#watched.add(parentSessionId);
    await this.scan(parentSessionId, { onlyTools: true });
  }

  isWatched(parentSessionId: string): boolean {
    return this.#watched.has(parentSessionId);
  }

  async poll(): Promise<void> {
    const { reach } = this.#options;
    for (const parent of this.#watched) {
      if (!(await reach.isThere(parent))) {
        this.unwatch(parent);
        this.#options.onGone(parent);
      } else {
        await this.scan(parent, { onlyTools: true });
        await this.#linkKnown(parent);
      }
    }
    if (this.#watched.size > 0 || this.pending > 0) await this.detect();
  }

  /** `children` names the parents exactly. A child that `isReturned` already is history. */
  async #linkKnown(watched: string): Promise<void> {
    const { reach } = this.#options;
    for (const { id, parentSessionId, taskToolId } of await reach.children(watched)) {
      this.#drop(parentSessionId, taskToolId);
      if (this.#options.isTaken(id) || (await reach.activity(id)).isReturned) continue;
      this.#options.link(id, parentSessionId, taskToolId);
    }
  }

  /** A child that is linked by its `taskToolId` needs no announcement any more. */
  #drop(parent: string, taskToolId: string | null): void {
    const spawns = this.#pending.get(parent);
    if (spawns && taskToolId !== null)
      this.#pending.set(
        parent,
        spawns.filter((spawn) => spawn.taskToolId !== taskToolId),
      );
  }

  unwatch(parentSessionId: string): void {
    this.#watched.delete(parentSessionId);
    this.#known.delete(parentSessionId);
    this.#pending.delete(parentSessionId);
  }

  /** Returns how many sessions `tryLink` has linked. */
  async detect(): Promise<number> {
    const seen = await this.#firstLook();
    const now = this.#options.world.now();
    for (const { id, cwd } of await this.#options.reach.others()) {
      if (!seen.has(id)) seen.set(id, { at: now });
      this.#folders.set(id, cwd);
    }
    const fresh = [...seen].filter(([, { at }]) => at !== null && now - at <= this.#options.windowMs);
    return fresh.filter(([id]) => this.tryLink(id)).length;
  }

  /** Remembers the sessions that exist already (`at` null). The next call of `#firstLook` repeats a failed one. */
  #firstLook(): Promise<SeenSessions> {
    if (this.#seen) return this.#seen;
    const seen = this.#options.reach.others().then((sessions) => {
      for (const { id, cwd } of sessions) this.#folders.set(id, cwd);
      return new Map(sessions.map(({ id }) => [id, { at: null }]));
    });
    seen.catch(() => (this.#seen = null));
    this.#seen = seen;
    return seen;
  }

  /** Sessions in different `#folders` are never linked; an unknown folder matches any. */
  #sameFolder(a: string, b: string): boolean {
    const [one, other] = [this.#folders.get(a) ?? null, this.#folders.get(b) ?? null];
    return one === null || other === null || one === other;
  }

  #dropExpired(): void {
    const { world, windowMs } = this.#options;
    const since = world.now() - windowMs;
    for (const [parent, spawns] of this.#pending) {
      const current = spawns.filter(({ at }) => at >= since);
      if (current.length === 0) this.#pending.delete(parent);
      else this.#pending.set(parent, current);
    }
  }
}

const DELEGATED = /Delegated to child task (\S+)/;

function childNamedIn(messages: readonly SeenMessage[], { taskToolId, source }: TaskInvocation): string | null {
  if (source !== "tool" || taskToolId === null) return null;
  const results = messages.flatMap(({ results: shown = [] }) => shown.filter(({ id }) => id === taskToolId));
  return results.map(({ text }) => DELEGATED.exec(text)?.[1]).find((id) => id !== undefined) ?? null;
}

const nameOf = ({ taskToolId, source, message }: TaskInvocation, at: number): string =>
  taskToolId ?? `${source} ${message} ${at}`;
