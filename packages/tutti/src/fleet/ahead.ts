// `Ahead` records the steps that a host takes before the engine requests them: it opens the session together with the
// workspace, commits the work at the end of a turn, and removes the workspace when the session is closed. So a task takes
// three requests.
//
// Every entry can be missing, for example after a restart of the server. Then the engine sends the request.
import type { SignalReader } from "./fleet-calls.ts";
import type { HostRequest } from "./host-request.ts";
import type { SessionSignal, WorkCommit } from "../session/session.ts";

type OpenSpec = (HostRequest & { op: "open" })["spec"];

/** `committed` is set if the host has committed the work of the turn. Its `reply` is that of a `snapshot` request. */
export type CommittedSignal = SessionSignal & { committed?: { commit: WorkCommit; reply: unknown } };

export interface AnnouncedSession {
  spec: OpenSpec;
  reader: SignalReader;
  /** Whether the host has opened the session with its workspace. */
  isOpen: boolean;
}

export class Ahead {
  /** The keys of all maps are keys of attempts. */
  readonly sessions = new Map<string, AnnouncedSession>();
  readonly #commits = new Map<string, { commit: WorkCommit; reply: unknown }>();
  readonly #removals = new Map<string, Promise<unknown>>();

  /** Called when the session is opened by another request, or will not be opened. */
  dropSession(key: string): void {
    this.sessions.get(key)?.reader.end();
    this.sessions.delete(key);
  }

  /** Stores `committed`, which the engine does not know, and returns the signal without it. */
  readSignal(key: string, { committed, ...signal }: CommittedSignal): SessionSignal {
    if (committed) this.#commits.set(key, committed);
    return signal;
  }

  /** Returns the reply of a `snapshot` with these arguments, once. */
  takeCommit(key: string, wanted: WorkCommit): unknown {
    const committed = this.#commits.get(key);
    this.#commits.delete(key);
    return committed && JSON.stringify(committed.commit) === JSON.stringify(wanted) ? committed.reply : undefined;
  }

  /** Called when a turn starts, because it changes the files. */
  dropCommit(key: string): void {
    this.#commits.delete(key);
  }

  remove(key: string, removal: Promise<unknown>): Promise<unknown> {
    this.#removals.set(key, removal);
    return removal;
  }

  takeRemoval(key: string): Promise<unknown> | undefined {
    const removal = this.#removals.get(key);
    this.#removals.delete(key);
    this.#commits.delete(key);
    return removal;
  }
}
