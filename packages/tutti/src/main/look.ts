// What stands in the log of a data folder, without taking the folder over.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { replay, type Replay } from "../engine/replay.ts";
import { RunShelf, summarise, type RunSummary } from "../engine/run-shelf.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { openSqliteReader } from "../store/sqlite.ts";
import type { LogReader } from "../store/store.ts";

export { writeCopy as copyOf } from "../engine/run-copy.ts";

/** What lists show of the runs of a data folder. */
export const readSummaries = (dataDir: string): RunSummary[] =>
  looking(dataDir, [], (shelf) => {
    const open = shelf.open().map(summarise);
    return [...shelf.summaries(), ...open].toSorted((a, b) => a.createdAt - b.createdAt);
  });

/** One run of a data folder. */
export const readRun = (dataDir: string, id: string): Run | null => looking(dataDir, null, (shelf) => shelf.fold(id));

/** The events of one run of a data folder after one of them. */
export const readEvents = (dataDir: string, id: string, after: number): StoredEvent[] =>
  looking(dataDir, [], (_, log) => log.read({ run: id, after }));

/** The log of one run folded again, event by event, with everything about it that is not as it should be. */
export const replayLog = (dataDir: string, id: string): Replay =>
  looking(dataDir, { steps: [], problems: [] }, (shelf, log) => replay(log.read({ run: id }), shelf.fold(id)));

function looking<T>(dataDir: string, nothing: T, look: (shelf: RunShelf, log: LogReader) => T): T {
  const file = join(resolve(dataDir), "tutti.db");
  if (!existsSync(file)) return nothing;
  const log = openSqliteReader(file);
  try {
    return look(new RunShelf(log, log.snapshots), log);
  } finally {
    log.close();
  }
}
