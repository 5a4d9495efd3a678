// The rules: may this happen now, and what follows? A refusal is a TuttiError and changes nothing.
//
// Invariants
// 1. Pure: the same run, command and time give the same events. Time comes in with the command.
// 2. A report about a session or a turn that no longer counts has no effect; only people's orders are refused.
// 3. A task is completed by the one session that holds its current attempt, at most once.
// 4. After the events of a command, everything that follows by itself is decided in the same step, so a log never
//    stops between a cause and its consequence.
import { apply } from "./apply.ts";
import type { Command, Order } from "./command.ts";
import { decideReport } from "./decide-report.ts";
import { follow } from "./follow.ts";
import { supply } from "./supply.ts";
import { TuttiError } from "../schema/error.ts";
import { onlyTells, type RunEvent } from "../schema/event.ts";
import { mainSessionId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver } from "../schema/status.ts";

export function decide(run: Run | null, command: Command, at: number): RunEvent[] {
  if (command.type === "create") return create(run, command);
  if (run === null) throw new TuttiError("run_not_found", "there is no such run");
  const decided = isOrder(command) ? order(run, command, at) : decideReport(run, command, at);
  // What ends the run ends its sessions too, and what they asked.
  const fatal = decided.some((event) => event.type === "orchestrator:error" && event.data.fatal);
  const events = fatal ? [...stopWorkers(run), ...withdrawAll(run), ...decided] : decided;
  if (events.every(({ type }) => onlyTells(type))) return events;
  let state = events.reduce((before, event) => next(before, event, at), run);
  for (let due = follow(state, at); due.length > 0; due = follow(state, at)) {
    events.push(...due);
    state = due.reduce((before, event) => next(before, event, at), state);
  }
  return events;
}

const next = (run: Run, event: RunEvent, timestamp: number): Run =>
  apply(run, { ...event, runSeq: run.runSeq + 1, timestamp });

const ORDERS = new Set<Command["type"]>(["start", "confirm", "cancel", "answer", "supply"]);
const isOrder = (command: Command): command is Exclude<Order, { type: "create" }> => ORDERS.has(command.type);

function create(run: Run | null, command: Extract<Order, { type: "create" }>): RunEvent[] {
  if (run !== null) throw new TuttiError("wrong_state", `run ${run.id} exists already`);
  const { id, templateId, template, cwd, message: userRequest, customVariables, agent } = command;
  const data = { id, templateId, cwd, status: "created" as const, template, userRequest, customVariables, agent };
  return [{ type: "orchestrator:created", data }];
}

function order(run: Run, command: Exclude<Order, { type: "create" }>, at: number): RunEvent[] {
  switch (command.type) {
    case "start": {
      if (run.status !== "created") throw refused(run, "started", "it has been started before");
      const { base, warnings } = command;
      const mainSession = mainSessionId(run.id, 1, run.template.config.sessionPrefix);
      return [
        {
          type: "orchestrator:started",
          data: { id: run.id, mainSessionId: mainSession, phase: "analysis", base, warnings },
        },
      ];
    }
    case "confirm":
      return confirm(run);
    case "cancel":
      if (isRunOver(run.status)) throw refused(run, "cancelled", `it is ${run.status}`);
      return [
        ...stopWorkers(run),
        ...withdrawAll(run),
        { type: "orchestrator:cancelled", data: { id: run.id, phase: run.currentPhase } },
      ];
    case "answer": {
      const item = run.inbox[command.itemId];
      if (!item) throw new TuttiError("item_not_found", `nothing waits under ${command.itemId}`);
      if (item.kind !== "question") throw refused(run, "answered", `${item.id} waits for data, not for words`);
      return [{ type: "inbox:answered", data: { id: run.id, itemId: item.id, text: command.text, withdrawn: false } }];
    }
    case "supply":
      return supply(run, command.itemId, command.answer, at);
  }
  return unreachable(command, at);
}

function confirm(run: Run): RunEvent[] {
  if (run.status !== "confirming") throw refused(run, "confirmed", `it is ${run.status}, not confirming`);
  if (run.planErrors.length > 0) {
    const message = `the plan of ${run.id} cannot be carried out: ${run.planErrors.join("; ")}`;
    throw new TuttiError("invalid_plan", message, { details: run.planErrors });
  }
  return [
    ...withdrawAll(run),
    { type: "orchestrator:confirmed", data: { id: run.id, taskCount: run.tasks.length } },
    {
      type: "orchestrator:phaseChanged",
      data: { id: run.id, previousPhase: run.currentPhase, currentPhase: "workerExecution", status: "spawning" },
    },
  ];
}

function stopWorkers(run: Run): RunEvent[] {
  return Object.values(run.workers)
    .filter((worker) => !isWorkerOver(worker.status) && worker.status !== "pending")
    .map(({ sessionId, taskId }) => ({
      type: "worker:cancelled",
      data: { sessionId, orchestratorId: run.id, taskId },
    }));
}

/** What waited for a person and has been overtaken. */
function withdrawAll(run: Run): RunEvent[] {
  return Object.keys(run.inbox).map((itemId) => ({
    type: "inbox:answered",
    data: { id: run.id, itemId, text: "", withdrawn: true },
  }));
}

const refused = (run: Run, verb: string, why: string): TuttiError =>
  new TuttiError("wrong_state", `run ${run.id} cannot be ${verb}: ${why}`, { details: { status: run.status } });

function unreachable(command: never, at: number): never {
  throw new Error(`unknown command ${JSON.stringify(command)} at ${at}`);
}
