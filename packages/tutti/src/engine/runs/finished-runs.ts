// `FinishedRuns` keeps only the summaries of finished runs in memory. `get` folds the full state from the last snapshot
// and the later events. A reopened run is removed.
import { readState, writeState } from "./stored-state.ts";
import { foldReadable } from "./unreadable-run.ts";
import { FOLD_VERSION, fold } from "../../run/apply.ts";
import { workersOf } from "../../run/lookup.ts";
import { sizeOf, valuesOf } from "../../run/fold/shared-record.ts";
import type { Budget } from "../../schema/budget.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import type { Snapshots } from "../../store/snapshots.ts";
import type { LogReader } from "../../store/store.ts";

type CopiedMembers = "id" | "status" | "outcome" | "currentPhase" | "templateId" | "cwd" | "userRequest" | "agent";
type CopiedState = "released" | "idempotency" | "usage" | "createdAt" | "updatedAt" | "startedAt" | "completedAt";

/** Data of a run for lists, the inbox and estimates. */
export interface RunSummary extends Pick<Run, CopiedMembers | CopiedState> {
  taskCount: number;
  completedTasks: number;
  skippedTasks: number;
  /** Missing without a limit. */
  budget?: Budget;
  /** Since then all sessions wait for a provider. */
  heldSince?: number;
  /** A run without any event for this long is shown as stalled. Missing after its end. */
  quietAfterMs?: number;
  inbox: InboxItem[];
  /** Totals of the completed tasks. `msByTitle` has at most `MAX_TITLES` entries. */
  took: { tasks: number; ms: number; usd: number; tokens: number; msByTitle: Record<string, number> };
}

const MAX_TITLES = 200;
/** A snapshot is due after `EVERY_EVENTS` events, and after the log has grown by `EVERY_PART`. */
const EVERY_EVENTS = 1000;
const EVERY_PART = 1 / 4;
/** `KEPT_STATES` is the size of the LRU cache of full states. */
const KEPT_STATES = 16;

export function summarise(run: Run): RunSummary {
  const { id, status, outcome, currentPhase, templateId, cwd, userRequest, agent, released, idempotency } = run;
  const { usage, createdAt, updatedAt, startedAt, completedAt } = run;
  const times = { createdAt, updatedAt, startedAt, completedAt };
  const about = { id, status, outcome, currentPhase, templateId, cwd, userRequest, agent, released, idempotency };
  const took = { tasks: 0, ms: 0, usd: 0, tokens: 0, msByTitle: {} as Record<string, number> };
  let completedTasks = 0;
  for (const worker of workersOf(run)) {
    if (worker.status === "completed") completedTasks++;
    // Tasks reused from a fork have no `startedAt` and cost nothing in this run.
    if (worker.status !== "completed" || worker.startedAt === null || worker.completedAt === null) continue;
    // The clock may have been set back between `startedAt` and `completedAt`.
    const ms = Math.max(0, worker.completedAt - worker.startedAt);
    took.tasks++;
    took.ms += ms;
    took.usd += worker.usage.usd;
    took.tokens += worker.usage.inputTokens + worker.usage.outputTokens;
    if (took.tasks <= MAX_TITLES) took.msByTitle[worker.task.title] = ms;
  }
  return {
    ...about,
    ...times,
    took,
    taskCount: run.tasks.length,
    completedTasks,
    skippedTasks: Object.keys(run.skipped).length,
    usage,
    ...(Object.keys(run.budget).length > 0 && { budget: run.budget }),
    ...(run.heldSince !== undefined && { heldSince: run.heldSince }),
    ...(!isRunOver(status) && { quietAfterMs: run.template.config.progressDetectionInterval }),
    inbox: sizeOf(run.inbox) === 0 ? [] : valuesOf(run.inbox),
  };
}

export class FinishedRuns {
  readonly #log: LogReader;
  readonly #snapshots: Snapshots | null;
  readonly #summaries = new Map<string, RunSummary>();
  readonly #states = new Map<string, Run>();
  /** Events since the last snapshot, by live run. */
  readonly #since = new Map<string, number>();

  constructor(log: LogReader, snapshots: Snapshots | null) {
    this.#log = log;
    this.#snapshots = snapshots;
  }

  /** Keeps the runs with a `complete` snapshot, and returns the others. */
  open(): Run[] {
    const known = new Map(this.#snapshots?.overview().map((each) => [each.run, each]));
    return this.#log.runs().flatMap((id) => {
      const snapshot = known.get(id);
      const complete = snapshot?.over && snapshot.fold === FOLD_VERSION && !this.#hasMore(id, snapshot.seq);
      if (!complete) return [this.fold(id)!];
      this.#summaries.set(id, JSON.parse(snapshot.summary) as RunSummary);
      return [];
    });
  }

  #hasMore(id: string, after: number): boolean {
    return this.#log.read({ run: id, after, limit: 1 }).length > 0;
  }

  fold(id: string): Run | null {
    const snapshot = this.#snapshots?.load(id) ?? null;
    if (snapshot?.fold !== FOLD_VERSION) return foldReadable(id, this.#log.read({ run: id }));
    return fold(readState(snapshot.state), this.#log.read({ run: id, after: snapshot.seq }));
  }

  summaries(): Iterable<RunSummary> {
    return this.#summaries.values();
  }

  has(id: string): boolean {
    return this.#summaries.has(id);
  }

  /** Returns null unless `put` has added the run. */
  get(id: string): Run | null {
    if (!this.#summaries.has(id)) return null;
    const run = this.#states.get(id) ?? this.fold(id)!;
    this.#states.delete(id);
    this.#states.set(id, run);
    const [oldest] = this.#states.keys();
    if (this.#states.size > KEPT_STATES) this.#states.delete(oldest!);
    return run;
  }

  /** Without `#snapshots` every `get` would fold the whole log. */
  get takesRuns(): boolean {
    return this.#snapshots !== null;
  }

  put(run: Run): void {
    this.#since.delete(run.id);
    this.#summaries.set(run.id, summarise(run));
  }

  take(id: string): void {
    this.#summaries.delete(id);
    this.#states.delete(id);
    this.#since.delete(id);
  }

  /** Must be called after every append; takes the snapshots that are due. */
  noted(run: Run, count: number, lastSeq: number): void {
    if (!this.#snapshots) return;
    const since = (this.#since.get(run.id) ?? 0) + count;
    const due =
      since >= Math.max(EVERY_EVENTS, run.runSeq * EVERY_PART) || (run.released && this.#since.get(run.id) !== 0);
    this.#since.set(run.id, due ? 0 : since);
    if (!due) return;
    this.#snapshots.save(run.id, {
      runSeq: run.runSeq,
      seq: lastSeq,
      fold: FOLD_VERSION,
      over: run.released,
      get summary() {
        return JSON.stringify(summarise(run));
      },
      get state() {
        return writeState(run);
      },
    });
  }
}
