// `ForeignRuns` holds the runs that other servers of a shared store carry on. Their states follow from the events of
// those servers.
import { summarise, type FinishedRuns, type RunSummary } from "./finished-runs.ts";
import { fold } from "../../run/apply.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

export class ForeignRuns {
  /** Runs that are not `released`. The others are in `FinishedRuns`. */
  readonly #open = new Map<string, Run>();
  readonly #finished: FinishedRuns;

  constructor(finished: FinishedRuns) {
    this.#finished = finished;
  }

  put(run: Run): void {
    this.#finished.take(run.id);
    this.#open.delete(run.id);
    if (run.released) this.#finished.put(run);
    else this.#open.set(run.id, run);
  }

  /** `events` must be the next ones of the run. */
  apply(id: string, events: readonly StoredEvent[]): Run {
    const run = this.#next(id, events);
    this.put(run);
    this.#finished.noted(run, events.length, events.at(-1)!.seq);
    return run;
  }

  #next(id: string, events: readonly StoredEvent[]): Run {
    const known = this.get(id) ?? this.#finished.get(id);
    // `events` belong to another run that took over this id, or follow events that this version cannot fold.
    if ((known?.runSeq ?? 0) + 1 !== events[0]!.runSeq) return this.#finished.fold(id)!;
    try {
      return fold(known, events)!;
    } catch {
      return this.#finished.fold(id)!;
    }
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  get(id: string): Run | null {
    return this.#open.get(id) ?? null;
  }

  take(id: string): Run | null {
    const run = this.get(id);
    this.#open.delete(id);
    return run;
  }

  remove(id: string): void {
    this.#open.delete(id);
    this.#finished.take(id);
  }

  summaries(): RunSummary[] {
    return Array.from(this.#open.values(), summarise);
  }
}
