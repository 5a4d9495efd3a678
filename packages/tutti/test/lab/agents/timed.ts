// A `command:` agent that plans a chain of tasks, executes them at once, and appends to the file LEDGER when each of
// its processes started and when it had written its answer: lines of `start|end TASK MILLISECONDS`.
import { appendFileSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const { TUTTI_TASK_ID: task = "", LEDGER = "" } = process.env;
const length = Number(process.argv[2]);
const note = (event: string, at: number): void => appendFileSync(LEDGER, `${event} ${task} ${at}\n`);
const send = (message: object): void => void writeSync(1, `${JSON.stringify(message)}\n`);
const block = (phase: string, data: object): string =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
const name = (i: number): string => `task_${String(i).padStart(3, "0")}`;
const chain = Array.from({ length }, (_, i) => ({
  id: name(i),
  title: `Do ${i}`,
  description: `Do ${i}`,
  dependencies: i === 0 ? [] : [name(i - 1)],
}));

const ANSWERS: Record<string, () => string> = {
  analysis: () => block("analysis", { summary: "a chain", recommended_splits: length }),
  taskPlanning: () => block("task_list", { tasks: chain }),
  workerExecution: () => {
    send({ type: "tool", name: "Write", input: {} });
    writeFileSync(`${task}.txt`, "done\n");
    return block("completion", { task_id: task, status: "success", summary: "done" });
  },
  aggregation: () => block("aggregation", { status: "success", summary: "merged" }),
  verification: () => block("verification", { status: "passed" }),
};

if (task !== "") note("start", performance.timeOrigin);
for await (const line of createInterface({ input: process.stdin })) {
  const { type, phase } = JSON.parse(line) as { type: string; phase: string };
  if (type !== "user") continue;
  send({ type: "assistant", text: ANSWERS[phase]!() });
  send({ type: "turn_end" });
  if (task !== "") note("end", Date.now());
}
