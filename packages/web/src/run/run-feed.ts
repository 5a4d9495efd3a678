// The live state of one run: reads its log, subscribes to further events, and folds both with the server's `apply`. The
// page shows nothing but this fold.
//
// Invariants
// 1. Each event is folded once, in order. After a lost connection the feed continues after the last folded event.
// 2. A burst of events notifies the listeners once.
import { activityLine, type ActivityLine } from "./activity.ts";
import { notifyUser } from "../notify/notify-user.ts";
import { baseUrl, server } from "../shell/server.ts";
import { followEvents, type Connection } from "../../../tutti/src/client/follow-events.ts";
import { toStoredEvent, type Frame } from "../../../tutti/src/client/frame.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import { apply } from "../../../tutti/src/run/apply.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

export interface RunFeedState {
  run: Run | null;
  /** The newest `MAX_ACTIVITY` events that have a sentence. */
  activity: readonly ActivityLine[];
  /** From `orchestrator:started`; they are not part of the fold. */
  warnings: string[];
  connection: Connection;
  error: unknown;
}

const PAGE = 1000;
const MAX_ACTIVITY = 200;
const SHOW_AFTER_MS = 40;

export class RunFeed {
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #feed: RunFeedState = { run: null, activity: [], warnings: [], connection: "connecting", error: null };
  #seq = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | null = null;
  /** The newest fold; `#show` copies it into `#feed` for the listeners. */
  #run: Run | null = null;
  #activity: ActivityLine[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  readonly feed = (): RunFeedState => this.#feed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async begin(): Promise<void> {
    try {
      for (;;) {
        const frames = await server.events(this.#id, { after: this.#seq, limit: PAGE }, this.#closed.signal);
        for (const frame of frames) this.#fold(frame);
        if (frames.length < PAGE) break;
      }
      if (this.#run === null)
        throw new RequestError("run_not_found", `run "${this.#id}" does not exist`, { status: 404 });
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#show({ error });
      return;
    }
    this.#show({ run: this.#run, activity: this.#activity });
    this.#unsubscribe = followEvents({
      baseUrl,
      run: this.#id,
      after: this.#seq,
      onFrame: (frame) => this.#fold(frame),
      onConnection: (connection) => {
        this.#show({ connection });
        if (connection === "waiting") void this.#checkAccess();
      },
    });
  }

  end(): void {
    this.#closed.abort();
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
  }

  #fold(frame: Frame): void {
    const event = toStoredEvent(frame);
    this.#run = apply(this.#run, event);
    const line = activityLine(event, this.#run);
    if (line) this.#activity = [...this.#activity, line].slice(-MAX_ACTIVITY);
    this.#seq = frame.seq;
    if (frame.type === "orchestrator:started") this.#feed = { ...this.#feed, warnings: frame.data.warnings };
    // While the log is being read, a partial fold would only flicker, and old events need no notification.
    if (!this.#unsubscribe) return;
    notifyUser(event, this.#run);
    this.#timer ??= setTimeout(() => this.#show({ run: this.#run, activity: this.#activity }), SHOW_AFTER_MS);
  }

  #show(part: Partial<RunFeedState>): void {
    if (part.run !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#feed = { ...this.#feed, ...part };
    for (const listener of this.#listeners) listener();
  }

  /** A rejected WebSocket gives no reason, so ask over HTTP. Reconnecting helps if the server is down, not on 401 or 403. */
  async #checkAccess(): Promise<void> {
    const error: unknown = await server.inbox({ limit: 1 }, this.#closed.signal).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (this.#closed.signal.aborted) return;
    const refused = error instanceof RequestError && (error.status === 401 || error.status === 403);
    if (refused || this.#feed.error !== null) this.#show({ error: refused ? error : null });
  }
}
