// `RunAlarm` wakes the reconciler of a run when a step is due by the clock, and submits the commands that let the rules
// act on it.
import type { RunWriter } from "./run-writer.ts";
import type { SessionRunner } from "./sessions/session-runner.ts";
import type { Deadline } from "../run/schedule.ts";
import type { World } from "../world.ts";

interface RunAlarmOptions {
  writer: RunWriter;
  world: World;
  /** The runners of the sessions that should exist. */
  runners: () => readonly SessionRunner[];
  /** Called before the alarm acts on a deadline. */
  lookAtClock(): void;
  /** Called when the rules have acted. */
  look(): void;
}

/** Without a reason, `abort` creates an exception with a stack trace, which costs more than the timer it cancels. */
const NO_REASON = "the alarm was reset";
/** In milliseconds: the longest delay of a timer. */
const LONGEST_SLEEP = 0x7fffffff;

export class RunAlarm {
  readonly #options: RunAlarmOptions;
  #alarm = new AbortController();
  /** Time of the last `tick` command. */
  tickedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RunAlarmOptions) {
    this.#options = options;
  }

  cancel(): void {
    this.#alarm.abort(NO_REASON);
  }

  /** Sleeps until the first of `deadlines` or until `lookAt`. Replaces the alarm that was set before. */
  set(deadlines: readonly Deadline[], lookAt: number | null): void {
    this.cancel();
    const { world } = this.#options;
    const moments = [...deadlines.map((deadline) => deadline.at), lookAt, this.#idleAt()].filter((at) => at !== null);
    if (moments.length === 0) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    const waitMs = Math.max(0, Math.min(...moments) - world.now()) + 1;
    void world.sleep(Math.min(waitMs, LONGEST_SLEEP), alarm.signal).then(() => {
      if (!alarm.signal.aborted) this.#act(deadlines);
    });
  }

  #act(deadlines: readonly Deadline[]): void {
    const { writer, world, runners } = this.#options;
    this.#options.lookAtClock();
    for (const { sessionId, at } of deadlines) {
      if (at < world.now()) writer.submit({ type: "expired", sessionId }).catch(() => {});
    }
    for (const { sessionId, silentMs, taskId } of runners()) {
      if (taskId !== null) writer.submit({ type: "idle", sessionId, forMs: silentMs }).catch(() => {});
    }
    // Look only after `tick` is stored; until then the same step would be due again and again.
    void this.#tick().then(() => this.#options.look());
  }

  /** `tick` lets the rules act on steps that are due by the clock alone. */
  async #tick(): Promise<void> {
    const { writer, world } = this.#options;
    this.tickedAt = world.now();
    await writer.submit({ type: "tick" }).catch(() => {});
  }

  /** When the worker that is idle for longest reaches `idleTimeout`. */
  #idleAt(): number | null {
    const { writer, world, runners } = this.#options;
    const { idleTimeout } = writer.run.template.config;
    if (idleTimeout === undefined) return null;
    const silent = runners().filter(({ taskId }) => taskId !== null);
    if (silent.length === 0) return null;
    const remaining = Math.min(...silent.map(({ silentMs }) => idleTimeout - silentMs));
    // A worker past its `idleTimeout` is paused or waiting; check it again one period later.
    return world.now() + (remaining > 0 ? remaining : idleTimeout);
  }
}
