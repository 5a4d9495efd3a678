// `runWorker` serves as a worker host: it takes attempts that fit it, holds them by renewing its lease, and gives them
// up when it drains.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HeldAttempt, type HeldAttemptOptions } from "./held-attempt.ts";
import { HeldRecords } from "./held-records.ts";
import { HostLink, type Beat, type HostFacts, type TakenAttempt } from "./host-link.ts";
import { HOST_CHANNEL } from "./host-tables.ts";
import { HostTraffic } from "./host-traffic.ts";
import { listen } from "./listen.ts";
import { replaceDurably } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";
import type { Database } from "../store/postgres/database.ts";
import type { World } from "../world.ts";

interface WorkerOptions extends Pick<
  HeldAttemptOptions,
  "sessions" | "workspaces" | "checks" | "exchange" | "repository"
> {
  database: Database;
  /** Belongs to this host alone. */
  folder: string;
  facts: HostFacts;
  world: World;
  graceMs: number;
  /** How many sessions the free memory allows. */
  memoryRoom: () => number;
  drain: AbortSignal;
  onJoined(host: { id: string; name: string }): void;
  report(line: string): void;
}

const POLL_MS = 1000;
/** `BEATS` is the number of beats per lease. */
const BEATS = 4;
/** At most `MAX_BEAT_MS` pass until a host learns that it has lost an attempt. */
const MAX_BEAT_MS = 5000;
/** A session younger than `YOUNG_MS` has not yet allocated the memory that it will need. */
const YOUNG_MS = 20_000;
/** Without a reason, `abort` creates an exception with a stack trace. */
const WOKEN = "there may be work";

/** Resolves after `drain`. Throws `host_removed`. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = new Worker(options);
  await worker.run();
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #link: HostLink;
  readonly #traffic: HostTraffic;
  readonly #records: HeldRecords;
  readonly #held = new Map<string, HeldAttempt>();
  readonly #takenAt = new Map<string, number>();
  readonly #ended = new AbortController();
  readonly #setAside = new Set<Promise<void>>();
  #wake = new AbortController();
  #id = "";
  #beatAt = 0;
  #polledAt = 0;
  #leaseMs = POLL_MS * BEATS;
  #isDrained = false;
  /** Whether work may have been left for which there was no room. Otherwise the end of an attempt is no reason to look. */
  #leftWork = true;

  constructor(options: WorkerOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#records = new HeldRecords(options.folder);
    this.#link = new HostLink(options.database, readId(options.folder), options.world);
    this.#traffic = new HostTraffic(this.#link);
  }

  async run(): Promise<void> {
    const { database, world, facts, drain } = this.#options;
    const known = this.#records.attempts;
    const joined = await this.#link.join(
      facts,
      known.map(({ key }) => key),
    );
    this.#id = joined.id;
    const { signal } = this.#ended;
    const notified = (keys: string) => {
      if (keys === "") this.#wake.abort(WOKEN);
      else for (const key of keys.split("\n")) this.#traffic.wake(key);
    };
    const channels = { [`${HOST_CHANNEL}${this.#id}`]: notified };
    const listening = listen(database, channels, { world, signal });
    const onDrain = () => this.#wake.abort(WOKEN);
    drain.addEventListener("abort", onDrain);
    try {
      await this.#adopt(known, await this.#beat());
      this.#options.onJoined(joined);
      while (!drain.aborted) await this.#step();
      await this.#finish();
    } catch (error) {
      // A host that was removed keeps its work (`abandon`) and reports nothing more.
      if (error instanceof TuttiError && error.code === "host_removed")
        await Promise.allSettled([...this.#held.values()].map((attempt) => attempt.abandon(null)));
      throw error;
    } finally {
      drain.removeEventListener("abort", onDrain);
      this.#ended.abort();
      this.#link.close();
      await Promise.allSettled([...this.#setAside, ...[...this.#held.values()].map((attempt) => attempt.leave())]);
      await listening;
    }
  }

  async #step(): Promise<void> {
    this.#wake = new AbortController();
    await this.#keepLease();
    if (!this.#isDrained && !this.#options.drain.aborted) await this.#take();
    if (!this.#options.drain.aborted) await this.#pause();
  }

  async #take(): Promise<void> {
    for (let isMore = true; isMore;) {
      const room = this.#room();
      if (room <= 0) {
        this.#leftWork = true;
        return;
      }
      const { attempts, more } = await this.#traffic.take(room);
      if (attempts.length > 0) this.#records.add(attempts);
      for (const attempt of attempts) {
        this.#options.report(`takes ${attempt.key}`);
        this.#takenAt.set(attempt.key, this.#options.world.mono());
        this.#hold(attempt, 0);
      }
      // A host without room is not notified of new work.
      this.#leftWork = more || this.#room() <= 0;
      isMore = more && attempts.length > 0;
    }
  }

  /** Without a session at least one may start, because waiting would not raise `memoryRoom`. */
  #room(): number {
    const { facts, memoryRoom, world } = this.#options;
    const { size } = this.#held;
    const young = [...this.#takenAt.values()].filter((at) => world.mono() - at < YOUNG_MS).length;
    return Math.min(facts.capacity - size, Math.max(size === 0 ? 1 : 0, memoryRoom() - young));
  }

  async #pause(): Promise<void> {
    const { world } = this.#options;
    await world.sleep(Math.min(POLL_MS, this.#leaseMs / BEATS), this.#wake.signal);
    const now = world.mono();
    if (now - this.#polledAt < POLL_MS) return;
    this.#polledAt = now;
    this.#traffic.wakeAll();
  }

  /** Renews the lease when it is due, and abandons attempts that the `Beat` no longer lists. */
  async #keepLease(): Promise<void> {
    if (this.#options.world.mono() - this.#beatAt < Math.min(this.#leaseMs / BEATS, MAX_BEAT_MS)) return;
    const { held } = await this.#beat();
    for (const [key, attempt] of this.#held) {
      if (key in held) continue;
      this.#options.report(`sets ${key} aside, because it was given to another host`);
      this.#forget(key);
      // Not awaited: a slow push must not cost the lease of the other attempts.
      const kept = attempt.abandon(null).finally(() => this.#setAside.delete(kept));
      this.#setAside.add(kept);
    }
  }

  async #beat(): Promise<Beat> {
    const beat = await this.#link.beat(this.#options.drain.aborted);
    this.#beatAt = this.#options.world.mono();
    this.#leaseMs = beat.leaseMs;
    this.#isDrained = beat.drained;
    return beat;
  }

  /** Continues the attempts of the process before, and ends the sessions of those that the `Beat` does not list. */
  async #adopt(known: readonly TakenAttempt[], { held }: Beat): Promise<void> {
    for (const taken of known) {
      const reported = held[taken.key];
      if (reported !== undefined) {
        this.#hold(taken, reported);
        continue;
      }
      await this.#options.sessions.end(taken.run, taken.session);
      this.#forget(taken.key);
    }
  }

  #hold(taken: TakenAttempt, reported: number): void {
    const { sessions, workspaces, checks, exchange, repository, world, folder } = this.#options;
    const attempt = new HeldAttempt({
      link: this.#link,
      traffic: this.#traffic,
      taken,
      reported,
      sessions,
      workspaces,
      checks,
      exchange,
      repository,
      world,
      clones: join(folder, "clones"),
      onOver: () => {
        this.#forget(taken.key);
        if (this.#leftWork || this.#options.drain.aborted) this.#wake.abort(WOKEN);
      },
    });
    this.#held.set(taken.key, attempt);
  }

  #forget(key: string): void {
    this.#held.delete(key);
    this.#takenAt.delete(key);
    this.#records.remove(key);
  }

  /** Lets the sessions finish, and interrupts those that take longer than `graceMs`. */
  async #finish(): Promise<void> {
    const { world, graceMs } = this.#options;
    await this.#beat();
    const since = world.mono();
    while (this.#held.size > 0 && world.mono() - since < graceMs) {
      this.#wake = new AbortController();
      await this.#pause();
      await this.#keepLease();
    }
    await Promise.all([...this.#held.values()].map((attempt) => attempt.abandon("its host was drained")));
  }
}

/** The id stays the same over restarts. It names a host without a login of its own. */
function readId(folder: string): string {
  const file = join(folder, "host.json");
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { id: string }).id;
  } catch {
    const id = `host_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
    replaceDurably(file, JSON.stringify({ id }), 0o600);
    return id;
  }
}
