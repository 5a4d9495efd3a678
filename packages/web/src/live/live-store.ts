// Everything live in this page, from one WebSocket: the runs, the inbox, the open runs, and the connection itself.
//
// Invariants
// 1. There is one connection. It continues after the last event that it delivered.
// 2. "Live" is checked: without any event for `QUIET_MS` the store asks the server, and reconnects if it does not answer.
// 3. A burst of events reads only the runs that changed, once.
import type { RunFeed } from "./run-feed.ts";
import { isUnreachable } from "../errors/problem.ts";
import { consent } from "../notify/consent.ts";
import { baseUrl, server } from "../shell/server.ts";
import { followEvents, type Connection } from "../../../tutti/src/client/follow-events.ts";
import { toStoredEvent, type Frame } from "../../../tutti/src/client/frame.ts";
import { RequestError } from "../../../tutti/src/client/request-error.ts";
import type { ListedRun, WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import { isInformational } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { TokenRole } from "../../../tutti/src/schema/token-role.ts";

export interface LiveState {
  connection: Connection;
  runs: readonly ListedRun[] | null;
  inbox: readonly WaitingItem[];
  access: { name: string | null; role: TokenRole } | null;
  /** True after the server was replaced by another version, so that the page may not know its events. */
  isOutdated: boolean;
  error: unknown;
}

const REFRESH_AFTER_MS = 200;
const RETRY_MS = 1000;
const QUIET_MS = 15_000;
/** A machine that works hard may take seconds to answer, so `#check` waits this long. */
const ANSWER_MS = 10_000;
const PAGE = 1000;
/** Feeds that stay in memory after the user left their runs. */
const KEPT_FEEDS = 3;

type Read<T> = (page: { after?: string; limit: number }) => Promise<T[]>;

async function readAll<T extends { id: string }>(read: Read<T>): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const part = await read({ limit: PAGE, ...(after !== undefined && { after }) });
    all.push(...part);
    if (part.length < PAGE) return all;
  }
}

class LiveStore {
  #state: LiveState = {
    connection: "connecting",
    runs: null,
    inbox: [],
    access: null,
    isOutdated: false,
    error: null,
  };
  readonly #listeners = new Set<() => void>();
  readonly #feeds = new Map<string, RunFeed>();
  readonly #changed = new Set<string>();
  /** Progress changes no run of the list, but shows that its agents are alive. */
  readonly #eventAt = new Map<string, number>();
  #isListStale = true;
  #isInboxStale = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshing: Promise<void> | null = null;
  #lastSeq: number | undefined;
  #heardAt = 0;
  #version: string | null = null;
  #unsubscribe: (() => void) | null = null;

  readonly state = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  begin(): void {
    this.#connect();
    setInterval(() => void this.#checkQuiet(), QUIET_MS / 3);
    for (const type of ["offline", "online"]) addEventListener(type, () => void this.#check());
    document.addEventListener("visibilitychange", () => void this.#checkQuiet());
  }

  /** The feed is loaded once and kept while it `isWatched`. Only the page of a run has the code that `create` needs. */
  feed(id: string, create: (id: string) => RunFeed): RunFeed {
    const known = this.#feeds.get(id);
    if (known) {
      // `#feeds` keeps insertion order, so the feed used last comes last.
      this.#feeds.delete(id);
      this.#feeds.set(id, known);
      return known;
    }
    const feed = create(id);
    this.#feeds.set(id, feed);
    void feed.load();
    const unused = [...this.#feeds.values()].filter((each) => each !== feed && !each.isWatched);
    for (const each of unused.slice(0, Math.max(0, this.#feeds.size - KEPT_FEEDS))) {
      this.#feeds.delete(each.id);
      each.close();
    }
    return feed;
  }

  /** The time of the last event of a run that this page received; 0 before the first one. */
  eventAt(run: string): number {
    return this.#eventAt.get(run) ?? 0;
  }

  /** Reads everything again, after an `error`. */
  retry(): void {
    this.#isListStale = this.#isInboxStale = true;
    this.#show({ error: null });
    for (const feed of this.#feeds.values()) void feed.catchUp();
    void this.#check();
    void this.#refresh();
  }

  #connect(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = followEvents({
      baseUrl,
      ...(this.#lastSeq !== undefined && { after: this.#lastSeq }),
      onFrame: (frame) => this.#receive(frame),
      onConnection: (connection) => this.#onConnection(connection),
    });
  }

  #onConnection(connection: Connection): void {
    this.#show({ connection });
    if (connection === "live") {
      this.#heardAt = Date.now();
      // Before its first event a connection has no `#lastSeq`, so events may have been missed.
      this.#isListStale = this.#isInboxStale = true;
      for (const feed of this.#feeds.values()) void feed.catchUp();
      void this.#check();
      void this.#refresh();
    } else if (connection === "waiting") {
      void this.#findRefusal();
    }
  }

  #receive(frame: Frame): void {
    this.#lastSeq = frame.seq;
    this.#heardAt = Date.now();
    const { run, type } = frame;
    if (run !== null) this.#eventAt.set(run, this.#heardAt);
    const feed = run === null ? undefined : this.#feeds.get(run);
    feed?.receive(frame);
    void this.#notify(frame, feed?.run ?? null);
    if (run === null || isInformational(type)) return;
    if (type === "log:removed") this.#isListStale = true;
    if (/^(inbox|orchestrator|log):/.test(type)) this.#isInboxStale = true;
    this.#changed.add(run);
    this.#timer ??= setTimeout(() => void this.#refresh(), REFRESH_AFTER_MS);
  }

  async #notify(frame: Frame, run: Run | null): Promise<void> {
    try {
      if (consent() !== "on") return;
      const { notifyUser } = await import("../notify/notify-user.ts");
      notifyUser(toStoredEvent(frame), run);
    } catch {
      // `notifyUser` may throw for an event of a newer server. The rest of the page continues.
    }
  }

  /** One refresh at a time (`#refreshing`); events during it start the next one. */
  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#refreshing) {
      await this.#refreshing;
      if (this.#changed.size === 0 && !this.#isListStale && !this.#isInboxStale) return;
    }
    this.#refreshing = this.#readChanges().finally(() => (this.#refreshing = null));
    await this.#refreshing;
  }

  async #readChanges(): Promise<void> {
    const [wholeList, wholeInbox] = [this.#isListStale || this.#state.runs === null, this.#isInboxStale];
    const ids = [...this.#changed];
    this.#changed.clear();
    this.#isListStale = this.#isInboxStale = false;
    try {
      const [runs, inbox] = await Promise.all([
        wholeList ? readAll((page) => server.list(page)) : this.#readRuns(ids),
        wholeInbox ? readAll((page) => server.inbox(page)) : this.#state.inbox,
      ]);
      this.#show({ runs, inbox, error: null });
    } catch (error) {
      this.#isListStale ||= wholeList;
      this.#isInboxStale ||= wholeInbox;
      for (const id of ids) this.#changed.add(id);
      // While the server is away, the page keeps `runs` as they are.
      if (this.#state.runs === null || isRefusal(error)) this.#show({ error });
      // Otherwise the next connection reads everything.
      if (this.#state.connection === "live" && isUnreachable(error))
        this.#timer ??= setTimeout(() => void this.#refresh(), RETRY_MS);
    }
  }

  async #readRuns(ids: readonly string[]): Promise<readonly ListedRun[]> {
    const known = this.#state.runs ?? [];
    if (ids.length === 0) return known;
    const query = { ids: ids.join(","), limit: PAGE };
    const changed = new Map(
      ((await server.call("GET /api/orchestrator", { query })) as ListedRun[]).map((run) => [run.id, run]),
    );
    const kept = known.map((run) => {
      const fresh = changed.get(run.id) ?? run;
      changed.delete(run.id);
      return fresh;
    });
    return [...kept, ...changed.values()];
  }

  async #checkQuiet(): Promise<void> {
    if (this.#state.connection !== "live" || Date.now() - this.#heardAt < QUIET_MS || document.hidden) return;
    await this.#check();
  }

  /**
   * Asks the server for its version and the rights of this page (`access`). Without an answer the connection is opened
   * again.
   */
  async #check(): Promise<void> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    try {
      const { version } = await server.call("GET /api/health", { signal });
      this.#heardAt = Date.now();
      this.#version ??= version;
      if (version !== this.#version) this.#show({ isOutdated: true });
      const access = await server.call("GET /api/access", { signal });
      const known = this.#state.access;
      if (known?.name !== access.name || known.role !== access.role) this.#show({ access });
    } catch {
      if (this.#state.connection === "live") this.#connect();
    }
  }

  /**
   * A rejected WebSocket gives no reason, so `server.inbox` asks over HTTP. Reconnecting helps if the server is down,
   * not on 401 or 403.
   */
  async #findRefusal(): Promise<void> {
    const error: unknown = await server.inbox({ limit: 1 }).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (isRefusal(error)) this.#show({ error });
  }

  #show(part: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof RequestError && (error.status === 401 || error.status === 403);

export const live = new LiveStore();
