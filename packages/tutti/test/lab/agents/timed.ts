// A `command:` agent that plans a chain of tasks, works for the given time on each, and appends to the file LEDGER when
// each of its processes started, received its task and had written its answer: lines of `EVENT TASK MILLISECONDS`, with
// the events `start`, `prompt` and `end`; the TASK of the main session is `main`. Its arguments are the number of tasks and
// the milliseconds of work. With the file PLAN it plans those tasks instead, and works on each for its `ms`.
import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

interface TimedTask {
  id: string;
  dependencies: string[];
  ms: number;
}

const { TUTTI_TASK_ID: task = "main", LEDGER = "", PLAN } = process.env;
const [length = 0, workMs = 0] = process.argv.slice(2).map(Number);
const note = (event: string, at: number): void => appendFileSync(LEDGER, `${event} ${task} ${at}\n`);
const send = (message: object): void => void writeSync(1, `${JSON.stringify(message)}\n`);
const block = (phase: string, data: object): string =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
const name = (i: number): string => `task_${String(i).padStart(3, "0")}`;
const chain = Array.from({ length }, (_, i) => ({
  id: name(i),
  dependencies: i === 0 ? [] : [name(i - 1)],
  ms: workMs,
}));
const tasks = PLAN === undefined ? chain : (JSON.parse(readFileSync(PLAN, "utf8")) as TimedTask[]);
const plan = tasks.map(({ id, dependencies }) => ({ id, dependencies, title: `Do ${id}`, description: `Do ${id}` }));

const ANSWERS: Record<string, () => string> = {
  analysis: () => block("analysis", { summary: "timed tasks", recommended_splits: plan.length }),
  taskPlanning: () => block("task_list", { tasks: plan }),
  workerExecution: () => {
    send({ type: "tool", name: "Write", input: {} });
    writeFileSync(`${task}.txt`, "done\n");
    return block("completion", { task_id: task, status: "success", summary: "done" });
  },
  aggregation: () => block("aggregation", { status: "success", summary: "merged" }),
  verification: () => block("verification", { status: "passed" }),
};

note("start", performance.timeOrigin);
for await (const line of createInterface({ input: process.stdin })) {
  const { type, phase } = JSON.parse(line) as { type: string; phase: string };
  if (type !== "user") continue;
  note("prompt", Date.now());
  await sleep(tasks.find(({ id }) => id === task)?.ms ?? 0);
  send({ type: "assistant", text: ANSWERS[phase]!() });
  send({ type: "turn_end" });
  note("end", Date.now());
}
