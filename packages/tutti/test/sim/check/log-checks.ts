// Checks every event at the moment it becomes durable, against the log, the real behaviour of the sessions and the
// repository, but never against the engine's state.
import { checkAttempts } from "./attempt-checks.ts";
import { Ledger } from "./ledger.ts";
import { checkNobodyElseWaits, checkProviders } from "./provider-checks.ts";
import { noteFork, type Results } from "./reuse-checks.ts";
import { checkBreaker, checkNothingQueued, checkTeam } from "./team-checks.ts";
import { checkTime, stopClocks } from "./time-checks.ts";
import type { Machine } from "../machine.ts";
import type { Repository } from "../repository.ts";
import type { Stage } from "../stage.ts";
import { consequences } from "../../../src/run/consequences.ts";
import { workersOf } from "../../../src/run/lookup.ts";
import { isNatural } from "../../../src/run/rules/natural.ts";
import { RUN_MOVES, WORKER_MOVES } from "../../../src/run/transitions.ts";
import { isInformational, type StoredEvent } from "../../../src/schema/event.ts";
import { runBranch } from "../../../src/schema/ids.ts";
import type { Run } from "../../../src/schema/run.ts";
import { isRunOver } from "../../../src/schema/status.ts";

export interface Checked {
  stage: Stage;
  machine: Machine;
  repository: Repository;
  ledgers: Map<string, Ledger>;
  results: Results;
  serverCap: number;
}

export function checkBatch(checked: Checked, events: readonly StoredEvent[]): void {
  const previous = checked.ledgers.get(events[0]?.run ?? "");
  if (previous) previous.turnsBefore = previous.turnCount;
  const forked = events.findLast((event) => event.type === "orchestrator:forked");
  // The history of a fork was checked when it happened, so `quietly` reports no violation.
  if (forked) checked.stage.quietly(() => checkEvents(checked, events));
  else checkEvents(checked, events);
  if (checked.stage.violation) return;
  if (forked) noteFork(checked, forked);
  const ledger = checked.ledgers.get(events[0]?.run ?? "");
  if (!ledger?.run) return;
  checkRun(checked, ledger, ledger.run);
  if (!forked) checkNothingQueued(checked, ledger, ledger.run, events);
  if (!forked) checkBreaker(checked, ledger, ledger.run);
  checkWhole(checked.stage, ledger.run, events);
  if (!checked.stage.violation) checkNobodyElseWaits(checked.stage, ledger, ledger.run, events);
}

function checkEvents(checked: Checked, events: readonly StoredEvent[]): void {
  for (const event of events) {
    if (event.run === null) continue;
    const ledger = checked.ledgers.get(event.run) ?? new Ledger();
    checked.ledgers.set(event.run, ledger);
    checkEvent(checked, ledger, event);
    if (checked.stage.violation) return;
  }
}

/** `consequences` must find no further event: a log never ends between a cause and its consequence. */
function checkWhole(stage: Stage, run: Run, events: readonly StoredEvent[]): void {
  if (stage.violation || events.every(({ type }) => isInformational(type))) return;
  const [due] = consequences(run, events.at(-1)!.timestamp);
  // Items that were overdue at the `orchestrator:forked` event are answered when the fork is adopted.
  const isFork = events.some(({ type }) => type === "orchestrator:forked");
  if (isFork && due?.type === "inbox:answered") return stage.count("forks with something overdue");
  stage.require(!due, "I3", () => `the log of ${run.id} ends before ${due?.type}`);
}

function checkEvent(checked: Checked, ledger: Ledger, event: StoredEvent): void {
  const { stage } = checked;
  stage.loop.note(`stored ${event.run} ${event.runSeq} ${event.type} ${brief(event)}`);
  stage.count(`event: ${event.type}`);
  stage.require(
    event.runSeq === ledger.runSeq + 1,
    "I7",
    () => `${event.run} goes from ${ledger.runSeq} to ${event.runSeq}`,
  );
  let before: Run | null;
  try {
    before = ledger.take(event);
  } catch (error) {
    return stage.fail("I8", `the log cannot be folded: ${String(error)}`);
  }
  if ("code" in event.data && (event.data.code === "internal" || event.data.code === "append_conflict")) {
    stage.fail("faults", `${event.type}: ${JSON.stringify(event.data)}`);
  }
  if (before) {
    checkTables(stage, before, ledger.run!, event);
    checkPause(stage, before, event);
    checkTime(stage, ledger, before, event);
    checkAttempts(checked, ledger, before, event);
    checkProviders(checked, ledger, before, event);
    checkPerson(stage, before, event);
    checkGit(checked, ledger, event);
    checkRepair(checked, before, event);
    checkEnd(checked, ledger, event);
    checkNatural(stage, before, event);
    checkTeam(checked, ledger, before, event);
  }
}

/** A run in natural mode ends after its sub-sessions, unless the user answers in place of its session. */
function checkNatural(stage: Stage, before: Run, { type }: StoredEvent): void {
  if (type !== "orchestrator:completed" || !isNatural(before) || before.main?.state !== "running") return;
  const { sessionId } = before.main;
  const open = Object.values(before.subagents ?? {}).filter(
    (each) => each.endedAt === null && each.sessionId === sessionId,
  );
  stage.require(open.length === 0, "sub-sessions", () => `${before.id} ends with ${open.length} open sub-sessions`);
  stage.count("completed in natural mode");
}

/** The fields that distinguish events of one type in the simulation's log. */
function brief({ data }: StoredEvent): string {
  const about = data as Record<string, unknown>;
  return ["taskId", "sessionId", "turn", "code", "status", "itemId", "reason", "hook", "cause", "commit"]
    .filter((name) => about[name] !== undefined && about[name] !== null)
    .map((name) => String(about[name]))
    .join(" ");
}

function checkTables(stage: Stage, before: Run, after: Run, event: StoredEvent): void {
  const moved = before.status !== after.status;
  stage.require(!moved || RUN_MOVES[before.status].includes(after.status), "tables", () => {
    return `${event.type} takes ${event.run} from ${before.status} to ${after.status}`;
  });
  for (const worker of workersOf(after)) {
    const was = before.workers[worker.taskId]?.status ?? "pending";
    const allowed = was === worker.status || WORKER_MOVES[was].includes(worker.status);
    stage.require(allowed, "tables", () => `${event.type} takes ${worker.taskId} from ${was} to ${worker.status}`);
  }
}

const BEGINS = new Set(["worker:spawning", "main:spawning", "turn:started"]);

function checkPause(stage: Stage, before: Run, event: StoredEvent): void {
  if (!BEGINS.has(event.type)) return;
  const still = before.status === "paused" || isRunOver(before.status);
  stage.require(!still, "pause", () => `${event.type} in ${event.run}, which is ${before.status}`);
}

function checkPerson(stage: Stage, before: Run, event: StoredEvent): void {
  if (event.type === "orchestrator:confirmed") {
    const allowed = before.template.config.autoSpawn || stage.confirmed.has(before.id);
    stage.require(allowed, "person", () => `the user has not confirmed the plan of ${before.id}`);
  }
  if (event.type !== "inbox:answered" || event.data.withdrawn) return;
  const item = before.inbox[event.data.itemId];
  if (item?.kind !== "question") return;
  const overdue = item.expiresAt !== undefined && event.timestamp >= item.expiresAt;
  const earlier = before.answers[`${item.taskId ?? "main"}: ${item.question}`];
  // `answers` has this text for the same question.
  const known = JSON.stringify(earlier ?? null).includes(JSON.stringify(event.data.text));
  stage.require(
    overdue || known || stage.answered.has(item.id),
    "person",
    () => `the user has not answered ${item.id}`,
  );
}

/** A repair removes no file: agents of the simulation delete none. */
function checkRepair({ stage, repository }: Checked, before: Run, event: StoredEvent): void {
  if (event.type !== "workspace:repaired") return;
  const { head } = event.data;
  const { tree } = repository.get(head);
  const lost = Object.keys(repository.get(before.head!).tree).filter((path) => tree[path] === undefined);
  stage.require(lost.length === 0, "repair", () => `the repair ${head} removes ${lost.join(", ")}`);
  const reverted = workersOf(before).filter(({ merged, commit }) => {
    return merged === "merged" && !repository.holds(head, commit!);
  });
  stage.require(reverted.length === 0, "repair", () => `the repair ${head} lacks ${reverted[0]?.taskId}`);
  const [isOpen] = before.conflicts.filter(({ resolution }) => resolution === null);
  stage.require(isOpen !== undefined, "repair", () => `${head} repairs nothing`);
}

/** A commit in `workspace:merged` is in the branch, exactly once. */
function checkGit({ stage, repository }: Checked, ledger: Ledger, event: StoredEvent): void {
  if (event.type !== "workspace:merged" && event.type !== "workspace:conflict") return;
  const { taskId, commit } = event.data;
  stage.require(ledger.completed.get(taskId) === commit, "merge", () => `${commit} of ${taskId} was never accepted`);
  stage.require(!ledger.merged.has(commit + taskId), "merge", () => `${commit} of ${taskId} was merged twice`);
  ledger.merged.add(commit + taskId);
  const isConflict = event.type === "workspace:conflict";
  if (isConflict) {
    stage.count("conflicts");
    ledger.conflicted.add(commit);
  }
  if (!isConflict && event.data.settled) stage.count("conflicts settled");
  const head = event.data.head!;
  stage.require(repository.holds(head, commit), "merge", () => `${head} does not hold ${commit} of ${taskId}`);
  const merges = repository.mainLine(head).filter((id) => repository.get(id).parents[1] === commit);
  stage.require(merges.length <= 1, "merge", () => `${commit} of ${taskId} was merged ${merges.length} times`);
  // A merge that is repeated after a crash returns an empty `settled`, as `Workspaces` documents.
  const favoured = ledger.run!.template.phases.aggregation.conflictResolution.endsWith("-wins");
  if (!favoured && !ledger.conflicted.has(commit)) checkNothingLost(stage, repository, head, commit);
}

/** A merge without a conflict changes no file that both sides have changed. */
function checkNothingLost(stage: Stage, repository: Repository, head: string, commit: string): void {
  const merge = repository.mainLine(head).find((id) => repository.get(id).parents[1] === commit);
  if (merge === undefined) return;
  const [ours] = repository.get(merge).parents;
  const { collided } = repository.merge(ours!, commit);
  stage.require(collided.length === 0, "merge", () => `${commit} was merged over ${collided.join(", ")}`);
}

/** A finished run has no open attempt. After `workspace:released` it has no session and no workspace. */
function checkEnd({ stage, machine, repository }: Checked, ledger: Ledger, event: StoredEvent): void {
  const run = ledger.run!;
  if (isRunOver(run.status)) {
    const open = [...ledger.active.keys()];
    stage.require(open.length === 0, "I13", () => `${run.id} is ${run.status} and ${open.join(", ")} are open`);
  }
  if (event.type === "orchestrator:completed") {
    const head = repository.branches.get(runBranch(run.id));
    // A run without any phase ends before it has a branch.
    stage.require((head ?? run.base) === run.head, "merge", () => `the branch is at ${head}, the log says ${run.head}`);
    for (const { taskId, merged, commit } of workersOf(run)) {
      const there = merged !== "merged" || repository.holds(run.head!, commit!);
      stage.require(there, "merge", () => `the work of ${taskId} is not in the result`);
    }
  }
  if (event.type === "workspace:released") {
    const left = machine.living().filter(({ spec }) => spec.runId === run.id);
    stage.require(left.length === 0, "I13", () => `${left[0]?.spec.sessionId} outlives its run`);
    const folders = [...repository.folders.values()].filter(({ runId }) => runId === run.id);
    stage.require(folders.length === 0, "I13", () => `${folders[0]?.path} outlives its run`);
  }
}

/** After each batch: the worker limit holds, and no task is blocked by completed tasks. */
function checkRun({ stage }: Checked, ledger: Ledger, run: Run): void {
  stage.require(
    run.status === "paused" || ledger.busy <= capOf(run),
    "I2",
    () => `${ledger.busy} workers in ${run.id}`,
  );
  for (const [taskId, because] of Object.entries(run.blocked)) {
    const freed = because.length > 0 && because.every((id) => ledger.completed.has(id));
    stage.require(!freed, "I20", () => `${taskId} is blocked by ${because.join(", ")}, which completed`);
  }
  if (isRunOver(run.status)) stopClocks(stage, ledger);
}

export const capOf = ({ template: { config } }: Run): number => (config.parallelExecution ? config.maxWorkers : 1);
