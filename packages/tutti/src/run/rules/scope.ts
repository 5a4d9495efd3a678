// The scope of a run limits its result, and the declared scope of a task says which files it should touch.
import { scopePath } from "../plan/scopes.ts";
import { entryOf } from "../fold/shared-record.ts";
import type { EventData } from "../../schema/event.ts";
import type { Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

/** Limits the size of the event. */
const MAX_FILES = 200;
/** Number of names that one sentence lists. */
const MAX_NAMES = 5;

export function changedOutside(
  run: Run,
  taskId: string | null,
  attempt: number,
  files: readonly string[] = [],
): { type: "workspace:outside"; data: EventData<"workspace:outside"> }[] {
  if (files.length === 0) return [];
  return [{ type: "workspace:outside", data: { id: run.id, taskId, attempt, files: files.slice(0, MAX_FILES) } }];
}

/** Names the changes outside the run's scope, of the main session and of the attempts that count. */
export function outsideCauses(run: Run): Outcome["causes"] {
  return (run.outside ?? []).flatMap(({ taskId, attempt, files }) => {
    const worker = taskId === null ? null : entryOf(run.workers, taskId);
    if (worker && (worker.attempt !== attempt || worker.status !== "completed")) return [];
    const reason = `changes outside the scope ${(run.scope ?? []).join(", ")} are not part of the result: ${listed(files)}`;
    return [{ taskId: taskId ?? "main", status: "out_of_scope", reason }];
  });
}

/** Sentences about files that a task changed although its scope in the plan does not name them. */
export function undeclaredChanges(run: Run): string[] {
  return run.tasks.flatMap(({ id, scope }) => {
    const worker = entryOf(run.workers, id);
    if (worker?.status !== "completed" || scope.length === 0) return [];
    const declared = scope.map(scopePath);
    const isDeclared = (file: string): boolean => {
      const parts = file.split("/");
      return declared.some((path) => path.every((part, i) => part === parts[i]));
    };
    const files = worker.outputFiles.filter((file) => !isDeclared(file));
    return files.length === 0 ? [] : [`${id}: it changed files outside its declared scope: ${listed(files)}.`];
  });
}

const listed = (files: readonly string[]): string => {
  const shown = files.slice(0, MAX_NAMES).map((file) => JSON.stringify(file.slice(0, 200)));
  return [...shown, ...(files.length > MAX_NAMES ? [`${files.length - MAX_NAMES} more`] : [])].join(", ");
};
