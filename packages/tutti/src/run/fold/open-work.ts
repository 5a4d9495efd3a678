// `OpenWork` is an index over a run: ready tasks, tasks that can no longer start, active workers, unmerged work.
// Computing it from the state means visiting every task. `openWork` therefore updates the index of the state that it was
// called with last, at a cost proportional to the difference between both. That state may also be a later one.
//
// Invariants
// 1. `OpenWork` is a function of the state alone. It is never stored, and rebuilt for the first state of a plan.
// 2. `OpenWork` is immutable, so an index that was returned stays valid.
import { dependencyState, taskStanding, type TaskStanding } from "../census.ts";
import { NumberMap } from "./number-map.ts";
import { outlineOf, type Outline } from "../plan/outline.ts";
import { changedKeys, emptyRecord, entryOf, placeOf, withEntry, withoutEntries } from "./shared-record.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

export interface OpenWork {
  /** Unstarted tasks with all dependencies met, by their rank in the start order (`Outline.ranks`). */
  ready: NumberMap<string>;
  /** Unstarted tasks with a lost dependency (`dependencyState`), by their index in the plan. */
  doomed: NumberMap<string>;
  /** Number of met dependencies of a task, by its index in the plan. */
  met: NumberMap<number>;
  /** Number of lost dependencies of a task, by its index in the plan. */
  lost: NumberMap<number>;
  /** Number of tasks that are `active` or `neverStarted`. */
  unfinished: number;
  /** Workers with a session (`isActive`), in the order of their first start. */
  active: readonly Worker[];
  /** Workers with accepted work that is not merged yet, sorted `byAcceptance`. */
  unmerged: readonly Worker[];
  /** Workers with a next attempt that waits for `notBefore`. */
  waiting: readonly Worker[];
  /** Task id by `sessionId`, for the newest attempt at each task. */
  sessions: Record<string, string>;
  /** Items with a `sessionId` or an `expiresAt`. */
  questions: readonly InboxItem[];
}

interface Known {
  run: Run;
  work: OpenWork;
}

/**
 * The index that was computed last for an `Outline`, which all states with the same plan share. A private field of each
 * state would make its copies ten times as slow: V8 then copies them member by member.
 */
const latest = new WeakMap<Outline, Known>();

export function openWork(run: Run): OpenWork {
  const outline = outlineOf(run);
  const known = latest.get(outline);
  if (known?.run === run) return known.work;
  const work = advance(known ?? nothingDone(run, outline), run, outline);
  latest.set(outline, { run, work });
  return work;
}

function nothingDone(run: Run, { needs, ranks }: Outline): Known {
  let ready = NumberMap.empty<string>();
  for (const [place, { id }] of run.tasks.entries())
    if (needs[place]!.length === 0) ready = ready.with(ranks[place]!, id);
  const work: OpenWork = {
    ready,
    doomed: NumberMap.empty(),
    met: NumberMap.empty(),
    lost: NumberMap.empty(),
    unfinished: run.tasks.length,
    active: [],
    unmerged: [],
    waiting: [],
    sessions: emptyRecord(),
    questions: [],
  };
  return { run: { ...run, skipped: {}, workers: {}, blocked: {}, inbox: {} }, work };
}

function advance({ run: before, work }: Known, after: Run, outline: Outline): OpenWork {
  const next = { ...work };
  const workers = changedKeys(before.workers, after.workers);
  if (workers.size > 0) followWorkers(next, before, after, workers);
  const blocked = changedKeys(before.blocked, after.blocked);
  const skipped = changedKeys(before.skipped, after.skipped);
  const tasks = blocked.size + skipped.size === 0 ? workers : new Set([...workers, ...blocked, ...skipped]);
  if (tasks.size > 0) followTasks(next, before, after, tasks, outline);
  if (before.inbox !== after.inbox) followInbox(next, before, after);
  return next;
}

function followWorkers(next: OpenWork, before: Run, after: Run, changed: ReadonlySet<string>): void {
  const touched = { active: false, unmerged: false, waiting: false };
  for (const taskId of changed) {
    const was = entryOf(before.workers, taskId);
    const is = entryOf(after.workers, taskId);
    touched.active ||= isOneOf(isActive, was, is);
    touched.unmerged ||= isOneOf(isUnmerged, was, is);
    touched.waiting ||= isOneOf(isWaiting, was, is);
    if (was?.sessionId === is?.sessionId) continue;
    if (was) next.sessions = withoutEntries(next.sessions, [was.sessionId]);
    if (is) next.sessions = withEntry(next.sessions, is.sessionId, taskId);
  }
  const place = ({ taskId }: Worker): number => placeOf(after.workers, taskId);
  const byPlace = (a: Worker, b: Worker): number => place(a) - place(b);
  if (touched.active) next.active = updated(next.active, after, changed, isActive, byPlace);
  if (touched.unmerged) next.unmerged = updated(next.unmerged, after, changed, isUnmerged, byAcceptance);
  if (touched.waiting) next.waiting = updated(next.waiting, after, changed, isWaiting, byPlace);
}

type Belongs = (worker: Worker) => boolean;

const isOneOf = (belongs: Belongs, was: Worker | undefined, is: Worker | undefined): boolean =>
  (was !== undefined && belongs(was)) || (is !== undefined && belongs(is));

const isActive = ({ session }: Worker): boolean => session.state !== "over";
const isUnmerged = ({ status, merged }: Worker): boolean => status === "completed" && merged === "not yet";
const isWaiting = ({ status, notBefore }: Worker): boolean => status === "pending" && notBefore !== null;
const byAcceptance = (a: Worker, b: Worker): number =>
  a.completedAt! - b.completedAt! || (a.taskId < b.taskId ? -1 : 1);

/** Replaces, removes or inserts the workers of the `changed` tasks and keeps the order. */
function updated(
  list: readonly Worker[],
  { workers }: Run,
  changed: ReadonlySet<string>,
  belongs: Belongs,
  compare: (a: Worker, b: Worker) => number,
): readonly Worker[] {
  const next: Worker[] = [];
  const added = new Set(changed);
  for (const known of list) {
    const isChanged = added.delete(known.taskId);
    const worker = isChanged ? entryOf(workers, known.taskId) : known;
    if (worker && (!isChanged || belongs(worker))) next.push(worker);
  }
  let isSorted = true;
  for (const taskId of added) {
    const worker = entryOf(workers, taskId);
    if (!worker || !belongs(worker)) continue;
    isSorted &&= next.length === 0 || compare(next.at(-1)!, worker) < 0;
    next.push(worker);
  }
  return isSorted ? next : next.toSorted(compare);
}

/**
 * Updates the counts `met` and `lost` of the dependents of each changed task. Most changes are within an attempt and
 * leave its `taskStanding` as it was.
 */
function followTasks(next: OpenWork, before: Run, after: Run, changed: ReadonlySet<string>, outline: Outline): void {
  const affected = new Set<number>();
  const isOnlyWorkers = before.skipped === after.skipped && before.blocked === after.blocked;
  for (const taskId of changed) {
    if (isOnlyWorkers && entryOf(before.workers, taskId)?.status === entryOf(after.workers, taskId)?.status) continue;
    const place = outline.places.get(taskId);
    if (place === undefined) continue;
    const [stood, stands] = [taskStanding(before, taskId), taskStanding(after, taskId)];
    if (stood === stands && stands !== "blocked" && stands !== "skipped") continue;
    affected.add(place);
    next.unfinished += Number(isUnfinished(stands)) - Number(isUnfinished(stood));
    const [was, is] = [dependencyState(before, taskId), dependencyState(after, taskId)];
    if (was === is) continue;
    for (const dependent of outline.dependents[place]!) {
      affected.add(dependent);
      next.met = added(next.met, dependent, Number(is === "met") - Number(was === "met"));
      next.lost = added(next.lost, dependent, Number(is === "lost") - Number(was === "lost"));
    }
  }
  for (const place of affected) judge(next, after, place, outline);
}

const isUnfinished = (standing: TaskStanding): boolean => standing === "active" || standing === "neverStarted";

function added(counts: NumberMap<number>, place: number, by: number): NumberMap<number> {
  if (by === 0) return counts;
  const count = (counts.get(place) ?? 0) + by;
  return count === 0 ? counts.without(place) : counts.with(place, count);
}

/** A task that is no longer `neverStarted` is removed from both `ready` and `doomed`. */
function judge(next: OpenWork, run: Run, place: number, { needs, ranks }: Outline): void {
  const { id } = run.tasks[place]!;
  const waits = taskStanding(run, id) === "neverStarted";
  const isReady = waits && (next.met.get(place) ?? 0) === needs[place]!.length;
  const isDoomed = waits && (next.lost.get(place) ?? 0) > 0;
  next.ready = isReady ? next.ready.with(ranks[place]!, id) : next.ready.without(ranks[place]!);
  next.doomed = isDoomed ? next.doomed.with(place, id) : next.doomed.without(place);
}

function followInbox(next: OpenWork, before: Run, after: Run): void {
  const changed = changedKeys(before.inbox, after.inbox);
  const kept = next.questions.filter(({ id }) => !changed.has(id));
  const asked = [...changed].flatMap((id) => entryOf(after.inbox, id) ?? []).filter(isQuestion);
  next.questions = [...kept, ...asked].toSorted((a, b) => placeOf(after.inbox, a.id) - placeOf(after.inbox, b.id));
}

const isQuestion = ({ sessionId, expiresAt }: InboxItem): boolean => sessionId !== null || expiresAt !== undefined;
