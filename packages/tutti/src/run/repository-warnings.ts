// `repositoryWarnings` are sentences about changes in the repository that no task made.
import type { EventData } from "../schema/event.ts";
import type { MovedRef } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";

/** A sentence lists at most `MAX_NAMES`. */
const MAX_NAMES = 5;

export function repositoryWarnings(run: Run): string[] {
  const moved = (run.movedRefs ?? []).map(describeMovedRef);
  const changed = (run.repositoryChanges ?? []).map(
    (change) => `${describeChange(change)}. If that was not you, check them before you continue.`,
  );
  return [...moved.map((sentence) => `${sentence}.`), ...changed];
}

/** Returns a sentence without a period. */
export function describeMovedRef({ ref, found, recorded, kept, restored }: MovedRef): string {
  const what = found === null ? `${ref} was deleted` : `${ref} was moved to ${short(found)}`;
  const state = restored
    ? `Tutti put it back to ${short(recorded)}`
    : `it is checked out, so it stays there; the result of the run is ${short(recorded)}`;
  const where = kept === null ? "" : `. The commit found there is kept as ${kept}`;
  return `${what}, but not by Tutti: ${state}${where}`;
}

/** Returns a sentence without a period. */
export function describeChange(change: Omit<EventData<"repository:changed">, "id" | "sessionId">): string {
  const { taskId, refs, settings } = change;
  const names = [...refs.map(({ ref }) => ref), ...settings.map((name) => `the setting ${name}`)];
  const rest = names.length - MAX_NAMES;
  const list = [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `While ${taskId ?? "the main session"} was active, the repository changed: ${list}`;
}

const short = (commit: string): string => commit.slice(0, 12);
