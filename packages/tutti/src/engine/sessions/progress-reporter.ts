// `ProgressReporter` publishes `worker:progress` and `orchestrator:progress` at a limited rate, but always the last
// one. The rules ignore these events.
import type { TurnRecord } from "./turn-record.ts";
import type { RecordedEvent } from "../../run/command.ts";
import type { ProgressAnswer } from "../../schema/answer.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";
import type { World } from "../../world.ts";

/**
 * `INTERVAL_MS` is the least time between two events, `REPORT_INTERVAL_MS` the one for progress that the agent reports
 * itself.
 */
const INTERVAL_MS = 1000;
const REPORT_INTERVAL_MS = 100;
/** `MAX_CHARACTERS` limits each text of the agent in a progress event. */
export const MAX_CHARACTERS = 400;

export interface Watched {
  run: Run;
  /** Null for the main session. */
  worker: Worker | null;
  record: TurnRecord;
  /** The agent's last `ProgressAnswer`. */
  progress: ProgressAnswer | null;
}

interface ProgressReporterOptions {
  world: World;
  /**
   * Returns the current state, or null if nothing may be published: the past of an adopted session is in the log
   * already.
   */
  look: () => Watched | null;
  record: (event: RecordedEvent) => Promise<void>;
}

export class ProgressReporter {
  readonly #options: ProgressReporterOptions;
  #lastPublishedAt = Number.NEGATIVE_INFINITY;
  #waiting = false;

  constructor(options: ProgressReporterOptions) {
    this.#options = options;
  }

  /** `reported` is true for progress that the agent reports itself. */
  async changed(reported: boolean): Promise<void> {
    const { world, look, record } = this.#options;
    const watched = look();
    if (!watched) return;
    const waitMs = this.#lastPublishedAt + (reported ? REPORT_INTERVAL_MS : INTERVAL_MS) - world.mono();
    if (waitMs > 0) return this.#later(reported, waitMs);
    this.#lastPublishedAt = world.mono();
    // Progress decides nothing, so the caller does not wait; a failed store halts the engine.
    void record(progressOf(watched)).catch(() => {});
  }

  #later(reported: boolean, waitMs: number): void {
    if (this.#waiting) return;
    this.#waiting = true;
    // In the background, because a process that has nothing else to do must exit.
    void this.#options.world.sleep(waitMs, undefined, true).then(async () => {
      this.#waiting = false;
      // A failed store halts the engine.
      await this.changed(reported).catch(() => {});
    });
  }
}

function progressOf({ run, worker, record, progress }: Watched): RecordedEvent {
  if (!worker) {
    const action = progress?.current_action?.slice(0, MAX_CHARACTERS) ?? record.lastWords;
    const data = { id: run.id, stats: record.toolStats, currentAction: action || null };
    return { type: "orchestrator:progress", data };
  }
  return {
    type: "worker:progress",
    data: {
      sessionId: worker.sessionId,
      orchestratorId: run.id,
      taskId: worker.taskId,
      progress: Math.round(progress?.progress_percent ?? worker.progress),
      status: (progress?.status ?? "in_progress").slice(0, MAX_CHARACTERS),
      currentAction: progress?.current_action?.slice(0, MAX_CHARACTERS) ?? worker.currentAction,
      toolStats: record.toolStats,
      outputPreview: (progress?.output_preview ?? record.lastWords).slice(-MAX_CHARACTERS),
    },
  };
}
