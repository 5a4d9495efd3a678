// Measures a server with many runs: the time to open a log of 10,000 finished runs and 200 live ones, the memory it
// then uses, and the time to open a run of 100,000 events with and without a snapshot. The baseline is the time that
// SQLite needs to read the same rows and JSON.parse to parse them.
// Run: npm run bench -- scale
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FinishedRuns } from "../../src/engine/runs/finished-runs.ts";
import { apply, fold } from "../../src/run/apply.ts";
import { decide } from "../../src/run/decide.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { NewEvent, Store } from "../../src/store/store.ts";
import { Story } from "../../test/run/make-run.ts";

const FINISHED = 10_000;
const LIVE = 200;
const EVENTS = 100_000;

function logOf(id: string, finished: boolean): NewEvent[] {
  const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a"] }]);
  for (const task of finished ? ["a", "b", "c"] : ["a"]) {
    story.spawn(task);
    story.succeed(task);
    story.merge(task);
  }
  if (finished) {
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    story.do({ type: "released" });
  }
  const renamed = JSON.stringify(story.log).replaceAll("000000000000", id);
  return (JSON.parse(renamed) as (NewEvent & { runSeq: number })[]).map(({ runSeq: _runSeq, ...event }) => event);
}

/** A run with very many progress events, like a run of several days. */
function longLog(id: string): NewEvent[] {
  const tasks = Array.from({ length: 2000 }, (_, i) => ({ id: `t${i}` }));
  const story = new Story().execute(tasks);
  let run: Run = story.run;
  const log: NewEvent[] = story.log.map(({ runSeq: _runSeq, ...event }) => event);
  const add = (events: readonly RunEvent[]) => {
    for (const event of events) {
      run = apply(run, { ...event, runSeq: run.runSeq + 1, timestamp: story.now });
      log.push({ ...event, timestamp: story.now });
    }
  };
  const { maxWorkers } = run.template.config;
  for (let i = 0; log.length < EVENTS; i = (i + 1) % maxWorkers) {
    const taskId = `t${i}`;
    if (!run.workers[taskId]) {
      add(decide(run, { type: "spawn", taskId }, story.now));
      add(decide(run, { type: "ready", sessionId: run.workers[taskId]!.sessionId, start: "base" }, story.now));
    }
    const { sessionId, toolStats } = run.workers[taskId]!;
    const data = { sessionId, orchestratorId: run.id, taskId, progress: i % 100, status: "in_progress", toolStats };
    add([{ type: "worker:progress", data: { ...data, currentAction: "busy", outputPreview: "some words" } }]);
  }
  return JSON.parse(JSON.stringify(log).replaceAll("000000000000", id)) as NewEvent[];
}

async function fill(store: Store): Promise<void> {
  const name = (prefix: string, i: number) => `${prefix}${String(i).padStart(11, "0")}`;
  for (let i = 0; i < FINISHED + LIVE; i += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, k) => {
        const finished = i + k < FINISHED;
        const id = name(finished ? "f" : "l", i + k);
        return store.append(`orch_${id}`, 0, logOf(id, finished));
      }),
    );
  }
}

const seconds = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};
const megabytes = () => process.memoryUsage().heapUsed / 1e6;

const folder = mkdtempSync(join(tmpdir(), "tutti-scale-"));
try {
  const file = join(folder, "tutti.db");
  const store = openSqliteStore(file);
  await fill(store);
  const first = seconds(() => {
    const finished = new FinishedRuns(store, store.snapshots);
    for (const run of finished.open()) finished.noted(run, 2000, store.read({ run: run.id }).at(-1)!.seq);
  });
  await store.close();
  const again = openSqliteStore(file);
  globalThis.gc?.();
  const before = megabytes();
  let finished: FinishedRuns | null = null;
  let live: Run[] = [];
  const second = seconds(() => {
    finished = new FinishedRuns(again, again.snapshots);
    live = finished.open();
  });
  globalThis.gc?.();
  const held = megabytes() - before;
  console.log(
    `${FINISHED} finished and ${LIVE} live runs: opened in ${first.toFixed(2)} s without snapshots, in ${second.toFixed(2)} s with them; ` +
      `${held.toFixed(0)} MB for ${live.length} live states and ${[...finished!.summaries()].length} summaries`,
  );
  await again.append("orch_l99999999999", 0, longLog("l99999999999"));
  const rows = seconds(() => again.read({ run: "orch_l99999999999" }));
  const events = again.read({ run: "orch_l99999999999" });
  const folding = seconds(() => fold(null, events));
  const state = fold(null, events)!;
  const keeper = new FinishedRuns(again, again.snapshots);
  keeper.noted(state, EVENTS, events.at(-1)!.seq);
  await again.append(null, 0, []);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const opening = seconds(() => keeper.fold("orch_l99999999999"));
  console.log(
    `a run of ${events.length} events: ${opening.toFixed(2)} s from its snapshot, ${(rows + folding).toFixed(2)} s from its log ` +
      `(${rows.toFixed(2)} s to read and parse the rows, ${folding.toFixed(2)} s to fold them)`,
  );
  await again.close();
} finally {
  rmSync(folder, { recursive: true });
}
