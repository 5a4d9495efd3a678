// `KnownResults` finds results that a fork can reuse by their work key. It reads only the runs in the chain of
// `forkedFrom`, and only results after the fork: earlier ones are in the fork's own log.
import type { Report } from "../../run/command.ts";
import { isWhole, mayStandFor, type KnownResult } from "../../run/rules/reuse.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";
import type { LogReader } from "../../store/store.ts";
import type { WorkspaceKey, Workspaces } from "../../workspace/workspace.ts";

type Found = KnownResult & { runSeq: number };
type Known = Extract<Report, { type: "known" }>;

interface Reading {
  /** `seq` of the first event and of the last indexed one. `first` changes if the run is removed and imported again. */
  first: number;
  last: number;
  forkedFrom: Run["forkedFrom"];
  /** Maps `sessionId` to the work key of the attempt. */
  keys: Map<string, string>;
  /** Maps a work key to its results, oldest first. */
  results: Map<string, Found[]>;
}

export class KnownResults {
  readonly #log: LogReader;
  readonly #readings = new Map<string, Reading>();
  /** Results that a call of `takeOver` is adopting, so that no two tasks take the same one. */
  readonly #claimed = new Set<string>();

  constructor(log: LogReader) {
    this.#log = log;
  }

  /**
   * Reports the first result that the repository can still `adopt` as the work of this attempt. Resolves to false if
   * `takeOver` finds none.
   */
  async takeOver(
    { run, worker, place, start, key }: { run: Run; worker: Worker; place: WorkspaceKey; start: string; key: string },
    workspaces: Workspaces,
    report: (known: Known) => Promise<void>,
  ): Promise<boolean> {
    for (const result of this.#find(run, worker, key)) {
      const { origin, commit } = result;
      const name = `${origin.run} ${origin.sessionId}`;
      if (this.#claimed.has(name)) continue;
      this.#claimed.add(name);
      try {
        const from = `Task ${worker.taskId} of ${run.id}, as done for task ${origin.taskId} of ${origin.run}.`;
        const work = await workspaces.adopt(run.cwd, place, start, commit, `${worker.task.title}\n\n${from}`);
        if (work === null) continue;
        await report({ type: "known", sessionId: worker.sessionId, key, result, work });
        return true;
      } finally {
        this.#claimed.delete(name);
      }
    }
    return false;
  }

  #find(run: Run, worker: Worker, key: string): KnownResult[] {
    const found: KnownResult[] = [];
    // A run is younger than its `forkedFrom`, so the chain ends.
    for (let from = run.forkedFrom; from !== null;) {
      const reading = this.#read(from.run);
      const { at } = from;
      found.push(...(reading?.results.get(key) ?? []).filter(({ runSeq }) => runSeq > at));
      from = reading?.forkedFrom ?? null;
    }
    return found.filter((result) => mayStandFor(run, worker, result));
  }

  /** Indexes the events after `reading.last`. Returns null if the run no longer exists. */
  #read(run: string): Reading | null {
    const [first] = this.#log.read({ run, limit: 1 });
    if (!first) return null;
    const known = this.#readings.get(run);
    const reading = known?.first === first.seq ? known : newReading(first.seq);
    this.#readings.set(run, reading);
    for (const event of this.#log.read({ run, after: reading.last })) index(reading, event);
    return reading;
  }
}

const newReading = (first: number): Reading => ({
  first,
  last: first - 1,
  forkedFrom: null,
  keys: new Map(),
  results: new Map(),
});

function index(reading: Reading, event: StoredEvent): void {
  reading.last = event.seq;
  switch (event.type) {
    case "orchestrator:forked":
      reading.forkedFrom = event.data.fresh ? null : { run: event.data.from, at: event.data.at };
      return;
    case "orchestrator:imported":
      reading.forkedFrom = null;
      return;
    case "worker:spawned":
      if (event.data.key !== undefined) reading.keys.set(event.data.sessionId, event.data.key);
      return;
    case "worker:completed": {
      const { sessionId, taskId, orchestratorId, output, report, commit, warnings, reused } = event.data;
      const key = reused?.key ?? reading.keys.get(sessionId);
      if (key === undefined || !isWhole(event.data)) return;
      // A `reused` result keeps its original author.
      const author = reused ?? { run: orchestratorId, taskId, sessionId };
      const origin = { run: author.run, taskId: author.taskId, sessionId: author.sessionId };
      const results = reading.results.get(key) ?? [];
      const result = { origin, output, report, commit, ...(warnings ? { warnings } : {}), runSeq: event.runSeq };
      reading.results.set(key, [...results, result]);
      return;
    }
    default:
      return;
  }
}
