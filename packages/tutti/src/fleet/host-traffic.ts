// `HostTraffic` is the traffic of a host with the database about the attempts that it holds: it reads requests, stores
// replies and reports, and takes new attempts.
//
// Invariants
// 1. One call of `host_sync` is under way at a time, and everything that comes up meanwhile shares the next one. So the
//    load of a host on the database does not grow with its sessions.
// 2. Replies, signals and entries of an attempt are stored in the order in which they were given.
import type { HostLink, HostReport, TakenAttempt } from "./host-link.ts";
import type { HostRequest } from "./host-request.ts";
import { REQUEST_PAGE } from "./host-tables.ts";
import { TuttiError } from "../schema/error.ts";

export interface ReceivedRequest {
  n: number;
  request: HostRequest;
  /** Whether the request has a reply. */
  done: boolean;
}

type Receive = (requests: readonly ReceivedRequest[]) => void;

interface Correspondent {
  taken: TakenAttempt;
  /** The number of the last request that was read. */
  after: number;
  receive: Receive;
}

/** Something to store about one attempt. */
interface News {
  taken: TakenAttempt;
  reply?: { n: number; reply: string };
  signals?: readonly { at: number; body: string }[];
  entries?: readonly { n: number; body: string }[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface TakenWork {
  attempts: TakenAttempt[];
  /** Whether work that fits the host is left. */
  more: boolean;
}

interface Taking {
  room: number;
  resolve: (taken: TakenWork) => void;
  reject: (error: unknown) => void;
}

/** Limits the news that share one call, in characters, so that a large reply does not delay all others. */
const MAX_CHARACTERS = 1_000_000;

export class HostTraffic {
  readonly #link: HostLink;
  readonly #correspondents = new Map<string, Correspondent>();
  /** Requests of attempts that were just taken, which `add` passes on. */
  readonly #early = new Map<string, ReceivedRequest[]>();
  #due = new Set<string>();
  #news: News[] = [];
  #taking: Taking | null = null;
  #isBusy = false;

  constructor(link: HostLink) {
    this.#link = link;
  }

  /** From now on, `receive` is called with the requests of the attempt in their order. */
  add(taken: TakenAttempt, receive: Receive): void {
    const early = this.#early.get(taken.key) ?? [];
    this.#early.delete(taken.key);
    this.#correspondents.set(taken.key, { taken, after: early.at(-1)?.n ?? 0, receive });
    if (early.length > 0) receive(early);
    else this.wake(taken.key);
  }

  remove(key: string): void {
    this.#correspondents.delete(key);
  }

  /** Called when the attempt has a new request. */
  wake(key: string): void {
    this.#due.add(key);
    this.#start();
  }

  /** Notifications can be missed, so all requests are read once in a while. */
  wakeAll(): void {
    for (const key of this.#correspondents.keys()) this.wake(key);
  }

  /** Takes up to `room` new attempts. The caller adds them. */
  take(room: number): Promise<TakenWork> {
    const { promise, resolve, reject } = Promise.withResolvers<TakenWork>();
    this.#taking = { room, resolve, reject };
    this.#start();
    return promise;
  }

  /** Resolves when the news are stored, or if the host no longer holds the attempt. */
  send(taken: TakenAttempt, news: Pick<News, "reply" | "signals" | "entries">): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#news.push({ taken, ...news, resolve, reject });
    this.#start();
    return promise;
  }

  #start(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    try {
      // All sessions that report in one turn of the event loop share the call.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#due.size > 0 || this.#news.length > 0 || this.#taking) await this.#sync();
    } finally {
      // In the same step as the last look at what is due, so that nothing can come up in between.
      this.#isBusy = false;
    }
  }

  async #sync(): Promise<void> {
    // `host_sync` takes attempts only in a call without news.
    const taking = this.#taking;
    const news = taking ? [] : this.#takeNews();
    const due = this.#due;
    this.#due = new Set();
    this.#taking = null;
    const reports = this.#reports(news, due);
    try {
      const known = [...this.#correspondents.keys()];
      const { taken, more, requests } = await this.#link.sync(reports, taking?.room ?? 0, known);
      this.#pass(requests);
      for (const { resolve } of news) resolve();
      taking?.resolve({ attempts: taken, more });
    } catch (error) {
      for (const { reject } of news) reject(error);
      taking?.reject(error);
      // The requests are read again by `wakeAll`.
      if (!(error instanceof TuttiError)) throw error;
    }
  }

  #takeNews(): News[] {
    let size = 0;
    const end = this.#news.findIndex(({ reply, signals = [] }, i) => {
      size += (reply?.reply.length ?? 0) + signals.reduce((sum, { body }) => sum + body.length, 0);
      return i > 0 && size > MAX_CHARACTERS;
    });
    return this.#news.splice(0, end === -1 ? this.#news.length : end);
  }

  #reports(news: readonly News[], due: ReadonlySet<string>): HostReport[] {
    const reports = new Map<string, HostReport>();
    const reportOf = ({ key, token }: TakenAttempt): HostReport => {
      const after = this.#correspondents.get(key)?.after ?? Number.MAX_SAFE_INTEGER;
      const report = reports.get(key) ?? { key, token, after };
      reports.set(key, report);
      return report;
    };
    for (const { taken, reply, signals = [], entries = [] } of news) {
      const report = reportOf(taken);
      report.hasNews = true;
      if (reply) (report.replies ??= []).push(reply);
      (report.signals ??= []).push(...signals);
      // PostgreSQL rejects an `ON CONFLICT` statement that has the same entry twice, so only the newest version is stored.
      const replaced = new Set(entries.map(({ n }) => n));
      report.entries = [...(report.entries ?? []).filter(({ n }) => !replaced.has(n)), ...entries];
    }
    for (const key of due) {
      const correspondent = this.#correspondents.get(key);
      if (correspondent) reportOf(correspondent.taken);
    }
    return [...reports.values()];
  }

  #pass(requests: readonly (ReceivedRequest & { key: string })[]): void {
    for (const [key, those] of Map.groupBy(requests, (each) => each.key)) {
      const correspondent = this.#correspondents.get(key);
      if (!correspondent) {
        this.#early.set(key, those);
        continue;
      }
      correspondent.after = those.at(-1)!.n;
      correspondent.receive(those);
      if (those.length === REQUEST_PAGE) this.#due.add(key);
    }
  }
}
