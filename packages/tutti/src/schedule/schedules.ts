// Runs at the times that cron expressions name.
//
// Invariants
// 1. A due time makes one run at most, also if the server is killed at any moment: the run is made under a key of the
//    schedule and the time, then the time is marked in the file as dealt with; who finds it unmarked looks for the run.
// 2. A due time is dealt with once: it has its run, or it is skipped, with a reason that is stored and told.
// 3. Of several times that have passed unnoticed only the latest counts.
import { nextDue, latestDue } from "./cron.ts";
import { demandSound, type LiveSettings, type Report } from "./live-settings.ts";
import type { KnownRun, Launched, RunLauncher } from "./run-launcher.ts";
import type { ScheduleEntry, ScheduleFile } from "./schedule-file.ts";
import { ruleOf, type ScheduleSettings } from "./settings.ts";
import type { ScheduleView } from "../schema/api/schedule-routes.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { isRunOver } from "../schema/status.ts";
import type { World } from "../world.ts";

export interface SchedulesOptions {
  settings: LiveSettings;
  launcher: RunLauncher;
  file: ScheduleFile;
  world: World;
  report: Report;
}

/** The clock and the settings are looked at this often, whatever is due: both may be changed. */
const LOOK_EVERY_MS = 30_000;
/** Later than this a due time has been missed. */
const GRACE_MS = 60_000;
/**
 * A mark that lies further ahead was made by a clock that was wrong, and must not silence a schedule until then. A due time
 * that comes again finds the run that it has.
 */
const WRONG_CLOCK_MS = 60_000;
const MISSED = "nothing could be started when it was due";

interface DueTime {
  due: number;
  isLate: boolean;
}

const originOf = (name: string) => `schedule/${name}` as const;
const iso = (ms: number): string => new Date(ms).toISOString();

export class Schedules {
  readonly #options: SchedulesOptions;
  /** Why the last due time of a schedule is not dealt with yet. */
  readonly #trouble = new Map<string, string>();
  readonly #end = new AbortController();
  #looking: Promise<void> | null = null;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Acts from now on. */
  begin(): void {
    this.#looking ??= this.#keepLooking();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#looking;
    await this.#options.launcher.idle();
  }

  list(): ScheduleView[] {
    const { settings, launcher } = this.#options;
    const { schedules, problem } = settings.read();
    const runs = launcher.byOrigin();
    return Object.entries(schedules).map(([name, wanted]) => ({
      ...this.#view(name, wanted, runs.get(originOf(name)) ?? []),
      ...(problem !== null && { problem }),
    }));
  }

  /** Makes and starts a run of a schedule now, also of one that is switched off. */
  async runNow(name: string): Promise<Launched> {
    const { settings, launcher, world } = this.#options;
    const { schedules, problem } = settings.read();
    const wanted = Object.hasOwn(schedules, name) ? schedules[name]! : null;
    if (!wanted) throw new TuttiError("not_found", `there is no schedule ${name}`);
    demandSound(problem);
    const launched = await launcher.launch(originOf(name), `now/${world.id(12)}`, wanted);
    await launcher.tell({ type: "schedule:fired", data: { name, due: null, run: launched.run } });
    return launched;
  }

  async #keepLooking(): Promise<void> {
    const { launcher, world } = this.#options;
    const { signal } = this.#end;
    await launcher.startMade();
    while (!signal.aborted) {
      // What could not be read or written now is at the next look.
      const wait = await this.#look().catch(() => LOOK_EVERY_MS);
      await world.sleep(wait, signal, true);
    }
  }

  /** How long it is until the next look. */
  async #look(): Promise<number> {
    const { settings, file, world } = this.#options;
    const { schedules, problem } = settings.read();
    // What becomes due while the configuration cannot be used has been missed, if that lasts.
    if (problem === null) {
      // Judged by one time for all: whoever comes last must not be late because others were started before it.
      const now = world.now();
      for (const [name, wanted] of Object.entries(schedules)) await this.#attempt(name, wanted, now);
      file.keepOnly(new Set(Object.keys(schedules)));
    }
    return this.#untilNext();
  }

  /** One schedule that cannot be dealt with for now, on a full disk for example, holds nobody else up. */
  async #attempt(name: string, wanted: ScheduleSettings, now: number): Promise<void> {
    try {
      await this.#consider(name, wanted, now);
      this.#trouble.delete(name);
    } catch (error) {
      const { message } = asTuttiError(error);
      if (this.#trouble.get(name) !== message)
        this.#options.report("a schedule cannot be followed for now", { schedule: name, reason: message });
      this.#trouble.set(name, message);
    }
  }

  async #consider(name: string, wanted: ScheduleSettings, now: number): Promise<void> {
    const { file } = this.#options;
    const { cron, timeZone } = ruleOf(wanted);
    const rule = wanted.enabled ? `${cron} ${timeZone}` : "off";
    const known = file.get(name);
    if (known?.rule !== rule || known.after > now + WRONG_CLOCK_MS) {
      const { lastDue = null, lastSkipped = null } = known ?? {};
      return file.set(name, { rule, after: now, lastDue, lastSkipped });
    }
    const due = wanted.enabled ? latestDue({ cron, timeZone }, now) : null;
    if (due === null || due <= known.after) return;
    await this.#deal(name, wanted, { due, isLate: now - due > GRACE_MS }, known);
  }

  async #deal(name: string, wanted: ScheduleSettings, time: DueTime, known: ScheduleEntry): Promise<void> {
    const { launcher, file, world, report } = this.#options;
    const { due } = time;
    const reason = await this.#fire(name, wanted, time);
    const entry = { ...known, after: due, lastDue: due };
    if (reason === null) return file.set(name, entry);
    await launcher.tell({ type: "schedule:skipped", data: { name, due, reason } });
    report("a due time was skipped", { schedule: name, due: iso(due), reason });
    file.set(name, { ...entry, lastSkipped: { due, at: world.now(), reason } });
  }

  /** Null if the due time has its run, else why it has none. Throws if that may be different in a moment. */
  async #fire(name: string, wanted: ScheduleSettings, { due, isLate }: DueTime): Promise<string | null> {
    const { launcher } = this.#options;
    const origin = originOf(name);
    if (isLate && wanted.missed === "skip" && !launcher.find(origin, iso(due))) return MISSED;
    try {
      const { run } = await launcher.launch(origin, iso(due), wanted);
      // Told again if the server dies before the mark; the run's id says that it is the same.
      await launcher.tell({ type: "schedule:fired", data: { name, due, run } });
      return null;
    } catch (thrown) {
      const error = asTuttiError(thrown);
      if (error.kind.retryable && error.code !== "too_many_runs") throw error;
      return error.message;
    }
  }

  #untilNext(): number {
    const { settings, world } = this.#options;
    const now = world.now();
    const next = Object.values(settings.read().schedules).flatMap((wanted) =>
      wanted.enabled ? (nextDue(ruleOf(wanted), now) ?? []) : [],
    );
    return Math.min(LOOK_EVERY_MS, ...next.map((due) => due - now));
  }

  #view(name: string, wanted: ScheduleSettings, runs: readonly KnownRun[]): ScheduleView {
    const { file, world } = this.#options;
    const { template, cwd, enabled, confirm, maxConcurrent, missed } = wanted;
    const known = file.get(name);
    const last = runs.at(-1);
    const rule = ruleOf(wanted);
    const next = enabled ? nextDue(rule, Math.max(world.now(), known?.after ?? 0)) : null;
    const skipped = known?.lastSkipped ?? null;
    return {
      name,
      ...rule,
      template,
      cwd,
      enabled,
      confirm,
      maxConcurrent,
      missed,
      running: runs.filter(({ status }) => !isRunOver(status)).length,
      problem: this.#trouble.get(name) ?? null,
      nextDue: next === null ? null : iso(next),
      lastDue: known?.lastDue == null ? null : iso(known.lastDue),
      lastRun: last ? { ...viewOf(last), due: dueOf(last) } : null,
      lastSkipped: skipped && { due: iso(skipped.due), at: iso(skipped.at), reason: skipped.reason },
    };
  }
}

export const viewOf = ({ id, status, outcome, createdAt }: KnownRun) => ({
  id,
  status,
  outcome,
  createdAt: iso(createdAt),
});

/** The due time is the last part of the run's key. */
function dueOf({ idempotency }: KnownRun): string | null {
  const last = idempotency!.key.slice(idempotency!.body.length + 1);
  return last.startsWith("now/") ? null : last;
}
