// One run as it happens: its log from the beginning, then every further event, folded by the same rules as on the
// server. What the page shows is this fold and nothing else.
//
// Invariants
// 1. The log is folded in order, each event once; after a lost connection it goes on after the last event folded.
// 2. Listeners hear of a burst of events once.
import { describe, type Happened } from "./activity.ts";
import { tellPerson } from "../notify/tell-person.ts";
import { baseUrl, server } from "../shell/server.ts";
import { followEvents, type Connection } from "../../../tutti/src/client/follow-events.ts";
import { toStoredEvent, type Frame } from "../../../tutti/src/client/frame.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import { apply } from "../../../tutti/src/run/apply.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

export interface Feed {
  run: Run | null;
  /** The newest of what has happened, in sentences. */
  activity: readonly Happened[];
  /** What the run was warned of when it started; told once and not part of the fold. */
  warnings: string[];
  connection: Connection;
  error: unknown;
}

const PAGE = 1000;
const ACTIVITY = 200;
const TELL_AFTER_MS = 40;

export class RunFeed {
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  readonly #over = new AbortController();
  #feed: Feed = { run: null, activity: [], warnings: [], connection: "connecting", error: null };
  #seq = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #leave: (() => void) | null = null;
  /** The fold as far as it has come; listeners get to see it together with the rest. */
  #run: Run | null = null;
  #activity: Happened[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  readonly feed = (): Feed => this.#feed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async begin(): Promise<void> {
    try {
      for (;;) {
        const frames = await server.events(this.#id, { after: this.#seq, limit: PAGE }, this.#over.signal);
        for (const frame of frames) this.#take(frame);
        if (frames.length < PAGE) break;
      }
      if (this.#run === null) throw new RequestError("run_not_found", `there is no run ${this.#id}`, { status: 404 });
    } catch (error) {
      if (!this.#over.signal.aborted) this.#show({ error });
      return;
    }
    this.#show({ run: this.#run, activity: this.#activity });
    this.#leave = followEvents({
      baseUrl,
      run: this.#id,
      after: this.#seq,
      onFrame: (frame) => this.#take(frame),
      onConnection: (connection) => {
        this.#show({ connection });
        if (connection === "waiting") void this.#askWhy();
      },
    });
  }

  end(): void {
    this.#over.abort();
    this.#leave?.();
    clearTimeout(this.#timer);
  }

  #take(frame: Frame): void {
    const event = toStoredEvent(frame);
    this.#run = apply(this.#run, event);
    const happened = describe(event);
    if (happened) this.#activity = [...this.#activity, happened].slice(-ACTIVITY);
    this.#seq = frame.seq;
    if (frame.type === "orchestrator:started") this.#feed = { ...this.#feed, warnings: frame.data.warnings };
    // Until the whole log is there, half of it would only flicker, and none of it is news.
    if (!this.#leave) return;
    tellPerson(event, this.#run);
    this.#timer ??= setTimeout(() => this.#show({ run: this.#run, activity: this.#activity }), TELL_AFTER_MS);
  }

  #show(part: Partial<Feed>): void {
    if (part.run !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#feed = { ...this.#feed, ...part };
    for (const listener of this.#listeners) listener();
  }

  /** A refused WebSocket does not say why. A server that is away is worth waiting for; one that refuses us is not. */
  async #askWhy(): Promise<void> {
    const error: unknown = await server.inbox({ limit: 1 }, this.#over.signal).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (this.#over.signal.aborted) return;
    const refused = error instanceof RequestError && (error.status === 401 || error.status === 403);
    if (refused || this.#feed.error !== null) this.#show({ error: refused ? error : null });
  }
}
