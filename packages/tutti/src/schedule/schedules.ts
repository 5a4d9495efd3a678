// `Schedules` starts runs at the due times of cron expressions.
//
// Invariants
// 1. A due time creates at most one run, even if the server is killed at any moment. The run is created under a key of
//    schedule and time before the file marks the time as settled. After a crash in between, `launch` finds that run.
// 2. A due time is settled once: it has a run, or it is skipped with a reason that is stored and published.
// 3. If several due times have passed, only the latest counts.
import { nextDue, latestDue } from "./cron.ts";
import { demandSound, type LiveSettings, type ReportProblem } from "./live-settings.ts";
import type { KnownRun, Launched, RunLauncher } from "./run-launcher.ts";
import type { ScheduleEntry, ScheduleFile } from "./schedule-file.ts";
import { ruleOf, type RunSettings, type ScheduleSettings } from "./settings.ts";
import type { ScheduleView } from "../schema/api/schedule-routes.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { isRunOver } from "../schema/status.ts";
import type { World } from "../world.ts";

interface SchedulesOptions {
  settings: LiveSettings;
  launcher: RunLauncher;
  file: ScheduleFile;
  world: World;
  report: ReportProblem;
}

/** The clock and the settings may change, so a wait is no longer than `MAX_WAIT_MS`. */
const MAX_WAIT_MS = 30_000;
/** A due time that is older than `GRACE_MS` is missed. */
const GRACE_MS = 60_000;
/**
 * An entry with an `after` more than `WRONG_CLOCK_MS` ahead was written by a wrong clock and is reset, so that the
 * schedule does not stay silent until then. A due time that occurs again finds its existing run.
 */
const WRONG_CLOCK_MS = 60_000;
const MISSED = "No run could start at the due time.";

interface DueTime {
  due: number;
  isLate: boolean;
}

const originOf = (name: string) => `schedule/${name}` as const;
const iso = (ms: number): string => new Date(ms).toISOString();

export class Schedules {
  readonly #options: SchedulesOptions;
  /** Maps a schedule to the reason why its last due time is not settled yet. */
  readonly #problems = new Map<string, string>();
  readonly #end = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#loop ??= this.#runLoop();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loop;
    await this.#options.launcher.idle();
  }

  list(): ScheduleView[] {
    const { settings, launcher } = this.#options;
    const { schedules, problem } = settings.read();
    const runs = launcher.byOrigin();
    return Object.entries(schedules).map(([name, schedule]) => ({
      ...this.#view(name, schedule, runs.get(originOf(name)) ?? []),
      ...(problem !== null && { problem }),
    }));
  }

  /** Unlike a due time, `runNow` also starts a disabled schedule. */
  async runNow(name: string): Promise<Launched> {
    const { settings, launcher, world } = this.#options;
    const { schedules, problem } = settings.read();
    const schedule = Object.hasOwn(schedules, name) ? schedules[name]! : null;
    if (!schedule)
      throw new TuttiError("not_found", `Schedule "${name}" does not exist. List schedules with "tutti schedules".`);
    demandSound(problem);
    const launched = await launcher.launch(originOf(name), `now/${world.id(12)}`, schedule);
    await launcher.publish({ type: "schedule:fired", data: { name, due: null, run: launched.run } });
    return launched;
  }

  async #runLoop(): Promise<void> {
    const { launcher, world } = this.#options;
    const { signal } = this.#end;
    await launcher.startCreated();
    while (!signal.aborted) {
      // `#checkAll` fails if a file cannot be read or written. The next check retries.
      const wait = await this.#checkAll().catch(() => MAX_WAIT_MS);
      await world.sleep(wait, signal, true);
    }
  }

  /** Returns the milliseconds until the next check. */
  async #checkAll(): Promise<number> {
    const { settings, file, world } = this.#options;
    const { schedules, problem } = settings.read();
    // Times that become due while the configuration is invalid are missed after `GRACE_MS`.
    if (problem === null) {
      // All schedules share one `now`: the last one must not be late because others were started before it.
      const now = world.now();
      for (const [name, schedule] of Object.entries(schedules)) await this.#tryCheck(name, schedule, now);
      file.keepOnly(new Set(Object.keys(schedules)));
    }
    return this.#msUntilNext();
  }

  /** A schedule that fails for now, for example on a full disk, does not block the others. */
  async #tryCheck(name: string, schedule: ScheduleSettings, now: number): Promise<void> {
    try {
      await this.#check(name, schedule, now);
      this.#problems.delete(name);
    } catch (error) {
      const { message } = asTuttiError(error);
      if (this.#problems.get(name) !== message)
        this.#options.report("schedule failed and will be retried", { schedule: name, reason: message });
      this.#problems.set(name, message);
    }
  }

  async #check(name: string, schedule: ScheduleSettings, now: number): Promise<void> {
    const { file } = this.#options;
    const { cron, timeZone } = ruleOf(schedule);
    const rule = schedule.enabled ? `${cron} ${timeZone}` : "off";
    const entry = file.get(name);
    if (entry?.rule !== rule || entry.after > now + WRONG_CLOCK_MS) {
      const { lastDue = null, lastSkipped = null } = entry ?? {};
      return file.set(name, { rule, after: now, lastDue, lastSkipped });
    }
    const due = schedule.enabled ? latestDue({ cron, timeZone }, now) : null;
    if (due === null || due <= entry.after) return;
    await this.#settle(name, schedule, { due, isLate: now - due > GRACE_MS }, entry);
  }

  async #settle(name: string, schedule: ScheduleSettings, time: DueTime, entry: ScheduleEntry): Promise<void> {
    const { launcher, file, world, report } = this.#options;
    const { due } = time;
    const reason = await this.#fire(name, schedule, time);
    const settled = { ...entry, after: due, lastDue: due };
    if (reason === null) return file.set(name, settled);
    await launcher.publish({ type: "schedule:skipped", data: { name, due, reason } });
    report("due time skipped", { schedule: name, due: iso(due), reason });
    file.set(name, { ...settled, lastSkipped: { due, at: world.now(), reason } });
  }

  /** Returns null if `due` has a run, or else the reason. Throws if a retry may succeed. */
  async #fire(name: string, schedule: ScheduleSettings, { due, isLate }: DueTime): Promise<string | null> {
    const { launcher } = this.#options;
    const origin = originOf(name);
    if (isLate && schedule.missed === "skip" && !launcher.find(origin, iso(due))) return MISSED;
    try {
      const { run } = await launcher.launch(origin, iso(due), schedule);
      // Published again if the server dies before `#settle` writes the file. Both events name the same run.
      await launcher.publish({ type: "schedule:fired", data: { name, due, run } });
      return null;
    } catch (thrown) {
      const error = asTuttiError(thrown);
      if (error.kind.retryable && error.code !== "too_many_runs") throw error;
      return error.message;
    }
  }

  #msUntilNext(): number {
    const { settings, world } = this.#options;
    const now = world.now();
    const next = Object.values(settings.read().schedules).flatMap((schedule) =>
      schedule.enabled ? (nextDue(ruleOf(schedule), now) ?? []) : [],
    );
    return Math.min(MAX_WAIT_MS, ...next.map((due) => due - now));
  }

  #view(name: string, schedule: ScheduleSettings, runs: readonly KnownRun[]): ScheduleView {
    const { file, world } = this.#options;
    const entry = file.get(name);
    const last = runs.at(-1);
    const rule = ruleOf(schedule);
    const next = schedule.enabled ? nextDue(rule, Math.max(world.now(), entry?.after ?? 0)) : null;
    const skipped = entry?.lastSkipped ?? null;
    return {
      name,
      ...rule,
      ...viewOfSettings(schedule, runs),
      missed: schedule.missed,
      problem: this.#problems.get(name) ?? null,
      nextDue: next === null ? null : iso(next),
      lastDue: entry?.lastDue == null ? null : iso(entry.lastDue),
      lastRun: last ? { ...viewOf(last), due: dueOf(last) } : null,
      lastSkipped: skipped && { due: iso(skipped.due), at: iso(skipped.at), reason: skipped.reason },
    };
  }
}

export function viewOfSettings(settings: RunSettings, runs: readonly KnownRun[]) {
  const { template, cwd, enabled, confirm, maxConcurrent } = settings;
  const running = runs.filter(({ status }) => !isRunOver(status)).length;
  return { template, cwd, enabled, confirm, maxConcurrent, running };
}

export const viewOf = ({ id, status, outcome, createdAt }: KnownRun) => ({
  id,
  status,
  outcome,
  createdAt: iso(createdAt),
});

/** The due time is the last part of the run's key. Returns null for a run of `runNow`. */
function dueOf({ idempotency }: KnownRun): string | null {
  const last = idempotency!.key.slice(idempotency!.body.length + 1);
  return last.startsWith("now/") ? null : last;
}
