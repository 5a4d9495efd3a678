// Retention: `outdatedRuns` selects the runs to remove. Only ended runs without open inbox items can be selected.
import { isRunOver, type RunStatus } from "../../schema/status.ts";

/** A run is kept if any rule keeps it. Without rules all runs are kept. */
export interface KeepRules {
  /** Keep runs with an `updatedAt` within this many days. */
  days?: number | undefined;
  /** Keep this many of the ended runs that changed last. */
  keepRuns?: number | undefined;
}

interface Row {
  id: string;
  status: RunStatus;
  updatedAt: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the ids of the runs that no rule keeps, oldest first. `waits(id)` is true for a run with open inbox items.
 */
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
