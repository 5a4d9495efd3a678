// Conflicts between the dependencies of a task (`collisionsOf`). Such a task starts from the run's branch, because only
// the branch holds the resolution: it waits until all its dependencies are merged there and no conflict between them is
// open. If the template leaves conflicts to the main session (`smart`), that session gets a turn for the repair while
// the workers go on.
//
// Invariants
// 1. The branch does not move between the start of a repair and its end (`isBranchHeld`), so that the repair can be
//    merged.
// 2. A repair never ends the run. If the main session cannot make it, the user decides.
import { addItem } from "../inbox/inbox.ts";
import { openWork } from "../fold/open-work.ts";
import { valuesOf } from "../fold/shared-record.ts";
import { taskOf, workerOf } from "../lookup.ts";
import { isHeldByInterface } from "../plan/interfaces.ts";
import { foundationOf } from "../plan/dependencies-of.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Conflict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";

/** Conflicts between at least two tasks that `taskId` builds on. */
export function collisionsOf(run: Run, taskId: string): Conflict[] {
  if (run.conflicts.length === 0 || taskOf(run, taskId)!.dependencies.length < 2) return [];
  const built = foundationOf(run, taskId);
  return run.conflicts.filter(({ tasks }) => tasks.filter((id) => built.has(id)).length > 1);
}

const isOpen = ({ resolution }: Conflict): boolean => resolution === null;

/** Whether `taskId` has to wait until the run's branch has the work of its dependencies and no conflict between them. */
export function waitsForBranch(run: Run, taskId: string): boolean {
  const { unmerged } = openWork(run);
  if (unmerged.length === 0 && run.conflicts.length === 0) return false;
  if (isHeldByMerge(run, taskId)) return true;
  if (taskOf(run, taskId)!.dependencies.length < 2) return false;
  const collisions = collisionsOf(run, taskId);
  if (collisions.some(isOpen)) return true;
  if (collisions.length === 0 && unmerged.every(({ outputFiles }) => outputFiles.length === 0)) return false;
  const built = foundationOf(run, taskId);
  const pending = unmerged.filter((worker) => built.has(worker.taskId));
  if (pending.length === 0 || collisions.length > 0) return pending.length > 0;
  // `touched` counts the tasks per file: only a merge can show whether two changes of the same file conflict.
  const touched = new Map<string, number>();
  for (const id of built)
    for (const file of workerOf(run, id)?.outputFiles ?? []) touched.set(file, (touched.get(file) ?? 0) + 1);
  return pending.some(({ outputFiles }) => outputFiles.some((file) => touched.get(file)! > 1));
}

/** With commands for merges, or if it `isHeldByInterface`, work to build on may be rejected until it is merged. */
const isHeldByMerge = (run: Run, taskId: string): boolean => {
  const isChecked = run.template.phases.aggregation.commands !== undefined;
  return openWork(run).unmerged.some(
    (worker) => (isChecked || isHeldByInterface(run, worker)) && foundationOf(run, taskId).has(worker.taskId),
  );
};

/** Whether the main session owes the repair of conflicts, not the answer of a phase. */
export const isRepairing = ({ owed, currentPhase }: Run): boolean =>
  owed !== null && owed.phase !== "workerExecution" && currentPhase === "workerExecution";

/** The main session gets no turn until the user has made all decisions. */
export const waitsForDecisions = (run: Run): boolean => valuesOf(run.inbox).some(({ kind }) => kind === "decision");

/** Accepted work must not be merged during a repair (`isRepairing`), unless that waits for the user. */
export function isBranchHeld(run: Run): boolean {
  if (!isRepairing(run) || waitsForDecisions(run)) return false;
  return run.main?.turn != null || run.owed!.try > 1 || run.owed!.interrupted;
}

/** Requests a repair if a task waits for one. Merges that are under way come first. */
export function requestRepair(run: Run, at: number): RunEvent[] {
  if (!run.conflicts.some(isOpen) || run.owed !== null || waitsForDecisions(run)) return [];
  const { ready, unmerged } = openWork(run);
  if (unmerged.length > 0) return [];
  const waiting = [...ready.values()].filter((taskId) => collisionsOf(run, taskId).some(isOpen));
  if (waiting.length === 0) return [];
  if (isLeftToUser(run)) return askAboutConflicts(run, at);
  return [{ type: "workspace:repairing", data: { id: run.id, files: openFiles(run), tasks: waiting } }];
}

const openFiles = ({ conflicts }: Run): string[] => [
  ...new Set(conflicts.filter(isOpen).flatMap(({ files }) => files)),
];

export function isLeftToUser({ template }: Run): boolean {
  const { mergeStrategy, conflictResolution } = template.phases.aggregation;
  return mergeStrategy === "manual" || conflictResolution === "ask";
}

/**
 * The question to the user about each open conflict, with the intent and the result of the tasks on both sides
 * (`sideOf`).
 */
export const openConflicts = (run: Run) =>
  run.conflicts.filter(isOpen).map((conflict) => ({
    question: sentence("{tasks} made conflicting changes to {files}", {
      tasks: conflict.tasks.join(" and "),
      files: conflict.files.join(", "),
    }),
    options: conflict.tasks.map((task) => sentence("take the version of {task}", { task })),
    evidence: { ...conflict, sides: conflict.tasks.map((taskId, i) => sideOf(run, taskId, conflict.refs[i])) },
  }));

function sideOf(run: Run, taskId: string, ref: string | undefined) {
  const { title, description } = taskOf(run, taskId) ?? {};
  return { taskId, title, description, summary: workerOf(run, taskId)?.summary, ref };
}

/** Adds one decision per open conflict. The main session carries them out. */
export const askAboutConflicts = (run: Run, at: number): RunEvent[] =>
  openConflicts(run).map((content, index) => addItem(run, { kind: "decision", ...content, index, risk: "medium" }, at));
