// `runWorker` serves as a worker host: it takes attempts that fit it, holds them by renewing its lease, and gives them
// up when it drains.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HeldAttempt, type HeldAttemptOptions } from "./held-attempt.ts";
import { HostLink, type Beat, type HostFacts, type TakenAttempt } from "./host-link.ts";
import { HOST_CHANNEL } from "./host-tables.ts";
import { HostTraffic } from "./host-traffic.ts";
import { listen } from "./listen.ts";
import { removeFile, replaceDurably } from "../durable-file.ts";
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

/** Resolves after `drain`. Throws `host_removed`. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = new Worker(options);
  await worker.run();
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #link: HostLink;
  readonly #traffic: HostTraffic;
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

  constructor(options: WorkerOptions) {
    this.#options = options;
    mkdirSync(this.#heldFolder, { recursive: true, mode: 0o700 });
    this.#link = new HostLink(options.database, readId(options.folder), options.world);
    this.#traffic = new HostTraffic(this.#link);
  }

  get #heldFolder(): string {
    return join(this.#options.folder, "held");
  }

  async run(): Promise<void> {
    const { database, world, facts, drain } = this.#options;
    const known = this.#readHeld();
    const joined = await this.#link.join(
      facts,
      known.map(({ key }) => key),
    );
    this.#id = joined.id;
    const { signal } = this.#ended;
    const notified = (keys: string) => {
      if (keys === "") this.#wake.abort();
      else for (const key of keys.split("\n")) this.#traffic.wake(key);
    };
    const channels = { [`${HOST_CHANNEL}${this.#id}`]: notified };
    const listening = listen(database, channels, { world, signal });
    const onDrain = () => this.#wake.abort();
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
      if (room <= 0) return;
      const { attempts, more } = await this.#traffic.take(room);
      for (const attempt of attempts) {
        this.#options.report(`takes ${attempt.key}`);
        this.#record(attempt);
        this.#takenAt.set(attempt.key, this.#options.world.mono());
        this.#hold(attempt, 0);
      }
      isMore = more;
    }
  }

  /** Without a session at least one may start, because waiting would not raise `memoryRoom`. */
  #room(): number {
    const { facts, memoryRoom, world } = this.#options;
    const { size } = this.#held;
    const young = [...this.#takenAt.values()].filter((at) => world.mono() - at < YOUNG_MS).length;
    return Math.min(facts.capacity - size, Math.max(size === 0 ? 1 : 0, memoryRoom() - young));
  }

  /** Not synced to disk: no session survives a power failure, so there is nothing to adopt after one. */
  #record(taken: TakenAttempt): void {
    const file = this.#fileOf(taken.key);
    writeFileSync(`${file}.new`, JSON.stringify(taken), { mode: 0o600 });
    renameSync(`${file}.new`, file);
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

  #readHeld(): TakenAttempt[] {
    const names = readdirSync(this.#heldFolder).filter((each) => each.endsWith(".json"));
    return names.flatMap((name) => readTaken(join(this.#heldFolder, name)) ?? []);
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
        this.#wake.abort();
      },
    });
    this.#held.set(taken.key, attempt);
  }

  #forget(key: string): void {
    this.#held.delete(key);
    this.#takenAt.delete(key);
    removeFile(this.#fileOf(key));
  }

  #fileOf(key: string): string {
    return join(this.#heldFolder, `${createHash("sha256").update(key).digest("hex").slice(0, 20)}.json`);
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

/** Returns null for a file that a power failure has emptied. The host then gives the attempt up when it joins. */
function readTaken(file: string): TakenAttempt | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as TakenAttempt;
  } catch {
    removeFile(file);
    return null;
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
