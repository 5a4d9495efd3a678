// Checks reuse: a fork reuses only results for exactly the same work, and repeats no work that it could reuse. The
// description of the work is built here independently of the key in the log.
import type { Ledger } from "./ledger.ts";
import type { Checked } from "./log-checks.ts";
import { combine, treeOf } from "../sim-workspaces.ts";
import { FAVOURED } from "../../../src/engine/merging/merge-work.ts";
import { workerOf } from "../../../src/run/lookup.ts";
import type { EventData, StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";
import { isAuditor, isDeployer } from "../../../src/schema/team/roles.ts";

interface Finished {
  run: string;
  sessionId: string;
  about: string;
  claim: string | undefined;
  tree: string;
  place: { seq: number; runSeq: number };
}

/** Includes runs that were removed. */
export interface Results {
  finished: Finished[];
  /** By fork: its origin, or null for a fresh fork. */
  parents: Map<string, { run: string; at: number } | null>;
}

export const newResults = (): Results => ({ finished: [], parents: new Map() });

function aboutOf(run: Run, taskId: string, tree: string): string {
  const { title, description, scope } = run.tasks.find(({ id }) => id === taskId)!;
  const { agent, role } = workerOf(run, taskId)!.session;
  return JSON.stringify([run.templateId, title, description, scope, agent, role, tree]);
}

/** Merges the run's `base` with the results of the task's dependencies, unless the log names the start. */
function startOf({ repository }: Checked, run: Run, taskId: string): string | null {
  const { start } = workerOf(run, taskId)!.session;
  if (start !== null) return start;
  const { dependencies } = run.tasks.find(({ id }) => id === taskId)!;
  const commits = dependencies.flatMap((id) => workerOf(run, id)?.commit ?? []);
  const message = `Combine the dependencies of ${taskId} of ${run.id}`;
  const favour = FAVOURED[run.template.phases.aggregation.conflictResolution];
  const merged = combine(repository, run.base!, commits, message, favour);
  return merged.ok ? merged.commit : null;
}

/**
 * Tasks that are never taken over: an approval and a deployment are about the run in which they happened, and a delegated
 * task has to return to its parent.
 */
function isOnlyHere({ tasks, template: { roles } }: Run, taskId: string): boolean {
  const { role, delegation } = tasks.find(({ id }) => id === taskId)!;
  return isAuditor(roles, role) || isDeployer(roles, role) || delegation !== undefined;
}

/** Returns whether `finished` belongs to an ancestor of the run and is newer than the fork. */
function isInPast({ results, ledgers }: Checked, run: string, finished: Finished): boolean {
  for (let from = results.parents.get(run) ?? null; from; from = results.parents.get(from.run) ?? null) {
    if (!ledgers.has(from.run)) return false;
    if (from.run === finished.run) return finished.place.runSeq > from.at;
  }
  return false;
}

/** Returns whether an ancestor has `takenOver` the result itself. The run that produced it may have been removed. */
function isHeldInPast({ results, ledgers }: Checked, run: string, { sessionId }: Finished): boolean {
  for (let from = results.parents.get(run) ?? null; from; from = results.parents.get(from.run) ?? null) {
    if (ledgers.get(from.run)?.takenOver.has(sessionId)) return true;
  }
  return false;
}

export function noteFork(checked: Checked, { data }: StoredEvent & { type: "orchestrator:forked" }): void {
  const { id, from, at, fresh } = data;
  checked.results.parents.set(id, fresh ? null : { run: from, at });
  checked.stage.parted(id, from);
}

export function checkNotAgain(checked: Checked, ledger: Ledger, before: Run, data: EventData<"worker:spawned">): void {
  const { stage, repository, results } = checked;
  const { taskId, start } = data;
  const attempt = ledger.active.get(taskId);
  if (!attempt) return;
  attempt.about = aboutOf(before, taskId, treeOf(repository, start));
  if (ledger.anew.has(taskId) || isOnlyHere(before, taskId)) return;
  const again = results.finished.find(
    (finished) =>
      finished.about === attempt.about &&
      finished.claim === "success" &&
      finished.place.seq < attempt.seq &&
      !ledger.takenOver.has(finished.sessionId) &&
      isInPast(checked, before.id, finished),
  );
  stage.require(!again, "reuse", () => `${before.id} does ${taskId} again, which ${again?.sessionId} has done`);
}

export function noteFinished(
  checked: Checked,
  ledger: Ledger,
  event: StoredEvent & { type: "worker:completed" },
): void {
  const { taskId, sessionId, commit } = event.data;
  const about = ledger.active.get(taskId)?.about;
  if (about === undefined || event.run === null) return;
  const { machine, repository, results } = checked;
  const turns = ledger.run?.workers[taskId]?.session.turns ?? 0;
  const { seq, runSeq } = event;
  const tree = treeOf(repository, commit);
  // In the history of a fork the session has another id, so the claim comes from the `original`.
  const original = results.finished.find((each) => each.about === about && each.tree === tree);
  const process = machine.processes.get(sessionId);
  const claim = process ? process.claims.get(turns) : original?.claim;
  results.finished.push({ run: event.run, sessionId, about, claim, tree, place: { seq, runSeq } });
}

/**
 * A reused result must be a complete result for the same work, from an ancestor of this run, and used for one task
 * only.
 */
export function checkReuse(checked: Checked, ledger: Ledger, before: Run, data: EventData<"worker:completed">): void {
  const { stage, repository, results } = checked;
  const { taskId, commit, reused } = data;
  const what = `${taskId} of ${before.id}, reused from ${reused!.sessionId}`;
  stage.count("results taken over");
  const finished = results.finished.find(({ sessionId }) => sessionId === reused!.sessionId);
  if (!finished) return stage.fail("reuse", `${what}, was never finished`);
  const start = startOf(checked, before, taskId);
  if (start === null) return stage.fail("reuse", `${what}, starts with a merge conflict`);
  const about = aboutOf(before, taskId, treeOf(repository, start));
  stage.require(finished.about === about, "reuse", () => `${what}, is about ${about}, not ${finished.about}`);
  stage.require(!isOnlyHere(before, taskId), "reuse", () => `${what}, belongs to its own run`);
  stage.require(finished.claim === "success", "reuse", () => `${what}, was ${finished.claim}`);
  const isKnown = isInPast(checked, before.id, finished) || isHeldInPast(checked, before.id, finished);
  stage.require(isKnown, "reuse", () => `${what}, belongs to an unrelated run`);
  stage.require(!ledger.anew.has(taskId), "reuse", () => `${what}, was retried by the user`);
  stage.require(!ledger.takenOver.has(finished.sessionId), "reuse", () => `${what}, is used for two tasks`);
  stage.require(treeOf(repository, commit) === finished.tree, "reuse", () => `${what}, has other files`);
  stage.require(repository.holds(commit, start), "reuse", () => `${what}, does not descend from ${start}`);
  ledger.takenOver.add(finished.sessionId);
}
