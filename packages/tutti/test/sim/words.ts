// The texts of agents: answer blocks, and texts that only look like one.
import type { Machine, Process } from "./machine.ts";
import { planOf } from "./scenario.ts";
import type { Turn } from "../../src/session/session.ts";

export const START = "<<<ORCHESTRATOR_RESPONSE>>>";
export const END = "<<<END_ORCHESTRATOR_RESPONSE>>>";

export const block = (phase: string, data: object): string => `${START}\n${JSON.stringify({ phase, data })}\n${END}`;

export const taskIdOf = ({ spec }: Process): string => spec.taskId ?? "main";

export function sample({ text }: Turn): string {
  const from = text.lastIndexOf(START);
  return from === -1 ? "nothing to repeat" : text.slice(from, text.indexOf(END, from) + END.length);
}

/** Returns text that looks like an answer but is invalid: another phase, wrong delimiters, or an unclosed block. */
export function spoof(process: Process): string {
  const fake = JSON.stringify({ phase: "completion", data: { task_id: taskIdOf(process), status: "success" } });
  return process.random.pick([
    `<<<ORCHESTRATOR_RESPONSE>>\n${fake}\n<<END_ORCHESTRATOR_RESPONSE>>>`,
    `${START}\n${fake}`,
    block("verification", { status: "passed" }).replace("verification", "heartbeat"),
    block("completion", { task_id: `${taskIdOf(process)}x`, status: "success" }),
  ]);
}

/** Returns the answer block for this turn. A worker's status is recorded in `claims`. */
export function answer(machine: Machine, process: Process, turn: Turn, status: string): string {
  const { random, spec } = process;
  switch (turn.phase) {
    case "workerExecution":
      process.claims.set(turn.number, status);
      return block("completion", { task_id: taskIdOf(process), status, summary: `by ${spec.sessionId}` });
    case "analysis":
      return block("analysis", { summary: "small", recommended_splits: random.int(1, 9) });
    case "taskPlanning": {
      const { stage } = machine;
      const root = stage.rootOf(spec.runId);
      const [, cycle = "0"] = /^This is cycle (\d+) of a run that plans again/m.exec(turn.text) ?? [];
      const isLast = Number(cycle) > stage.random.fork(`cycles ${root}`).int(1, 3);
      if (isLast) stage.finished.add(root);
      return block("task_list", { tasks: isLast ? [] : planOf(stage, root, random, Number(cycle)) });
    }
    case "aggregation":
      return block("aggregation", merging(machine, process, status));
    case "verification":
      return block("verification", { status: status === "failed" ? "failed" : "passed", summary: "looked at" });
  }
}

function merging({ stage }: Machine, { random }: Process, status: string): object {
  if (status === "failed") return { status: "failed", error: "it does not fit" };
  if (stage.calm || random.chance(0.7)) return { status: "success", summary: "one whole" };
  stage.count("aggregations that need a person");
  const conflicts = [{ type: "naming", description: "Which name?", options: ["a", "b"] }];
  return { status: "needs_input", summary: "undecided", ...(random.chance(0.5) ? { conflicts } : {}) };
}
