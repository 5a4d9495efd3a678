// Checks attempts: their start, their completion, their retries and their cost.
import type { Attempt, Ledger } from "./ledger.ts";
import type { Checked } from "./log-checks.ts";
import { checkNotAgain, checkReuse, noteFinished } from "./reuse-checks.ts";
import { scopesOverlap } from "../../../src/run/plan/scopes.ts";
import { FAILURE_CAUSES } from "../../../src/schema/ending.ts";
import type { EventData, StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";
import type { Task } from "../../../src/schema/task.ts";

export function checkAttempts(checked: Checked, ledger: Ledger, before: Run, event: StoredEvent): void {
  const { stage } = checked;
  switch (event.type) {
    case "main:spawning":
      return checkSession(checked, ledger, before, event.data.sessionId);
    case "worker:spawning":
      checkSession(checked, ledger, before, event.data.sessionId, ledger.notBefore.has(event.data.taskId));
      return checkStart(checked, ledger, before, event);
    case "turn:started":
      return checkTurn(checked, ledger, before, event.data);
    case "turn:ended":
      ledger.usd += event.data.usage.usd;
      ledger.tokens += event.data.usage.inputTokens + event.data.usage.outputTokens;
      return;
    case "worker:spawned":
      checkFoundation(checked, before, event.data);
      return checkNotAgain(checked, ledger, before, event.data);
    case "worker:completed":
      checkOwner(checked, ledger, event.data);
      if (event.data.reused) {
        checkReuse(checked, ledger, before, event.data);
        ledger.sessionCount--;
      } else {
        checkCompletion(checked, ledger, before, event.data);
        noteFinished(checked, ledger, event);
      }
      ledger.completed.set(event.data.taskId, event.data.commit);
      return end(ledger, event.data.taskId);
    case "worker:failed":
    case "worker:timeout":
      ledger.lastFailure.set(event.data.taskId, event.data.code);
      return end(ledger, event.data.taskId);
    case "worker:redelegated":
      ledger.active.delete(event.data.taskId);
      return;
    case "worker:cancelled":
      return end(ledger, event.data.taskId);
    case "worker:lost": {
      const { taskId, counted } = event.data;
      const losses = (ledger.losses.get(taskId) ?? 0) + (counted ? 1 : 0);
      ledger.losses.set(taskId, losses);
      stage.require(losses < 3, "I9", () => `${taskId} was lost ${losses} times`);
      ledger.active.delete(taskId);
      return;
    }
    case "merge:rejected":
      return checkRejection(checked, ledger, before, event.data);
    case "worker:retrying":
      return checkRetry(checked, ledger, before, event);
    case "orchestrator:error":
      return checkMainError(checked, before, event.data);
    case "hook:started": {
      const key = `${event.data.hook} ${event.data.cause}`;
      stage.require(!ledger.hooks.has(key), "I18", () => `${key} was started twice`);
      ledger.hooks.add(key);
      return;
    }
    case "hook:ended": {
      const limit = before.template.hooks[event.data.hook]?.timeout ?? 0;
      const { durationMs } = event.data;
      // A hook cannot be ended in time while the machine sleeps.
      const inTime = durationMs <= limit + 100 || stage.counts.has("sleeps of the machine");
      stage.require(inTime, "I18", () => `${event.data.hook} took ${durationMs} of ${limit} ms`);
      return;
    }
    default:
      return;
  }
}

function end(ledger: Ledger, taskId: string): void {
  ledger.active.delete(taskId);
  ledger.ended.add(taskId);
}

/** Compares the budget with `ledger`, which lacks the usage of open turns. */
function checkBudget({ stage }: Checked, ledger: Ledger, before: Run, what: string): void {
  const { usd = Infinity, tokens = Infinity } = before.budget;
  stage.require(ledger.usd < usd, "I10", () => `${what} although ${ledger.usd} of ${usd} dollars are used`);
  stage.require(ledger.tokens < tokens, "I10", () => `${what} although ${ledger.tokens} of ${tokens} tokens are used`);
}

function checkSession(checked: Checked, ledger: Ledger, before: Run, sessionId: string, delayed = false): void {
  const { stage } = checked;
  stage.require(!ledger.sessions.has(sessionId), "I4", () => `the attempt ${sessionId} begins twice`);
  ledger.sessions.add(sessionId);
  ledger.sessionCount++;
  const { descendants = Infinity } = before.budget;
  // Known gap in the rules: a `delayed` retry is not checked against the budget when it starts.
  const within = ledger.sessionCount <= descendants || delayed;
  stage.require(within, "I10", () => `session ${ledger.sessionCount} of ${descendants}`);
}

function checkStart(
  checked: Checked,
  ledger: Ledger,
  before: Run,
  event: StoredEvent & { type: "worker:spawning" },
): void {
  const { stage } = checked;
  const { taskId, sessionId, attempt } = event.data;
  const task = before.tasks.find(({ id }) => id === taskId);
  if (!task) return stage.fail("I1", `${taskId} is in no plan`);
  const goOn = before.template.config.failedDependency === "continue";
  for (const id of task.dependencies) {
    const skipped = before.skipped[id];
    const ended = ledger.ended.has(id) || before.blocked[id] !== undefined;
    const met = ledger.completed.has(id) || (skipped ? skipped.satisfied : goOn && ended);
    stage.require(met, "I1", () => `${taskId} starts before ${id}`);
  }
  stage.require(!ledger.active.has(taskId), "I4", () => `${taskId} starts while it runs`);
  stage.require(!ledger.completed.has(taskId), "I4", () => `${taskId} starts although it is complete`);
  const notBefore = ledger.notBefore.get(taskId) ?? 0;
  stage.require(event.timestamp >= notBefore, "I9", () => `${taskId} starts ${notBefore - event.timestamp} ms early`);
  ledger.notBefore.delete(taskId);
  ledger.ended.delete(taskId);
  ledger.sentBack.delete(taskId);
  checkCompany(checked, ledger, before, task, event.timestamp);
  checkNoOpenConflict(checked, before, event.data, task);
  const fresh: Attempt = {
    sessionId,
    taskId,
    number: attempt,
    startedAt: null,
    ranMs: 0,
    runsSince: null,
    paused: false,
    putOff: false,
    questions: new Set(),
    hasDelegated: false,
    unsure: false,
    seq: event.seq,
  };
  ledger.active.set(taskId, fresh);
  const active = [...checked.ledgers.values()].reduce((sum, each) => sum + each.busy, 0);
  stage.require(active <= checked.serverCap, "I2", () => `${active} workers on a server for ${checked.serverCap}`);
}

/** A task starts from the work of all its dependencies. */
function checkFoundation({ stage, repository }: Checked, run: Run, data: EventData<"worker:spawned">): void {
  const { taskId, start } = data;
  const { dependencies } = run.tasks.find(({ id }) => id === taskId)!;
  for (const id of dependencies) {
    const worker = run.workers[id];
    const isThere = worker?.status !== "completed" || repository.holds(start, worker.commit!);
    stage.require(isThere, "foundation", () => `${taskId} of ${run.id} starts at ${start} without the work of ${id}`);
  }
}

/** No conflict between the dependencies of a task is open when it starts. */
function checkNoOpenConflict({ stage }: Checked, run: Run, data: EventData<"worker:spawning">, task: Task): void {
  if (data.start !== undefined) stage.count("tasks that start from the branch");
  const open = run.conflicts.find(({ resolution, tasks }) => {
    return resolution === null && tasks.filter((id) => task.dependencies.includes(id)).length > 1;
  });
  stage.require(
    !open,
    "foundation",
    () => `${task.id} of ${run.id} starts with a conflict in ${open?.files.join(", ")}`,
  );
}

/** Checks that overlapping scopes do not run together, and that workers start at least `spawnDelay` apart. */
function checkCompany({ stage }: Checked, ledger: Ledger, before: Run, task: Task, at: number): void {
  const { overlappingScopes, spawnDelay } = before.template.config;
  if (overlappingScopes === "apart") {
    const others = before.tasks.filter(({ id }) => ledger.active.has(id));
    const other = others.find(({ scope }) => scopesOverlap(scope, task.scope));
    stage.require(!other, "scopes", () => `${task.id} starts beside ${other?.id}`);
  }
  const sinceMs = at - (ledger.lastStart ?? Number.NEGATIVE_INFINITY);
  const paced = sinceMs >= spawnDelay || stage.clock.wasSet;
  stage.require(paced, "pace", () => `${task.id} starts ${sinceMs} ms after the one before`);
  ledger.lastStart = at;
}

function checkTurn(checked: Checked, ledger: Ledger, before: Run, data: EventData<"turn:started">): void {
  const { stage } = checked;
  const key = `${data.sessionId} ${data.turn}`;
  stage.require(!ledger.turns.has(key), "turns", () => `turn ${key} begins twice`);
  stage.require(data.try <= 3, "I9", () => `turn ${key} is try ${data.try}`);
  ledger.turns.add(key);
  ledger.turnCount++;
  const { turns = Infinity } = before.budget;
  // All due turns start together, and only the first is checked against the budget, hence `turnsBefore`.
  stage.require(ledger.turnsBefore < turns, "I10", () => `turn ${ledger.turnCount} of ${turns}`);
  checkBudget(checked, ledger, before, `turn ${key} begins`);
}

function checkOwner({ stage }: Checked, ledger: Ledger, { taskId, sessionId }: EventData<"worker:completed">): void {
  stage.require(!ledger.completed.has(taskId), "I4", () => `${taskId} completes twice`);
  const active = ledger.active.get(taskId);
  stage.require(active?.sessionId === sessionId, "I4", () => `${taskId} is completed by ${sessionId}`);
}

/** A `worker:completed` requires a claim of its own session and visible work. */
function checkCompletion(checked: Checked, ledger: Ledger, before: Run, data: EventData<"worker:completed">): void {
  const { stage, machine, repository } = checked;
  const { taskId, sessionId, commit } = data;
  const process = machine.processes.get(sessionId);
  const turn = before.workers[taskId]?.session.turn?.number ?? ledger.run?.workers[taskId]?.session.turns ?? 0;
  const claim = process?.claims.get(turn);
  const claimed = claim === "success" || claim === "partial";
  stage.require(claimed, "claims", () => `${sessionId} never said in turn ${turn} that ${taskId} is done (${claim})`);
  const worked = (process?.tools ?? 0) > 0 || (process?.wrote.size ?? 0) > 0;
  const enough = worked || before.template.config.acceptWithoutWork;
  stage.require(enough, "claims", () => `${sessionId} did nothing for ${taskId}`);
  const { tree } = repository.get(commit);
  // A task that it delegated may have changed a file of its own after that.
  const isChanged = (path: string): boolean => ledger.active.get(taskId)?.hasDelegated === true && path in tree;
  const missing = [...(process?.wrote ?? [])].filter(([path, content]) => tree[path] !== content && !isChanged(path));
  stage.require(missing.length === 0, "claims", () => `${commit} of ${taskId} lacks ${missing[0]?.[0]}`);
}

const NOT_BY_ITSELF = new Set([
  "agent_not_startable",
  "agent_unknown",
  "session_lost",
  "phase_over",
  "auth",
  "billing",
  "invalid_request",
  "refusal",
  "agent_budget",
  "denied",
]);

const REFUSALS = new Set(["auth", "billing"]);

/** Endings of a main session whose phase another session may complete. */
const NOT_FINAL: ReadonlySet<string> = new Set(["session_lost", "phase_timeout", "turn_failed", ...FAILURE_CAUSES]);

/** Such an ending never ends the run: it waits for the user, and its completed tasks stay completed. */
function checkMainError({ stage }: Checked, before: Run, { fatal, code }: EventData<"orchestrator:error">): void {
  stage.require(!fatal || !NOT_FINAL.has(code), "main", () => `${before.id} ended with ${code} of its main session`);
  if (!fatal && NOT_FINAL.has(code)) stage.count("runs that wait for their main session");
}

/** Only accepted work that is not merged can be sent back, and no task has started from it. */
function checkRejection({ stage }: Checked, ledger: Ledger, before: Run, data: EventData<"merge:rejected">): void {
  const { taskId, commit } = data;
  stage.require(ledger.completed.get(taskId) === commit, "merge", () => `${commit} of ${taskId} was never accepted`);
  stage.require(!ledger.merged.has(commit + taskId), "merge", () => `${commit} of ${taskId} is sent back, but merged`);
  const dependents = before.tasks.filter(
    ({ id, dependencies }) => ledger.active.has(id) && dependencies.includes(taskId),
  );
  stage.require(dependents.length === 0, "I1", () => `${dependents[0]?.id} builds on ${taskId}, which is sent back`);
  stage.count("work sent back");
  ledger.completed.delete(taskId);
  ledger.sentBack.add(taskId);
  // An earlier result is no answer to the rejection.
  ledger.anew.add(taskId);
}

function checkRetry(
  { stage }: Checked,
  ledger: Ledger,
  before: Run,
  event: StoredEvent & { type: "worker:retrying" },
): void {
  const { taskId, automatic, notBefore } = event.data;
  const { maxRetries, retryOnError, autoRetry, retryDelay } = before.template.config;
  // A retry after a refused login or payment does not count.
  const isCounted = !REFUSALS.has(ledger.lastFailure.get(taskId) ?? "");
  const retries = (ledger.retries.get(taskId) ?? 0) + (isCounted ? 1 : 0);
  ledger.retries.set(taskId, retries);
  ledger.losses.delete(taskId);
  ledger.ended.delete(taskId);
  const isAllowed = !isCounted || (retries <= maxRetries && retryOnError);
  stage.require(isAllowed, "I9", () => `retry ${retries} of ${taskId}, of ${maxRetries}`);
  stage.require(!ledger.completed.has(taskId), "I4", () => `${taskId} is retried although it is complete`);
  if (ledger.sentBack.has(taskId)) return;
  if (!automatic) {
    ledger.anew.add(taskId);
    return;
  }
  const code = ledger.lastFailure.get(taskId) ?? "";
  stage.require(autoRetry && !NOT_BY_ITSELF.has(code), "I9", () => `${taskId} is retried by itself after ${code}`);
  const promised = event.timestamp + Math.min(3_600_000, retryDelay * 2 ** (retries - 1));
  stage.require((notBefore ?? 0) >= promised, "I9", () => `${taskId} waits ${(notBefore ?? 0) - event.timestamp} ms`);
  ledger.notBefore.set(taskId, promised);
}
