// The live state of one run: the snapshot of the server, the end of its log, and every further event, folded with the
// server's `apply`. The page shows nothing but this fold.
//
// Invariants
// 1. Each event is folded once, in the order of `runSeq`. A gap is filled from the log before anything else is folded.
// 2. An event that cannot be folded changes nothing. `isOutdated` then makes the page ask for a reload.
// 3. A burst of events notifies the listeners once.
import { isUnreachable } from "../errors/problem.ts";
import { server } from "../shell/server.ts";
import { translate } from "../text/language.ts";
import { toStoredEvent, type Frame } from "../../../tutti/src/client/frame.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import { apply, FOLD_VERSION } from "../../../tutti/src/run/apply.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

export interface RunFeedState {
  run: Run | null;
  /** The newest `MAX_RECENT` events without those of progress. */
  recent: readonly StoredEvent[];
  /** Of `orchestrator:started`; the fold does not contain them. */
  warnings: readonly string[];
  isOutdated: boolean;
  error: unknown;
}

const PAGE = 1000;
const MAX_RECENT = 200;
/** An event is shown after `SHOW_AFTER_MS`, and events that follow each other every `SHOW_EVERY_MS`. */
const SHOW_AFTER_MS = 40;
const SHOW_EVERY_MS = 250;
/** A lost request is sent again after this time. The connection of the events may not notice the loss. */
const RETRY_MS = 1000;

export class RunFeed {
  readonly id: string;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #state: RunFeedState = { run: null, recent: [], warnings: [], isOutdated: false, error: null };
  /** The newest fold; `#show` copies it into `#state` for the listeners. */
  #run: Run | null = null;
  #recent: StoredEvent[] = [];
  #seq = 0;
  /** Frames that arrive during `#reading`; null outside of it. */
  #waiting: Frame[] | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(id: string) {
    this.id = id;
  }

  readonly state = (): RunFeedState => this.#state;

  get run(): Run | null {
    return this.#run;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  load(): Promise<void> {
    return this.#reading(async () => {
      const [{ fold, seq, run, warnings }, frames] = await Promise.all([
        server.call("GET /api/orchestrator/:id/snapshot", { params: { id: this.id }, signal: this.#closed.signal }),
        server.call("GET /api/orchestrator/:id/events", {
          params: { id: this.id },
          query: { tail: MAX_RECENT },
          signal: this.#closed.signal,
        }),
      ]);
      this.#run = null;
      this.#recent = [];
      this.#seq = 0;
      this.#state = { ...this.#state, warnings, isOutdated: false };
      // Another `FOLD_VERSION` may give the same members another meaning, so the whole log is folded instead.
      if (fold !== FOLD_VERSION) return this.#readLog();
      this.#run = run;
      this.#seq = seq;
      for (const frame of frames) if (frame.runSeq <= run.runSeq) this.#keep(toStoredEvent(frame));
    });
  }

  /** Reads the events after `#seq`, for example those missed while the connection was lost. */
  catchUp(): Promise<void> {
    if (this.#run === null) return this.load();
    return this.#reading(() => this.#readLog());
  }

  receive(frame: Frame): void {
    if (this.#waiting) this.#waiting.push(frame);
    else this.#take(frame);
  }

  close(): void {
    this.#closed.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
  }

  async #reading(read: () => Promise<void>): Promise<void> {
    if (this.#waiting) return;
    this.#waiting = [];
    clearTimeout(this.#retry);
    try {
      await read();
      this.#show({ error: null });
    } catch (error) {
      if (!this.#closed.signal.aborted) {
        this.#show({ error });
        if (isUnreachable(error)) this.#retry = setTimeout(() => void this.catchUp(), RETRY_MS);
      }
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const frame of waiting) this.receive(frame);
  }

  async #readLog(): Promise<void> {
    for (;;) {
      const page = { after: this.#seq, limit: PAGE };
      const frames = await server.events(this.id, page, this.#closed.signal);
      for (const frame of frames) this.#fold(frame);
      if (frames.length === 0) return;
    }
  }

  #take(frame: Frame): void {
    if (frame.type === "log:removed")
      return this.#show({
        error: new RequestError("run_not_found", translate('Run "{id}" was deleted.', { id: this.id }), {
          status: 404,
        }),
      });
    // Without `#run` the first `load` has failed, and the next one reads this event.
    if (this.#run === null) return;
    if (frame.runSeq > this.#run.runSeq + 1) return void this.catchUp();
    this.#fold(frame);
    const waitMs = Math.max(SHOW_AFTER_MS, this.#shownAt + SHOW_EVERY_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#show({}), waitMs);
  }

  #fold(frame: Frame): void {
    this.#seq = Math.max(this.#seq, frame.seq);
    if (this.#run !== null && frame.runSeq <= this.#run.runSeq) return;
    try {
      const event = toStoredEvent(frame);
      this.#run = apply(this.#run, event);
      this.#keep(event);
    } catch {
      // `apply` throws if a newer server gives a known type another shape.
      if (this.#run) this.#run = { ...this.#run, runSeq: frame.runSeq };
      this.#state = { ...this.#state, isOutdated: true };
    }
  }

  #keep(event: StoredEvent): void {
    if (event.type !== "worker:progress") this.#recent = [...this.#recent, event].slice(-MAX_RECENT);
  }

  #show(part: Partial<RunFeedState>): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shownAt = performance.now();
    this.#state = { ...this.#state, run: this.#run, recent: this.#recent, ...part };
    for (const listener of this.#listeners) listener();
  }
}
