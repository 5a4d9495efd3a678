// Progress for those who watch: not too often, but never without the last of it. It only tells; nothing is decided by it.
import type { TurnRecord } from "./turn-record.ts";
import type { ProgressAnswer } from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Worker } from "../schema/worker.ts";
import type { World } from "../world.ts";

/** Told at most this often; a little more often if the agent itself reports some. */
const TELL_EVERY_MS = 1000;
const TELL_REPORTS_EVERY_MS = 100;
/** What is told of an agent's words. */
export const TOLD_CHARACTERS = 400;

export interface Watched {
  run: Run;
  /** Null for the main session. */
  worker: Worker | null;
  record: TurnRecord;
  /** What the agent itself reported last. */
  progress: ProgressAnswer | null;
}

export interface ProgressTellerOptions {
  world: World;
  /** What there is to tell now, or null when nobody should be told: an adopted session's past was told before. */
  look: () => Watched | null;
  tell: (event: RunEvent) => Promise<void>;
}

export class ProgressTeller {
  readonly #options: ProgressTellerOptions;
  #lastTold = Number.NEGATIVE_INFINITY;
  #waiting = false;

  constructor(options: ProgressTellerOptions) {
    this.#options = options;
  }

  /** `reported`: the agent itself said how far it is. */
  async changed(reported: boolean): Promise<void> {
    const { world, look, tell } = this.#options;
    const watched = look();
    if (!watched) return;
    const waitMs = this.#lastTold + (reported ? TELL_REPORTS_EVERY_MS : TELL_EVERY_MS) - world.mono();
    if (waitMs > 0) return this.#later(reported, waitMs);
    this.#lastTold = world.mono();
    // It changes nothing, so nobody waits for it; a store that fails is heard of elsewhere.
    void tell(progressOf(watched)).catch(() => {});
  }

  #later(reported: boolean, waitMs: number): void {
    if (this.#waiting) return;
    this.#waiting = true;
    void this.#options.world.sleep(waitMs).then(async () => {
      this.#waiting = false;
      // A store that failed meanwhile has been heard of elsewhere.
      await this.changed(reported).catch(() => {});
    });
  }
}

function progressOf({ run, worker, record, progress }: Watched): RunEvent {
  if (!worker) {
    const data = { id: run.id, stats: record.toolStats, currentAction: record.lastWords };
    return { type: "orchestrator:progress", data };
  }
  return {
    type: "worker:progress",
    data: {
      sessionId: worker.sessionId,
      orchestratorId: run.id,
      taskId: worker.taskId,
      progress: Math.round(progress?.progress_percent ?? worker.progress),
      status: (progress?.status ?? "in_progress").slice(0, TOLD_CHARACTERS),
      currentAction: progress?.current_action?.slice(0, TOLD_CHARACTERS) ?? worker.currentAction,
      toolStats: record.toolStats,
      outputPreview: (progress?.output_preview ?? record.lastWords).slice(-TOLD_CHARACTERS),
    },
  };
}
