// The rules of a run: `decide` maps a command to the events that it causes. A rejected command throws a `TuttiError` and
// changes nothing.
//
// Invariants
// 1. `decide` is pure: the same run, command and time give the same events.
// 2. A `Report` about an outdated session or turn has no effect. Only an `Order` can be rejected.
// 3. Only the session of the current attempt can complete a task, and at most once.
// 4. One call also decides all consequences of its events, so a log never ends between a cause and its consequence.
// 5. Every change of status is listed in `RUN_MOVES` or `WORKER_MOVES`.
import { answerItem, decideByIndex } from "./inbox/answer-item.ts";
import { apply } from "./apply.ts";
import { start } from "./rules/begin.ts";
import type { Command, Order } from "./command.ts";
import { confirm, confirmAhead, editPlan, requestChanges } from "./plan/confirm.ts";
import { decideReport } from "./rules/decide-report.ts";
import { consequences } from "./consequences.ts";
import { addItem, withdraw } from "./inbox/inbox.ts";
import { cancel, cancelWorker, pause, pauseWorker, resumeWorker, stopWorkers } from "./lifecycle.ts";
import { workerOf } from "./lookup.ts";
import { sendMessage } from "./rules/message.ts";
import { resume, retryMain } from "./rules/resume.ts";
import { respond } from "./rules/respond.ts";
import { automaticRetry, FAILURE_OPTIONS, retry } from "./rules/retry.ts";
import { supply } from "./rules/supply.ts";
import { isDelegated } from "./team/delegation.ts";
import { overrideGate } from "./team/gate.ts";
import { RUN_MOVES, WORKER_MOVES } from "./transitions.ts";
import { TuttiError } from "../schema/error.ts";
import { isInformational, type RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { sentence } from "../sentence.ts";

export const decide = (run: Run | null, command: Command, at: number): RunEvent[] =>
  decideStep(run, command, at).events;

/** Unlike `decide`, also returns the run after the events. */
export function decideStep(run: Run | null, command: Command, at: number): { events: RunEvent[]; run: Run | null } {
  if (command.type === "create") return applied(run, create(run, command), at);
  if (run === null) throw new TuttiError("run_not_found", 'The run does not exist. List runs with "tutti list".');
  const decided = isOrder(command) ? order(run, command, at) : decideReport(run, command, at);
  if (decided.every(({ type }) => isInformational(type)) && command.type !== "tick") return applied(run, decided, at);
  const steps: RunEvent[] = [];
  let state = run;
  // A `tick` has no events of its own; it only triggers what is due by now.
  for (
    let due = decided.length > 0 ? decided : consequences(state, at);
    due.length > 0;
    due = consequences(state, at)
  ) {
    for (const event of withConsequences(state, due, at)) {
      steps.push(event);
      state = next(state, event, at);
    }
  }
  return { events: steps, run: state };
}

function applied(run: Run | null, events: RunEvent[], timestamp: number): { events: RunEvent[]; run: Run | null } {
  let state = run;
  for (const event of events) state = apply(state, { ...event, runSeq: (state?.runSeq ?? 0) + 1, timestamp });
  return { events, run: state };
}

const isFatal = (events: readonly RunEvent[]): boolean =>
  events.some((event) => event.type === "orchestrator:error" && event.data.fatal);

/** A failed run keeps its `data` and `failure` items: the user may still supply the data or retry the tasks. */
const withdrawOvertaken = (run: Run): RunEvent[] => withdraw(run, ({ kind }) => kind !== "failure" && kind !== "data");

/**
 * A fatal error cancels the workers and withdraws open items. A failed task gets an `automaticRetry` or a `failure`
 * item.
 */
function withConsequences(run: Run, events: readonly RunEvent[], at: number): readonly RunEvent[] {
  if (!events.some(({ type }) => HAS_CONSEQUENCES.has(type))) return events;
  const fatal = isFatal(events);
  const first = fatal ? [...stopWorkers(run), ...withdrawOvertaken(run)] : [];
  const rest = events.flatMap((event, index) => {
    if (event.type !== "worker:failed" && event.type !== "worker:timeout") return [event];
    const worker = workerOf(run, event.data.taskId)!;
    const again = fatal ? null : automaticRetry(run, worker, event.data.code, at);
    // The parent of a task that `isDelegated` decides what follows.
    if (again === null && !fatal && isDelegated(run, worker.task)) return [event];
    return [event, again ?? failure(run, event.data, index, at)];
  });
  return [...first, ...rest];
}

const HAS_CONSEQUENCES: ReadonlySet<RunEvent["type"]> = new Set([
  "orchestrator:error",
  "worker:failed",
  "worker:timeout",
]);

function failure(run: Run, data: { taskId: string; error: string; code: string }, index: number, at: number): RunEvent {
  const { taskId, error, code } = data;
  const worker = workerOf(run, taskId)!;
  const evidence = { error, code, attempt: worker.attempt, sessionId: worker.sessionId, retryCount: worker.retryCount };
  const question = sentence("Task {taskId} ({title}) did not complete: {error}", {
    taskId,
    title: worker.task.title,
    error,
  });
  const [, leave] = FAILURE_OPTIONS;
  return addItem(
    run,
    { kind: "failure", taskId, question, options: FAILURE_OPTIONS, evidence, default: leave!, index },
    at,
  );
}

/** A transition that `RUN_MOVES` or `WORKER_MOVES` does not list is a bug in the rules and must not reach the log. */
function next(run: Run, event: RunEvent, timestamp: number): Run {
  const after = apply(run, { ...event, runSeq: run.runSeq + 1, timestamp });
  if (after.status !== run.status && !RUN_MOVES[run.status].includes(after.status)) {
    throw new Error(`Event ${event.type} must not change run "${run.id}" from ${run.status} to ${after.status}.`);
  }
  if (event.type.startsWith("worker:") && "taskId" in event.data && event.data.taskId !== null) {
    const was = workerOf(run, event.data.taskId)?.status ?? "pending";
    const is = workerOf(after, event.data.taskId)?.status ?? "pending";
    if (was !== is && !WORKER_MOVES[was].includes(is)) {
      throw new Error(`Event ${event.type} must not change task "${event.data.taskId}" from ${was} to ${is}.`);
    }
  }
  return after;
}

const ORDERS: ReadonlySet<Command["type"]> = new Set<Order["type"]>([
  "start",
  "confirm",
  "edit",
  "confirmAhead",
  "requestChanges",
  "pause",
  "resume",
  "cancel",
  "pauseWorker",
  "resumeWorker",
  "cancelWorker",
  "retry",
  "message",
  "answer",
  "decide",
  "supply",
  "respond",
  "overrideGate",
]);
const isOrder = (command: Command): command is Exclude<Order, { type: "create" }> => ORDERS.has(command.type);

function create(run: Run | null, command: Extract<Order, { type: "create" }>): RunEvent[] {
  if (run !== null) throw new TuttiError("wrong_state", `Run "${run.id}" already exists. Choose another id.`);
  const {
    id,
    templateId,
    template,
    cwd,
    message: userRequest,
    customVariables,
    agent,
    providers,
    assignableAgents,
    follows,
    scope,
    sandbox,
    idempotency,
  } = command;
  const data = { id, templateId, cwd, status: "created" as const, template, userRequest, customVariables, agent };
  const more = {
    ...(providers ? { providers } : {}),
    ...(assignableAgents ? { assignableAgents } : {}),
    ...(follows ? { follows } : {}),
    ...(scope ? { scope } : {}),
    ...(sandbox ? { sandbox } : {}),
    ...(idempotency ? { idempotency } : {}),
  };
  return [{ type: "orchestrator:created", data: { ...data, ...more } }];
}

function order(run: Run, command: Exclude<Order, { type: "create" }>, at: number): RunEvent[] {
  switch (command.type) {
    case "start":
      return start(run, command.base, command.warnings, at);
    case "confirm":
      return confirm(run, command.changes ?? {}, command.hash);
    case "edit":
      return editPlan(run, command.changes, command.hash, at);
    case "confirmAhead":
      return confirmAhead(run);
    case "requestChanges":
      return requestChanges(run, command.text);
    case "pause":
      return pause(run, "person", "");
    case "resume":
      return resume(run, at);
    case "cancel":
      return cancel(run);
    case "pauseWorker":
      return pauseWorker(run, command.sessionId);
    case "resumeWorker":
      return resumeWorker(run, command.sessionId);
    case "cancelWorker":
      return cancelWorker(run, command.sessionId);
    case "retry":
      return command.taskId === null ? retryMain(run, at) : retry(run, command.taskId, at);
    case "overrideGate":
      return overrideGate(run, command.environment, command.by, command.reason);
    case "message":
      return sendMessage(run, command);
    case "answer":
      return answerItem(run, command.itemId, command.answer, at);
    case "decide":
      return decideByIndex(run, command.decisions);
    case "supply":
      return supply(run, command.itemId, command.answer, at);
    case "respond":
      return respond(run, command.answer, at);
  }
}
