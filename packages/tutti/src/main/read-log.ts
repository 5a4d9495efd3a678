// Reads the log of a data folder without its lock, while an engine may be writing (`openSqliteReader`).
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeCopy } from "../engine/copies/run-copy.ts";
import { isInterrupted } from "../engine/runs/interrupted.ts";
import { replay, type Replay } from "../engine/runs/replay.ts";
import { FinishedRuns, summarise, type RunSummary } from "../engine/runs/finished-runs.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { findEngine } from "../store/folder-lock.ts";
import { openSqliteReader } from "../store/sqlite.ts";
import type { LogReader } from "../store/store.ts";

export const readSummaries = (dataDir: string): (RunSummary & { interrupted?: boolean })[] =>
  withLog(dataDir, [], (finished) => {
    const engine = findEngine(resolve(dataDir));
    const now = Date.now();
    const open = finished
      .open()
      .map((run) => ({ ...summarise(run), interrupted: isInterrupted(run, engine?.since ?? null, now) }));
    return [...finished.summaries(), ...open].toSorted((a, b) => a.createdAt - b.createdAt);
  });

export const readRun = (dataDir: string, id: string): Run | null =>
  withLog(dataDir, null, (finished) => finished.fold(id));

export const readEvents = (dataDir: string, id: string, after: number): StoredEvent[] =>
  withLog(dataDir, [], (_, log) => log.read({ run: id, after }));

export const exportLog = (dataDir: string, id: string): string => writeCopy(id, readEvents(dataDir, id, 0));

export const replayLog = (dataDir: string, id: string): Replay =>
  withLog(dataDir, { steps: [], problems: [] }, (finished, log) => replay(log.read({ run: id }), finished.fold(id)));

const fileOf = (dataDir: string): string => join(resolve(dataDir), "tutti.db");

/** False if the data folder has no runs, or keeps them in PostgreSQL. */
export const hasLog = (dataDir: string): boolean => existsSync(fileOf(dataDir));

function withLog<T>(dataDir: string, fallback: T, read: (finished: FinishedRuns, log: LogReader) => T): T {
  if (!hasLog(dataDir)) return fallback;
  const log = openSqliteReader(fileOf(dataDir));
  try {
    return read(new FinishedRuns(log, log.snapshots), log);
  } finally {
    log.close();
  }
}
