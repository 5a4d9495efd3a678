// Names that one task changed and another one uses. Tutti finds them in the work of the tasks; the answer of the main
// session about conflicts is a claim, which `unprovenConflicts` compares with them and with the files that the tasks
// changed.
import { isApart } from "./overlaps.ts";
import { entryOf } from "../fold/shared-record.ts";
import type { Report } from "../command.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { UsedName } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";
import type { Worker } from "../../schema/worker.ts";

/** Completed tasks of which none builds on all others (`isApart`), so that their names can contradict. */
export function tasksToCompare(run: Run): Worker[] {
  const done = run.tasks.flatMap(({ id }) => {
    const worker = entryOf(run.workers, id);
    return worker?.status === "completed" && worker.commit !== null ? [worker] : [];
  });
  return done.filter((one) => done.some((other) => isApart(run, one.taskId, other.taskId)));
}

/**
 * A task knew the names of a task that it builds on, so the two must be `isApart`. No names are an event only if an
 * earlier head had some, which no longer hold.
 */
export function noteUsedNames(run: Run, { head, names }: Extract<Report, { type: "namesUsed" }>): RunEvent[] {
  const unknown = names.filter(({ task, usedBy }) => isApart(run, task, usedBy));
  const isStill = unknown.length === 0 && (run.usedNames?.names ?? []).length === 0;
  return isStill ? [] : [{ type: "conflict:names", data: { id: run.id, head, names: unknown } }];
}

/** Returns a sentence without a period. */
export function describeUse({ change, line, name, task, file, usedBy, usedIn }: UsedName, say: Say = sentence): string {
  const values = { usedBy, name, place: `${usedIn}:${line}`, task, file };
  return change === "removed"
    ? say("{usedBy} uses {name} in {place}, which {task} removed from {file}", values)
    : say("{usedBy} uses {name} in {place}, which {task} declared anew in {file}", values);
}

/** Sentences about `usedNames` that the main session did not name among its conflicts. */
export function nameWarnings({ usedNames, aggregation }: Run, say: Say): string[] {
  const claimed = aggregation?.conflicts ?? [];
  const isNamed = ({ name, file, usedIn }: UsedName): boolean =>
    claimed.some(
      ({ files = [], description = "", resolution = "" }) =>
        files.includes(file) || files.includes(usedIn) || `${description} ${resolution}`.includes(name),
    );
  return (usedNames?.names ?? []).filter((use) => !isNamed(use)).map((use) => `${describeUse(use, say)}.`);
}

/**
 * Sentences about conflicts that the main session claims, while `outputFiles` and `usedNames` of the tasks show none.
 */
export function unprovenConflicts(run: Run, say: Say): string[] {
  const facts = new Set([
    ...run.conflicts.flatMap(({ files }) => files),
    ...(run.usedNames?.names ?? []).flatMap(({ file, usedIn }) => [file, usedIn]),
  ]);
  return (run.aggregation?.conflicts ?? []).flatMap(({ files = [] }) => {
    const changed = run.tasks.filter(({ id }) =>
      entryOf(run.workers, id)?.outputFiles.some((file) => files.includes(file)),
    );
    if (files.length === 0 || changed.length > 1 || files.some((file) => facts.has(file))) return [];
    const named = files.slice(0, 5).map((file) => JSON.stringify(file.slice(0, 200)));
    const about = { files: named.join(", "), task: changed[0]?.id ?? "" };
    return [
      changed.length === 0
        ? say("The main session reported a conflict in {files}, but no task changed a file there.", about)
        : say("The main session reported a conflict in {files}, but only {task} changed a file there.", about),
    ];
  });
}
