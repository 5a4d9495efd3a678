// `writeState` serializes a run. JSON objects list number-like keys first, but the order of `workers` matters, so the
// `RECORDS` are stored as lists of entries.
import { completed, shortened, type ShortWorker } from "./stored-worker.ts";
import { entriesOf, recordFrom, valuesOf } from "../../run/fold/shared-record.ts";
import { taskOf } from "../../run/lookup.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

const RECORDS = ["blocked", "inbox", "answers", "hooks"] as const satisfies (keyof Run)[];

/** A `Worker` as it is, or one that is `shortened`, in a list of its own. */
type StoredWorker = Worker | [ShortWorker];

interface StoredMembers extends Record<(typeof RECORDS)[number], [string, never][]> {
  workers: StoredWorker[];
}

export function writeState(run: Run): string {
  const lists = RECORDS.map((name) => [name, entriesOf<unknown>(run[name])]);
  const workers = valuesOf(run.workers).map((worker): StoredWorker => {
    const short = shortened(run, worker);
    return short === null ? worker : [short];
  });
  return JSON.stringify({ ...run, ...Object.fromEntries(lists), workers });
}

export function readState(text: string): Run {
  const stored = JSON.parse(text) as Omit<Run, keyof StoredMembers> & StoredMembers;
  const { id, tasks } = stored;
  const records = RECORDS.map((name) => [name, recordFrom(stored[name])]);
  const workers = stored.workers.map((each): [string, Worker] => {
    const worker = Array.isArray(each) ? completed(id, taskOf({ tasks }, each[0].taskId)!, each[0]) : each;
    return [worker.taskId, worker];
  });
  return { ...stored, ...Object.fromEntries(records), workers: recordFrom(workers) };
}

/** `fingerprint` is equal for states with equal members in any order. */
export function fingerprint(run: Run | null): string {
  return JSON.stringify(run, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
