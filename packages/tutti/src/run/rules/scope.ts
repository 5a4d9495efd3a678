// The scope of a run limits its result (`changedOutside`), and the declared scope of a task says which files it should
// touch (`undeclaredChanges`).
import { isInScope, scopePath } from "../plan/scopes.ts";
import { entryOf } from "../fold/shared-record.ts";
import { listNames } from "../outcome/work-warnings.ts";
import type { EventOf } from "../../schema/event.ts";
import type { Outcome } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";

/** `MAX_FILES` limits the size of the event. */
const MAX_FILES = 200;

export function changedOutside(
  run: Run,
  taskId: string | null,
  attempt: number,
  files: readonly string[] = [],
): EventOf<"workspace:outside">[] {
  if (files.length === 0) return [];
  return [{ type: "workspace:outside", data: { id: run.id, taskId, attempt, files: files.slice(0, MAX_FILES) } }];
}

/** Changes outside the run's scope count for the main session and for the newest `attempt` at a completed task. */
export function outsideCauses(run: Run): Outcome["causes"] {
  return (run.outside ?? []).flatMap(({ taskId, attempt, files }) => {
    const worker = taskId === null ? null : entryOf(run.workers, taskId);
    if (worker && (worker.attempt !== attempt || worker.status !== "completed")) return [];
    const reason = sentence("changes outside the scope {scope} are not part of the result: {files}", {
      scope: (run.scope ?? []).join(", "),
      files: listNames(files),
    });
    return [{ taskId: taskId ?? "main", status: "out_of_scope", reason }];
  });
}

/** For the prompt of the main session: files that a task changed although its scope in the plan does not name them. */
export const undeclaredChanges = (run: Run): string[] =>
  undeclared(run).map(({ id, files }) => `${id}: it changed files outside its declared scope: ${listNames(files)}.`);

/**
 * For the user: files that belong to the scope of another task. A scope names the files to focus on, so a new file
 * elsewhere, such as a page about them, is nothing to warn about (unlike `undeclaredChanges`).
 */
export const changesInOtherScopes = (run: Run, say: Say): string[] =>
  undeclared(run).flatMap(({ id, files }) =>
    run.tasks.flatMap((other) => {
      // A scope that names the whole project (an empty `scopePath`) says nothing about single files.
      const narrow = other.scope.filter((entry) => scopePath(entry).length > 0);
      const theirs = files.filter((file) => isInScope(narrow, file));
      const about = { task: other.id, files: listNames(theirs) };
      return theirs.length === 0 ? [] : [`${id}: ${say("it changed files in the scope of {task}: {files}", about)}.`];
    }),
  );

function undeclared(run: Run): { id: string; files: string[] }[] {
  return run.tasks.flatMap(({ id, scope }) => {
    const worker = entryOf(run.workers, id);
    if (worker?.status !== "completed" || scope.length === 0) return [];
    const files = worker.outputFiles.filter((file) => !isInScope(scope, file));
    return files.length === 0 ? [] : [{ id, files }];
  });
}
