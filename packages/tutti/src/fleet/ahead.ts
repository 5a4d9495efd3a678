// `Ahead` has what a host has done before the engine asks for it: it opens the session with its workspace, commits the
// work with the end of a turn, and removes the workspace with the close of the session. So a task takes three requests.
//
// All entries can be missing, for example after a restart of the server. Then the request is sent.
import type { SignalReader } from "./fleet-calls.ts";
import type { HostRequest } from "./host-request.ts";
import type { SessionSignal, WorkCommit } from "../session/session.ts";

export type OpenSpec = (HostRequest & { op: "open" })["spec"];

/** The signal of a turn whose work the host has committed as `commit` says. `reply` is that of the request `snapshot`. */
export type CommittedSignal = SessionSignal & { committed?: { commit: WorkCommit; reply: unknown } };

export interface AnnouncedSession {
  spec: OpenSpec;
  reader: SignalReader;
  /** Whether the host has opened the session with its workspace. */
  isOpen: boolean;
}

export class Ahead {
  /** All maps are by the key of the attempt. */
  readonly sessions = new Map<string, AnnouncedSession>();
  readonly #commits = new Map<string, { commit: WorkCommit; reply: unknown }>();
  readonly #removals = new Map<string, Promise<unknown>>();

  /** Called when the session is opened by another request, or will not be opened. */
  dropSession(key: string): void {
    this.sessions.get(key)?.reader.end();
    this.sessions.delete(key);
  }

  /** Returns the signal that the engine knows. */
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

  /** A new turn changes the files. */
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
