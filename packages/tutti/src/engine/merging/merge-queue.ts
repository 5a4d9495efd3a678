// `MergeQueue` merges the accepted work of one run into its branch, one task at a time. The report of one may be stored
// while the next one is merged. After a crash, `openBranch` puts the branch back to the head in the log, and the merges
// are repeated.
import { checkMerges } from "./check-merges.ts";
import { mergeWork } from "./merge-work.ts";
import type { CheckRunner } from "../sessions/run-checks.ts";
import type { RunWriter } from "../run-writer.ts";
import { mergesOf } from "../../run/schedule.ts";
import type { Workspaces } from "../../workspace/workspace.ts";
import type { World } from "../../world.ts";

interface MergeQueueOptions {
  writer: RunWriter;
  workspaces: Workspaces;
  world: World;
  checks: CheckRunner;
}

/** A session may wait for a worker host or a large checkout for long. Merges do not wait for it any longer than this. */
const GIVE_WAY_MS = 2000;
/** Without a reason, `abort` creates an exception with a stack trace. */
const STARTED = "the sessions have started";

export class MergeQueue {
  readonly #options: MergeQueueOptions;
  #busy = false;
  #end = new AbortController();

  constructor(options: MergeQueueOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  /** Ends the commands that run, and starts no more merges. */
  end(): void {
    this.#end.abort();
  }

  /** Begins after `sessionStarts`. Resolves when nothing is left to merge, or after `end`. */
  async run(sessionStarts: Promise<unknown>): Promise<void> {
    this.#busy = true;
    this.#end = new AbortController();
    const { signal } = this.#end;
    try {
      await this.#giveWay(sessionStarts, signal);
      while (!signal.aborted) {
        const waiting = this.#waiting();
        if (waiting.length === 0) return;
        await this.#merge(this.#isChecked ? await this.#check(waiting, signal) : null, signal);
      }
    } finally {
      this.#busy = false;
    }
  }

  /**
   * The workspace of a session that starts would wait for the merges, because both change the repository. The session
   * itself needs none of them: `schedule` starts a task that needs the branch only when it is merged.
   */
  async #giveWay(sessionStarts: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const stop = (): void => done.abort(STARTED);
    signal.addEventListener("abort", stop, { once: true });
    void sessionStarts.then(stop, stop);
    await this.#options.world.sleep(GIVE_WAY_MS, done.signal);
    signal.removeEventListener("abort", stop);
  }

  #waiting(): string[] {
    return mergesOf(this.#options.writer.run);
  }

  get #isChecked(): boolean {
    return this.#options.writer.run.template.phases.aggregation.commands !== undefined;
  }

  /** Returns the tasks that `checkMerges` accepts. The one that it rejects is sent back. */
  async #check(waiting: readonly string[], signal: AbortSignal): Promise<string[]> {
    const { writer } = this.#options;
    const { run } = writer;
    const report = (command: Parameters<RunWriter["submit"]>[0]) => writer.submit(command);
    const checked = await checkMerges(run, run.head!, waiting, { ...this.#options, signal, report });
    if (checked?.rejected) await writer.submit(checked.rejected);
    return checked?.accepted ?? [];
  }

  /** Merges the `accepted` tasks, or all that wait if it is null. */
  async #merge(accepted: readonly string[] | null, signal: AbortSignal): Promise<void> {
    const { writer, workspaces } = this.#options;
    const reports = new Map<string, Promise<unknown>>();
    const merged = new Set<string>();
    /** `pendingHead` is ahead of `run.head` until the reports are stored. */
    let pendingHead: string | null = null;
    const next = (taskId: string): boolean => !reports.has(taskId) && (accepted?.includes(taskId) ?? true);
    for (;;) {
      const { run } = writer;
      const taskId = signal.aborted ? undefined : this.#waiting().find(next);
      if (taskId === undefined) break;
      const { report, moved } = await mergeWork(run, pendingHead ?? run.head!, taskId, workspaces, merged);
      if (moved) await writer.submit({ type: "refMoved", moved });
      merged.add(taskId);
      pendingHead = report.head;
      const stored = writer.submit(report);
      // `Promise.all` below receives the rejection; until then it would count as unhandled.
      stored.catch(() => {});
      reports.set(taskId, stored);
    }
    await Promise.all(reports.values());
  }
}
