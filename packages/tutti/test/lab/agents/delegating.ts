// A `command:` agent that starts and reports sub-agents. The worker of task `stays` never ends; any other waits for the
// file named by the variable GO, then completes its sub-agents and itself.
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const task = process.env["TUTTI_TASK_ID"];
const go = process.env["GO"] ?? "";
const send = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const block = (phase: string, data: object): void =>
  send({
    type: "assistant",
    text: `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`,
  });
const plan = (process.env["TASKS"] ?? "one").split(",");

async function work(): Promise<void> {
  send({ type: "tool", id: "call-1", name: "Agent", input: {} });
  send({ type: "subagent", id: "1", phase: "started", text: "look around", toolId: "call-1" });
  send({ type: "tool", id: "call-2", parent: "call-1", name: "Read", input: { file_path: "a.md" } });
  send({ type: "subagent", id: "2", phase: "started" });
  send({ type: "subagent", id: "1", phase: "done", text: "there is nothing" });
  const isOver = (): boolean => task !== "stays" && existsSync(go);
  while (!isOver()) await sleep(50);
  send({ type: "subagent", id: "2", phase: "done" });
  writeFileSync(`${task}.md`, "done\n");
  block("completion", { task_id: task, status: "success", summary: "done" });
}

const ANSWERS: Record<string, () => void | Promise<void>> = {
  analysis: () => block("analysis", { summary: "small", recommended_splits: 1 }),
  taskPlanning: () =>
    block("task_list", { tasks: plan.map((id) => ({ id, title: id, description: id, dependencies: [] })) }),
  workerExecution: work,
  aggregation: () => block("aggregation", { status: "success", summary: "merged" }),
  verification: () => block("verification", { status: "passed" }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { type: string; phase: string };
  if (message.type !== "user") continue;
  await ANSWERS[message.phase]!();
  send({ type: "turn_end" });
}
