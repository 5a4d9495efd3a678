// `writeState` serializes a run. JSON objects list number-like keys first, but the order of `workers` matters, so the
// `RECORDS` are stored as lists of entries.
import { entriesOf, recordFrom } from "../../run/fold/shared-record.ts";
import type { Run } from "../../schema/run.ts";

const RECORDS = ["workers", "blocked", "inbox", "answers", "hooks"] as const satisfies (keyof Run)[];

export function writeState(run: Run): string {
  const lists = RECORDS.map((name) => [name, entriesOf<unknown>(run[name])]);
  return JSON.stringify({ ...run, ...Object.fromEntries(lists) });
}

export function readState(text: string): Run {
  const stored = JSON.parse(text) as Run & Record<(typeof RECORDS)[number], [string, never][]>;
  const records = RECORDS.map((name) => [name, recordFrom(stored[name])]);
  return { ...stored, ...Object.fromEntries(records) };
}

/** `fingerprint` is equal for states with equal members in any order. */
export function fingerprint(run: Run | null): string {
  return JSON.stringify(run, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
