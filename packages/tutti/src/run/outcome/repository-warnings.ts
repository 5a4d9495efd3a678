// `repositoryWarnings` are sentences about changes in the repository that no task made.
import type { EventData } from "../../schema/event.ts";
import type { MovedRef } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";

/** A sentence lists at most `MAX_NAMES`. */
const MAX_NAMES = 5;

export function repositoryWarnings(run: Run, say: Say): string[] {
  const moved = (run.movedRefs ?? []).map((ref) => describeMovedRef(ref, say));
  const changed = (run.repositoryChanges ?? []).map(
    (change) => `${describeChange(change, say)}. ${say("If that was not you, check them before you continue.")}`,
  );
  return [...moved.map((text) => `${text}.`), ...changed];
}

/** Returns a sentence without a period. */
export function describeMovedRef({ ref, found, recorded, kept, restored }: MovedRef, say: Say = sentence): string {
  const what =
    found === null
      ? say("{ref} was deleted", { ref })
      : say("{ref} was moved to {commit}", { ref, commit: short(found) });
  const state = restored
    ? say("Tutti put it back to {commit}", { commit: short(recorded) })
    : say("it is checked out, so it stays there; the result of the run is {commit}", { commit: short(recorded) });
  const where = kept === null ? "" : `. ${say("The commit found there is kept as {ref}", { ref: kept })}`;
  return say("{what}, but not by Tutti: {state}{where}", { what, state, where });
}

/** Returns a sentence without a period. */
export function describeChange(
  change: Omit<EventData<"repository:changed">, "id" | "sessionId">,
  say: Say = sentence,
): string {
  const { taskId, refs, settings, files = [] } = change;
  const names = [
    ...refs.map(({ ref }) => ref),
    ...settings.map((name) => say("the setting {name}", { name })),
    ...files.map((name) => `.git/${name}`),
  ];
  const count = names.length - MAX_NAMES;
  const list = [...names.slice(0, MAX_NAMES), ...(count > 0 ? [say("{count} more", { count })] : [])].join(", ");
  const session = taskId ?? say("the main session");
  return say("While {session} was active, the repository changed: {list}", { session, list });
}

const short = (commit: string): string => commit.slice(0, 12);
