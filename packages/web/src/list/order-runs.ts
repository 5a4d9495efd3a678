// Sorts the list: runs that wait for the user first, then by age, the newest first.
import { holdsUp } from "../run/inbox/waiting.ts";
import type { ListedRun, WaitingItem } from "../../../tutti/src/client/run-summary.ts";

export interface OrderedRuns {
  needsYou: ListedRun[];
  others: ListedRun[];
  /** The number of waiting questions by run id. */
  questions: ReadonlyMap<string, number>;
}

export function orderRuns(runs: readonly ListedRun[], inbox: readonly WaitingItem[]): OrderedRuns {
  const questions = new Map<string, number>();
  for (const item of inbox) if (holdsUp(item)) questions.set(item.run, (questions.get(item.run) ?? 0) + 1);
  const newest = [...runs].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const waits = ({ id, status }: ListedRun) => status === "confirming" || questions.has(id);
  return { needsYou: newest.filter(waits), others: newest.filter((run) => !waits(run)), questions };
}
