// `withRemoteSessions` puts sessions on worker hosts behind the engine's `SessionHost`. A session that was placed on
// this machine goes to `local`.
import type { Fleet } from "./fleet.ts";
import type { SignalReader } from "./fleet-calls.ts";
import type { HostRequest } from "./host-request.ts";
import { readHostSignal } from "./host-signal.ts";
import { TuttiError } from "../schema/error.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";
import type { Session, SessionHost, SessionSignal, SessionSpec, Turn } from "../session/session.ts";

/** `ON_HOSTS` is the id of no session. */
const ON_HOSTS = "on hosts";
const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };

export function withRemoteSessions(local: SessionHost, fleet: Fleet): SessionHost {
  /** Keys of attempts that need no `end` request, because the host has ended the session. */
  const closed = new Set<string>();
  const end = async (key: string): Promise<void> => {
    fleet.ahead.dropSession(key);
    if (closed.delete(key) || (await fleet.withdraw(key))) return;
    await ignoreLost(fleet.call(key, "end", { op: "end" } satisfies HostRequest));
  };
  // Keepers outlive a server that is killed, but their results count for nothing once another server has the run.
  void fleet
    .abandonedSessions()
    .then((sessions) => Promise.all(sessions.map(({ run, session }) => local.end(run, session))))
    .catch(() => {});
  return {
    ...local,
    announce(spec) {
      const placed = fleet.find(spec.sessionId);
      if (!placed) return local.announce?.(spec);
      fleet.ahead.dropSession(placed.key);
      fleet.ahead.sessions.set(placed.key, { spec, reader: fleet.follow(placed.key), isOpen: false });
    },
    open(spec) {
      const placed = fleet.find(spec.sessionId);
      return placed ? new RemoteSession(fleet, placed.key, spec, closed) : local.open(spec);
    },
    expect: () => (fleet.hasReadyHost ? undefined : local.expect?.()) ?? (() => {}),
    warm: (spec) => !fleet.hasReadyHost && (local.warm?.(spec) ?? false),
    async claim(spec, isCurrent) {
      if (fleet.find(spec.sessionId) === null) return (await local.claim?.(spec, isCurrent)) ?? false;
      // The session was placed on a host after an agent here began to wait for it.
      await local.end(spec.runId, spec.sessionId);
      return false;
    },
    check(agent, cwd) {
      try {
        local.check(agent, cwd);
      } catch (error) {
        // The programs of agents are on the hosts, so `agent_not_startable` here says nothing while one `hasReadyHost`.
        const isMissing = error instanceof TuttiError && error.code === "agent_not_startable";
        if (!isMissing || !fleet.hasReadyHost) throw error;
      }
    },
    async transcript(runId, sessionId, page = ALL) {
      const entries = await fleet.transcript(sessionId, page.after, page.limit);
      if (entries === null) return local.transcript(runId, sessionId, page);
      return withinCharacters(entries, page.characters).map((entry) => JSON.parse(entry) as TranscriptEntry);
    },
    async end(runId, sessionId) {
      const placed = fleet.find(sessionId);
      await (placed ? end(placed.key) : local.end(runId, sessionId));
    },
    async reap(runId, keep) {
      // After `leave` the hosts continue the sessions of this server.
      const open = fleet.hasLeft ? [] : await fleet.openSessions(runId);
      // With nothing to keep, `local` ends all processes of the run on this machine, where a host or the server that now
      // carries on the run may run as well.
      const isElsewhere = open === null || fleet.hasRun(runId);
      const reaped = local.reap(runId, keep.length === 0 && isElsewhere ? [ON_HOSTS] : keep);
      const ended = (open ?? []).filter(({ session }) => !keep.includes(session));
      await Promise.all(ended.map(({ key }) => end(key)));
      await reaped;
    },
    async archive(runId, sessionId) {
      const placed = fleet.find(sessionId);
      if (!placed) return local.archive(runId, sessionId);
      const open = await fleet.openSessions(runId);
      if (open?.some(({ session }) => session === sessionId))
        throw new TuttiError("wrong_state", `The session "${sessionId}" is still alive. Archive it when it has ended.`);
      await fleet.archive(sessionId);
    },
    isArchived: (runId, sessionId) => fleet.find(sessionId)?.archived ?? local.isArchived(runId, sessionId),
    hasRun: (runId) => fleet.hasRun(runId) || local.hasRun(runId),
    async forget(runId) {
      await local.forget(runId);
      await fleet.forget(runId);
    },
  };
}

function withinCharacters(entries: string[], characters = Number.POSITIVE_INFINITY): string[] {
  let sum = 0;
  const end = entries.findIndex((entry) => (sum += entry.length) > characters);
  return end === -1 ? entries : entries.slice(0, Math.max(1, end));
}

/** Resolves to null for `host_lost`: nothing is left to do on a lost host. */
export async function ignoreLost<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TuttiError && error.code === "host_lost") return null;
    throw error;
  }
}

class RemoteSession implements Session {
  readonly sessionId: string;
  readonly #fleet: Fleet;
  readonly #key: string;
  readonly #spec: SessionSpec;
  readonly #closed: Set<string>;
  readonly #left = new AbortController();

  constructor(fleet: Fleet, key: string, spec: SessionSpec, closed: Set<string>) {
    this.#fleet = fleet;
    this.#key = key;
    this.#spec = spec;
    this.#closed = closed;
    this.sessionId = spec.sessionId;
  }

  async *signals(): AsyncGenerator<SessionSignal> {
    const { ahead } = this.#fleet;
    const announced = ahead.sessions.get(this.#key);
    ahead.sessions.delete(this.#key);
    const reader = announced?.reader ?? this.#fleet.follow(this.#key);
    try {
      const { cwd: _, ...spec } = this.#spec;
      if (!announced?.isOpen) await this.#call("open", { op: "open", spec });
      yield* this.#read(reader);
    } finally {
      reader.end();
    }
  }

  async *#read(reader: SignalReader): AsyncGenerator<SessionSignal> {
    let caughtUp = false;
    for (;;) {
      const page = await reader.next(this.#left.signal);
      if (page === null) return;
      for (const { body } of page.rows) {
        const signal = this.#fleet.ahead.readSignal(this.#key, readHostSignal(body));
        yield signal;
        if (signal.type === "gone") return;
      }
      if (!page.isLast) continue;
      if (!caughtUp) yield { type: "caughtUp" };
      caughtUp = true;
      if (page.over === null) continue;
      yield { type: "gone", reason: page.over, deliberate: true };
      return;
    }
  }

  #call(name: string, request: HostRequest): Promise<unknown> {
    return this.#fleet.call(this.#key, name, request);
  }

  async deliver({ number, phase, text, variables, message, commit }: Turn): Promise<void> {
    this.#fleet.ahead.dropCommit(this.#key);
    const turn = { number, phase, text, variables, ...(message && { message }), ...(commit && { commit }) };
    await this.#call(turnName(number), { op: "deliver", turn });
  }

  wasDelivered(turn: number): boolean {
    return this.#fleet.wasCalled(this.#key, turnName(turn));
  }

  async answer(askId: string, text: string): Promise<void> {
    await this.#call(`answer ${askId}`, { op: "answer", askId, text });
  }

  async steer(turn: number, id: string, text: string): Promise<void> {
    await this.#call(`steer ${turn} ${id}`, { op: "steer", turn, id, text });
  }

  async interrupt(turn: number): Promise<void> {
    if (this.wasDelivered(turn)) await ignoreLost(this.#call(`interrupt ${turn}`, { op: "interrupt", turn }));
  }

  async close(): Promise<void> {
    const closed = this.#fleet.ahead.remove(this.#key, ignoreLost(this.#call("remove", { op: "remove", close: true })));
    await closed;
    this.#closed.add(this.#key);
  }

  async stop(): Promise<void> {
    await ignoreLost(this.#call("end", { op: "end" }));
  }

  leave(): void {
    this.#left.abort();
  }
}

const turnName = (turn: number): string => `turn ${turn}`;
