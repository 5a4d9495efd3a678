// `engineMetrics` counts event by event, so the cost of a scrape depends only on the number of open runs.
import { counter, observed, type MetricGroup } from "./metric.ts";
import { roleMetrics } from "./role-metrics.ts";
import type { Engine } from "../engine/engine.ts";
import { activeWorkers } from "../run/lookup.ts";
import { sizeOf } from "../run/fold/shared-record.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, RUN_STATUSES, type RunStatus } from "../schema/status.ts";

interface CountedRun {
  status: RunStatus;
  waiting: number;
}

type Watched = Pick<Engine, "subscribe" | "summaries" | "get" | "lastSeq">;

export function engineMetrics(engine: Watched, now: () => number = Date.now): MetricGroup {
  const runs = new RunCounts(engine);
  const teams = roleMetrics(() => runs.open(), now);
  const events = counter("tutti_events_total", "Events stored, by type.");
  const turns = counter("tutti_turns_total", "Turns started, by phase.");
  const turnsEnded = counter("tutti_turns_ended_total", "Turns ended, by kind of ending.");
  const tokens = counter("tutti_tokens_total", "Tokens used by agents, by direction.", [
    { direction: "input" },
    { direction: "output" },
  ]);
  const usd = counter("tutti_cost_usd_total", "Cost of turns as reported by agents, in US dollars.", [{}]);
  const tools = counter("tutti_tool_calls_total", "Tool calls made by agents.", [{}]);
  const workers = counter("tutti_workers_ended_total", "Attempts at tasks that ended, by kind of ending.");
  const refusals = counter("tutti_provider_refusals_total", "Requests refused by providers, by provider and cause.");
  const ended = counter("tutti_runs_ended_total", "Runs ended, by outcome.");

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

  const unsubscribe = engine.subscribe((event, run) => {
    events.add({ type: event.type });
    if (!run) return;
    runs.update(event, run);
    if (runs.isCopied(event, run)) return;
    count(event, run);
    teams.count(event, run);
  });
  const metrics = [
    observed("gauge", "tutti_runs", "Runs, by status.", () => runs.byStatus()),
    observed("gauge", "tutti_workers_active", "Workers with an open session.", () => runs.activeWorkers()),
    observed("gauge", "tutti_inbox_items", "Inbox items that wait for the user.", () => runs.waiting()),
    observed("gauge", "tutti_log_last_seq", "Sequence number of the last event in the log.", () => engine.lastSeq()),
    events,
    ended,
    workers,
    turns,
    turnsEnded,
    tools,
    tokens,
    usd,
    refusals,
    ...teams.metrics,
  ];
  return { metrics, close: () => unsubscribe() };
}

class RunCounts {
  readonly #engine: Watched;
  readonly #known = new Map<string, CountedRun>();
  readonly #open = new Set<string>();
  /** Runs with a published removal that may not have happened yet; see `#dropRemoved`. */
  readonly #removing = new Set<string>();
  /** Last `runSeq` of the events that a fork or import copied. This engine did not do that work, so it is not counted. */
  readonly #copied = new Map<string, number>();
  readonly #count = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0])) as Record<RunStatus, number>;
  #waiting = 0;

  constructor(engine: Watched) {
    this.#engine = engine;
    for (const { id, status, inbox } of engine.summaries()) this.#set(id, { status, waiting: inbox.length });
  }

  update({ type, data, runSeq }: StoredEvent, run: Run): void {
    if (runSeq === 1 && run.runSeq > 1) this.#copied.set(run.id, run.runSeq);
    this.#set(run.id, { status: run.status, waiting: sizeOf(run.inbox) });
    if (type !== "orchestrator:cleanup" || !data.removed) return;
    // Without `#dropRemoved`, a server would keep all removed runs if no client reads its metrics.
    this.#dropRemoved();
    this.#removing.add(run.id);
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

  open(): Run[] {
    return [...this.#open].flatMap((id) => this.#engine.get(id) ?? []);
  }

  activeWorkers(): number {
    return this.open().reduce((sum, run) => sum + activeWorkers(run).length, 0);
  }

  #set(id: string, next: CountedRun | null): void {
    const previous = this.#known.get(id);
    if (previous) this.#count[previous.status] -= 1;
    this.#waiting += (next?.waiting ?? 0) - (previous?.waiting ?? 0);
    if (next) {
      this.#count[next.status] += 1;
      this.#known.set(id, next);
    } else this.#known.delete(id);
    if (next && !isRunOver(next.status)) this.#open.add(id);
    else this.#open.delete(id);
  }

  /** The removal event is published before the removal, which may fail. */
  #dropRemoved(): void {
    for (const id of this.#removing) {
      if (this.#engine.get(id) !== null) continue;
      this.#removing.delete(id);
      this.#copied.delete(id);
      this.#set(id, null);
    }
  }
}
