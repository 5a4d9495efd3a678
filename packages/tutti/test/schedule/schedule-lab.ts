// Test fixture: schedules on a virtual clock. A list of runs replaces the engine behind the interface `Runs`, so that weeks
// pass in moments. real-engine.test.ts covers the same calls with the real engine.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { openAutomation, type OpenAutomation } from "../../src/schedule/automation.ts";
import type { KnownRun, LaunchedRuns } from "../../src/schedule/run-launcher.ts";
import { ScheduleSettings, TriggerSettings, type Automation } from "../../src/schedule/settings.ts";
import type { ServerEvent } from "../../src/schema/event.ts";
import type { World } from "../../src/world.ts";

export class VirtualWorld implements World {
  #now: number;
  #ids = 0;
  readonly #sleepers = new Set<{ at: number; wake: () => void }>();

  constructor(start: string) {
    this.#now = Date.parse(start);
  }

  now = (): number => this.#now;
  mono = (): number => this.#now;
  id = (length: number): string => String(++this.#ids).padStart(length, "0");

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      if (signal?.aborted) return resolve();
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
    });

  /** Advances the clock and wakes each sleeper at its time. */
  async until(moment: string): Promise<void> {
    const end = Date.parse(moment);
    for (;;) {
      await breathe();
      const [next] = [...this.#sleepers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#sleepers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    this.#now = end;
  }

  /** Sets the clock without waking any sleeper. */
  set(moment: string): void {
    const shift = Date.parse(moment) - this.#now;
    this.#now += shift;
    for (const sleeper of this.#sleepers) sleeper.at += shift;
  }
}

/** A fake of the engine's runs. */
export class ListedRuns implements LaunchedRuns {
  readonly #world: World;
  readonly list: (KnownRun & { request: Parameters<LaunchedRuns["create"]>[0] })[] = [];
  readonly told: ServerEvent[] = [];
  /** Errors for the next calls. */
  createFails: Error | null = null;
  createTakesMs = 0;
  startFails: Error | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  async create(request: Parameters<LaunchedRuns["create"]>[0]): Promise<KnownRun> {
    if (this.createTakesMs > 0) await this.#world.sleep(this.createTakesMs);
    if (this.createFails) throw this.createFails;
    const id = `orch_${this.list.length + 1}`;
    const { idempotency } = request;
    this.list.push({ id, status: "created", outcome: null, idempotency, createdAt: this.#world.now(), request });
    return this.list.at(-1)!;
  }

  async order(id: string, name: "start" | "cancel"): Promise<KnownRun> {
    if (name === "cancel") return this.#turn(id, "cancelled");
    if (this.startFails) throw this.startFails;
    return this.#turn(id, "analyzing");
  }

  async append(...events: ServerEvent[]): Promise<void> {
    this.told.push(...events);
  }

  summaries = () => this.list;

  end(): void {
    for (const { id } of this.list) this.#turn(id, "completed");
  }

  /** Creation times of the runs. */
  get times(): string[] {
    return this.list.map(({ createdAt }) => new Date(createdAt).toISOString().slice(0, 16));
  }

  #turn(id: string, status: KnownRun["status"]): KnownRun {
    const run = this.list.find((each) => each.id === id)!;
    run.status = status;
    return run;
  }
}

export const SECRET = "a secret of enough characters";

export class ScheduleLab {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-schedules-"));
  readonly world: VirtualWorld;
  readonly runs: ListedRuns;
  config: { schedules?: Record<string, object>; triggers?: Record<string, object> } = {};
  /** The error of an invalid configuration. */
  broken: Error | null = null;
  /** Messages that were passed to `report`. */
  readonly reported: string[] = [];
  automation!: OpenAutomation;

  constructor(now: string) {
    this.world = new VirtualWorld(now);
    this.runs = new ListedRuns(this.world);
  }

  /** Starts a server on the folder. */
  open(): OpenAutomation {
    this.automation = openAutomation({
      runs: this.runs,
      read: () => this.#read(),
      file: join(this.folder, "schedules.json"),
      world: this.world,
      env: { TRIGGER_SECRET: SECRET, SHORT_SECRET: "short" },
      report: (message) => this.reported.push(message),
    });
    return this.automation;
  }

  async begin(): Promise<void> {
    this.open().schedules.begin();
    await breathe();
  }

  stop(): Promise<void> {
    return this.automation.schedules.stop();
  }

  schedule(name = "nightly") {
    return this.automation.schedules.list().find((each) => each.name === name);
  }

  async tearDown(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }

  #parsed: { config: object; automation: Automation } | null = null;

  #read(): Automation {
    if (this.broken) throw this.broken;
    if (this.#parsed?.config !== this.config) this.#parsed = { config: this.config, automation: this.#parse() };
    return this.#parsed.automation;
  }

  #parse(): Automation {
    const { schedules = {}, triggers = {} } = this.config;
    const each = <T>(all: Record<string, object>, parse: (value: object) => T) =>
      Object.fromEntries(Object.entries(all).map(([name, value]) => [name, parse(value)]));
    return {
      schedules: each(schedules, (value) => ScheduleSettings.parse({ ...RUN, timeZone: "UTC", ...value })),
      triggers: each(triggers, (value) => TriggerSettings.parse({ ...RUN, secretEnv: "TRIGGER_SECRET", ...value })),
    };
  }
}

const RUN = { template: "documentation", cwd: "/project", message: "write it down" };
