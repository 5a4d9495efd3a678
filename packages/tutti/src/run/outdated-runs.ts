// Which runs a person no longer wants to keep. Only what is over can be among them, and nothing that waits for a person.
import { isRunOver, type RunStatus } from "../schema/status.ts";

/** A run is kept if any rule keeps it. Without a rule every run is kept. */
export interface KeepRules {
  /** Keeps what has changed within so many days. */
  days?: number | undefined;
  /** Keeps so many of the runs that are over, those that changed last. */
  keepRuns?: number | undefined;
}

interface Row {
  id: string;
  status: RunStatus;
  updatedAt: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The runs that no rule keeps, the oldest first. */
export function outdatedRuns(
  rows: readonly Row[],
  waits: (id: string) => boolean,
  { days, keepRuns }: KeepRules,
  now: number,
): string[] {
  if (days === undefined && keepRuns === undefined) return [];
  const since = days === undefined ? Number.POSITIVE_INFINITY : now - days * DAY_MS;
  const over = rows.filter(({ status }) => isRunOver(status)).toSorted((a, b) => b.updatedAt - a.updatedAt);
  const old = over.slice(keepRuns ?? 0).filter(({ id, updatedAt }) => updatedAt < since && !waits(id));
  return old.map(({ id }) => id).toReversed();
}
