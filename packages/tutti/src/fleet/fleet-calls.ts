// `FleetCalls` is the traffic of a server with the hosts of its attempts: it stores requests, and reads replies and
// signals.
//
// Invariants
// 1. Requests are stored by one transaction at a time, so a host that reads them by their numbers misses none.
// 2. A request locks its attempt. So the host that takes the attempt at the same time either reads the request or is
//    notified of it.
// 3. One statement reads the state, the replies and the signals of all attempts with news. So all signals of an attempt
//    that is over are seen.
import { z } from "zod";
import { SIGNAL_PAGE, SIGNAL_PAGE_BYTES } from "./host-tables.ts";
import { QueryBatch } from "./query-batch.ts";
import { asTuttiError, ERRORS, TuttiError, type ErrorCode } from "../schema/error.ts";
import { textArray, type SqlPool } from "../store/postgres/sql-client.ts";

export type Reply = { ok: unknown } | { error: { code: ErrorCode; message: string; details?: unknown } };

interface HostCall {
  key: string;
  name: string;
  body: string;
}

interface StoredCall {
  n: number;
  key: string;
  name: string;
  reply: string | null;
  state: string;
  reason: string | null;
  /** Whether the host has removed the workspace. It reads no more requests then. */
  isRemoved: boolean;
}

interface OpenCall {
  n: number;
  resolve: (reply: Reply) => void;
  reject: (error: unknown) => void;
}

export interface SignalPage {
  rows: { at: number; body: string }[];
  /** Whether the page has all signals that were stored. */
  isLast: boolean;
  /** The reason if the attempt is over. */
  over: string | null;
}

export interface SignalReader {
  /** Resolves to the next signals. The first page may be empty. Resolves to null when `signal` is aborted. */
  next(signal: AbortSignal): Promise<SignalPage | null>;
  end(): void;
}

interface Follower {
  isNew: boolean;
  /** Whether no page was the last one since then, so that an empty one counts. */
  isBehind: boolean;
  after: number;
  receive: (page: SignalPage) => void;
  fail: (error: TuttiError) => void;
}

/** The part of an attempt that this server waits for. */
interface AwaitedAttempt {
  /** The number of requests that are being stored. */
  unstored: number;
  /** Whether a report came meanwhile, which may be the reply. */
  isNoticed: boolean;
  calls: Set<OpenCall>;
  follower: Follower | null;
}

interface NewsRow {
  key: string;
  /** An attempt that is over, or was removed, has a row with the reason. */
  kind: "over" | "reply" | "signal";
  n: number | null;
  body: string | null;
}

interface FleetCallsOptions {
  pool: SqlPool;
  /** Repeats `work` until the database can be reached. Throws after the server has left. */
  query<T>(work: () => Promise<T>): Promise<T>;
}

export class FleetCalls {
  readonly #options: FleetCallsOptions;
  readonly #awaited = new Map<string, AwaitedAttempt>();
  readonly #requests = new QueryBatch<HostCall, StoredCall | null>((calls) => this.#store(calls));
  #due = new Set<string>();
  #isReading = false;
  #failure: TuttiError | null = null;

  constructor(options: FleetCallsOptions) {
    this.#options = options;
  }

  /** A repeated `name` returns the first reply. Throws `host_lost` if the attempt is over. */
  async call(key: string, name: string, body: object): Promise<unknown> {
    const awaited = this.#await(key);
    awaited.unstored += 1;
    try {
      const request = this.#requests.add({ key, name, body: JSON.stringify(body) });
      const stored = await request.finally(() => (awaited.unstored -= 1));
      if (stored === null) throw hostLost(null);
      if (stored.reply !== null) return decodeReply(readReply(stored.reply));
      if (stored.state === "over") throw hostLost(stored.reason);
      if (stored.isRemoved) throw hostLost("its host has removed it");
      if (this.#failure) throw this.#failure;
      const { promise, resolve, reject } = Promise.withResolvers<Reply>();
      awaited.calls.add({ n: stored.n, resolve, reject });
      if (awaited.isNoticed) this.noticed(key);
      return decodeReply(await promise);
    } finally {
      this.#settle(key);
    }
  }

  async #store(calls: readonly HostCall[]): Promise<(StoredCall | null)[]> {
    // PostgreSQL rejects an `ON CONFLICT` statement that has the same row twice.
    const named = new Map(calls.map((call) => [nameOf(call), call]));
    const column = (name: keyof HostCall) => [...named.values()].map((call) => call[name]);
    const { rows } = await this.#options.query(() =>
      this.#options.pool.query<StoredCall>({
        name: "tutti requests",
        text: `SELECT * FROM tutti_hosts.store_requests($1, $2, ${textArray(3)})`,
        values: [column("key"), column("name"), JSON.stringify(column("body"))],
      }),
    );
    const stored = new Map(rows.map((row) => [nameOf(row), row]));
    return calls.map((call) => stored.get(nameOf(call)) ?? null);
  }

  #await(key: string): AwaitedAttempt {
    const awaited = this.#awaited.get(key) ?? {
      unstored: 0,
      isNoticed: false,
      calls: new Set(),
      follower: null,
    };
    this.#awaited.set(key, awaited);
    return awaited;
  }

  #settle(key: string): void {
    const awaited = this.#awaited.get(key);
    if (!awaited) return;
    awaited.isNoticed &&= awaited.unstored > 0;
    if (awaited.unstored + awaited.calls.size === 0 && awaited.follower === null) this.#awaited.delete(key);
  }

  /** Reads the signals of the attempt from the first one, with its replies or as soon as `next` is called. */
  follow(key: string): SignalReader {
    const pages: SignalPage[] = [];
    let failure: TuttiError | null = this.#failure;
    let wake = (): void => {};
    const follower: Follower = {
      isNew: true,
      isBehind: true,
      after: 0,
      receive(page) {
        pages.push(page);
        wake();
      },
      fail(error) {
        failure = error;
        wake();
      },
    };
    this.#await(key).follower = follower;
    return {
      next: async (signal) => {
        // The first page may have come with a reply.
        if (follower.isNew) this.noticed(key);
        while (!signal.aborted) {
          const page = pages.shift();
          if (page) return page;
          if (failure) throw failure;
          await new Promise<void>((resolve) => {
            wake = resolve;
            signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
        return null;
      },
      end: () => {
        const awaited = this.#awaited.get(key);
        if (awaited?.follower === follower) awaited.follower = null;
        this.#settle(key);
      },
    };
  }

  /** Called when attempts have a new report or a new state. */
  noticed(...keys: readonly string[]): void {
    for (const key of keys) {
      const awaited = this.#awaited.get(key);
      if (!awaited) continue;
      awaited.isNoticed = awaited.unstored > 0;
      this.#due.add(key);
    }
    this.#read();
  }

  /** Notifications can be missed, so everything that is awaited is read once in a while. */
  readAll(): void {
    for (const key of this.#awaited.keys()) this.#due.add(key);
    this.#read();
  }

  /** Fails everything that is awaited with `error`. */
  end(error: TuttiError): void {
    this.#failure = error;
    for (const { calls, follower } of this.#awaited.values()) {
      for (const { reject } of calls) reject(error);
      follower?.fail(error);
    }
    this.#awaited.clear();
  }

  #read(): void {
    if (this.#isReading || this.#due.size === 0) return;
    this.#isReading = true;
    void this.#readDue().finally(() => {
      this.#isReading = false;
      this.#read();
    });
  }

  async #readDue(): Promise<void> {
    // Notifications that arrive together share one statement.
    await new Promise((resolve) => setImmediate(resolve));
    const due = [...this.#due].filter((key) => this.#awaited.has(key));
    this.#due = new Set();
    if (due.length === 0) return;
    try {
      const news = Map.groupBy(await this.#news(due), (row) => row.key);
      for (const key of due) this.#receive(key, news.get(key) ?? []);
    } catch (error) {
      // The server has left, or the attempts are read again by `readAll`.
      if (this.#failure) return;
      for (const key of due) this.#fail(key, asTuttiError(error));
    }
  }

  async #news(due: readonly string[]): Promise<NewsRow[]> {
    const awaited = due.map((key) => this.#awaited.get(key)!);
    const calls = awaited.flatMap((each) => [...each.calls].map(({ n }) => n));
    const followed = due.filter((_, i) => awaited[i]!.follower !== null);
    const after = followed.map((key) => this.#awaited.get(key)!.follower!.after);
    const { rows } = await this.#options.query(() =>
      this.#options.pool.query<NewsRow>({
        name: "tutti news",
        text: "SELECT * FROM tutti_hosts.news($1, $2, $3, $4)",
        values: [due, calls, followed, after],
      }),
    );
    return rows;
  }

  #receive(key: string, news: readonly NewsRow[]): void {
    const awaited = this.#awaited.get(key);
    if (!awaited) return;
    const over = news.find(({ kind }) => kind === "over");
    const replies = new Map(news.flatMap(({ kind, n, body }) => (kind === "reply" ? [[n!, body!]] : [])));
    for (const call of awaited.calls) {
      const reply = replies.get(call.n);
      if (reply === undefined && !over) continue;
      awaited.calls.delete(call);
      if (reply === undefined) call.reject(hostLost(over!.body));
      else call.resolve(readReply(reply));
    }
    const { follower } = awaited;
    const rows = news.flatMap(({ kind, n, body }) => (kind === "signal" ? [{ at: n!, body: body! }] : []));
    if (follower) this.#page(key, follower, rows, over ? (over.body ?? "its session was removed") : null);
    this.#settle(key);
  }

  #page(key: string, follower: Follower, rows: SignalPage["rows"], over: string | null): void {
    rows.sort((a, b) => a.at - b.at);
    follower.after = rows.at(-1)?.at ?? follower.after;
    const bytes = rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    const isLast = rows.length < SIGNAL_PAGE && bytes < SIGNAL_PAGE_BYTES;
    if (!isLast) this.#due.add(key);
    if (follower.isBehind || rows.length > 0 || over !== null) follower.receive({ rows, isLast, over });
    follower.isNew = false;
    follower.isBehind = !isLast;
  }

  #fail(key: string, error: TuttiError): void {
    const awaited = this.#awaited.get(key);
    for (const call of awaited?.calls ?? []) call.reject(error);
    awaited?.calls.clear();
    awaited?.follower?.fail(error);
    this.#settle(key);
  }
}

const nameOf = ({ key, name }: { key: string; name: string }): string => `${key}\n${name}`;

const ReplyForm = z.union([
  z.object({ ok: z.unknown() }).refine((reply) => Object.hasOwn(reply, "ok")),
  z.object({
    error: z.object({
      code: z.enum(Object.keys(ERRORS) as [ErrorCode]),
      message: z.string(),
      details: z.unknown().optional(),
    }),
  }),
]);

/** A host is another machine, so its reply may have any form. Never throws: other replies are read together with it. */
function readReply(text: string): Reply {
  try {
    return ReplyForm.parse(JSON.parse(text));
  } catch {
    const message = "The reply of the host cannot be read. Install the same version of Tutti on the host.";
    return { error: { code: "host_lost", message } };
  }
}

function decodeReply(reply: Reply): unknown {
  if ("ok" in reply) return reply.ok;
  const { code, message, details } = reply.error;
  throw new TuttiError(code, message, { details });
}

const hostLost = (reason: string | null): TuttiError =>
  new TuttiError("host_lost", reason ?? "The host of the session was lost.");
