// Figures of the engine. They are kept up to date event by event, so that asking for them costs the same however many runs
// are over; only runs that are not over are looked at.
import { counter, observed, type Metric } from "./metric.ts";
import type { Engine } from "../engine/engine.ts";
import { activeWorkers } from "../run/lookup.ts";
import { sizeOf } from "../run/shared-record.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, RUN_STATUSES, type RunStatus } from "../schema/status.ts";

interface Known {
  status: RunStatus;
  waiting: number;
}

export interface EngineMetrics {
  metrics: Metric[];
  close: () => void;
}

type Watched = Pick<Engine, "subscribe" | "summaries" | "get" | "lastSeq">;

export function engineMetrics(engine: Watched): EngineMetrics {
  const runs = new RunCounts(engine);
  const events = counter("tutti_events_total", "Events that were stored, by type.");
  const turns = counter("tutti_turns_total", "Turns that agents were given, by phase.");
  const turnsEnded = counter("tutti_turns_ended_total", "Turns that agents have ended, by how they ended.");
  const tokens = counter("tutti_tokens_total", "Tokens that agents have used.", [
    { direction: "input" },
    { direction: "output" },
  ]);
  const usd = counter("tutti_cost_usd_total", "What agents say their turns have cost, in US dollars.", [{}]);
  const tools = counter("tutti_tool_calls_total", "Tools that agents have used.", [{}]);
  const workers = counter("tutti_workers_ended_total", "Attempts at tasks that are over, by how they ended.");
  const refusals = counter("tutti_provider_refusals_total", "Refusals of providers, by provider and cause.");
  const ended = counter("tutti_runs_ended_total", "Runs that have ended, by outcome.");

  const count = ({ type, data }: StoredEvent, run: Run) => {
    switch (type) {
      case "turn:started":
        turns.add({ phase: data.phase });
        return;
      case "turn:ended":
      case "turn:abandoned":
        if (type === "turn:ended") turnsEnded.add({ ending: data.ending.kind });
        tokens.add({ direction: "input" }, data.usage.inputTokens);
        tokens.add({ direction: "output" }, data.usage.outputTokens);
        usd.add({}, data.usage.usd);
        tools.add({}, data.toolStats.total);
        return;
      case "worker:completed":
      case "worker:failed":
      case "worker:timeout":
      case "worker:cancelled":
      case "worker:lost":
        workers.add({ ending: type.replace("worker:", "") });
        return;
      case "provider:refused":
        refusals.add({ provider: data.provider, cause: data.cause });
        return;
      case "orchestrator:completed":
      case "orchestrator:cancelled":
        ended.add({ outcome: run.outcome ?? "cancelled" });
        return;
      case "orchestrator:error":
        if (data.fatal) ended.add({ outcome: "failed" });
        return;
      default:
    }
  };

  const leave = engine.subscribe((event, run) => {
    events.add({ type: event.type });
    if (!run) return;
    runs.heard(event, run);
    if (!runs.isCopied(event, run)) count(event, run);
  });
  const metrics = [
    observed("gauge", "tutti_runs", "Runs, by status.", () => runs.byStatus()),
    observed("gauge", "tutti_workers_active", "Workers with a session that is not over.", () => runs.activeWorkers()),
    observed("gauge", "tutti_inbox_items", "What waits for a person.", () => runs.waiting()),
    observed("gauge", "tutti_log_last_seq", "The last place in the log of events.", () => engine.lastSeq()),
    events,
    ended,
    workers,
    turns,
    turnsEnded,
    tools,
    tokens,
    usd,
    refusals,
  ];
  return { metrics, close: () => leave() };
}

/** How many runs there are in each status, and what waits in them. */
class RunCounts {
  readonly #engine: Watched;
  readonly #known = new Map<string, Known>();
  readonly #open = new Set<string>();
  /** Runs that are said to be removed, until they are. */
  readonly #leaving = new Set<string>();
  /** The last event that a run was copied with, from another run or another engine: nobody did that here. */
  readonly #copied = new Map<string, number>();
  readonly #count = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0])) as Record<RunStatus, number>;
  #waiting = 0;

  constructor(engine: Watched) {
    this.#engine = engine;
    for (const { id, status, inbox } of engine.summaries()) this.#set(id, { status, waiting: inbox.length });
  }

  heard({ type, data, runSeq }: StoredEvent, run: Run): void {
    if (runSeq === 1 && run.runSeq > 1) this.#copied.set(run.id, run.runSeq);
    this.#set(run.id, { status: run.status, waiting: sizeOf(run.inbox) });
    if (type === "orchestrator:cleanup" && data.removed) this.#leaving.add(run.id);
  }

  isCopied({ runSeq }: StoredEvent, run: Run): boolean {
    return runSeq <= (this.#copied.get(run.id) ?? 0);
  }

  byStatus() {
    this.#dropRemoved();
    return RUN_STATUSES.map((status) => ({ labels: { status }, value: this.#count[status] }));
  }

  waiting(): number {
    this.#dropRemoved();
    return this.#waiting;
  }

  activeWorkers(): number {
    let active = 0;
    for (const id of this.#open) {
      const run = this.#engine.get(id);
      if (run) active += activeWorkers(run).length;
    }
    return active;
  }

  #set(id: string, now: Known | null): void {
    const before = this.#known.get(id);
    if (before) this.#count[before.status] -= 1;
    this.#waiting += (now?.waiting ?? 0) - (before?.waiting ?? 0);
    if (now) {
      this.#count[now.status] += 1;
      this.#known.set(id, now);
    } else this.#known.delete(id);
    if (now && !isRunOver(now.status)) this.#open.add(id);
    else this.#open.delete(id);
  }

  /** A removal is told before it is done, and may yet fail. */
  #dropRemoved(): void {
    for (const id of this.#leaving) {
      if (this.#engine.get(id) !== null) continue;
      this.#leaving.delete(id);
      this.#copied.delete(id);
      this.#set(id, null);
    }
  }
}
