// A `command:` agent that plays every role. The variable PLAN contains its tasks: { tasks: [{ id, dependencies, ms }]
// }. It appends every start and end of a worker to the file LEDGER, one line each.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

interface Plan {
  tasks: { id: string; dependencies?: string[]; ms: number }[];
  mainMs?: number;
}

const { TUTTI_ROLE, TUTTI_TASK_ID, TUTTI_ATTEMPT, PLAN = "", LEDGER = "" } = process.env;
const plan = JSON.parse(PLAN) as Plan;
const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const note = (event: string) => appendFileSync(LEDGER, `${event} ${TUTTI_TASK_ID} ${TUTTI_ATTEMPT} ${process.pid}\n`);
const block = (phase: string, data: object) =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;

async function work(): Promise<string> {
  const task = plan.tasks.find(({ id }) => id === TUTTI_TASK_ID)!;
  note("start");
  send({ type: "tool", name: "Write", input: {} });
  send({
    type: "assistant",
    text: block("progress", {
      task_id: TUTTI_TASK_ID,
      status: "in_progress",
      progress_percent: 50,
      current_action: "halfway",
    }),
  });
  await sleep(task.ms);
  mkdirSync("out", { recursive: true });
  writeFileSync(`out/${TUTTI_TASK_ID}.txt`, `${TUTTI_TASK_ID}\n`);
  note("end");
  return block("completion", { task_id: TUTTI_TASK_ID, status: "success", summary: `did ${TUTTI_TASK_ID}` });
}

const ANSWERS: Record<string, () => string | Promise<string>> = {
  analysis: () => block("analysis", { summary: "a project", recommended_splits: plan.tasks.length }),
  taskPlanning: () =>
    block("task_list", {
      tasks: plan.tasks.map(({ id, dependencies = [] }) => ({
        id,
        title: `Do ${id}`,
        description: `Do ${id}`,
        dependencies,
      })),
    }),
  workerExecution: work,
  aggregation: () => block("aggregation", { status: "success", summary: "merged" }),
  verification: () => block("verification", { status: "passed" }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { type: string; phase: string };
  if (message.type !== "user") continue;
  if (TUTTI_ROLE === "main") await sleep(plan.mainMs ?? 0);
  send({ type: "assistant", text: await ANSWERS[message.phase]!() });
  send({ type: "turn_end" });
}
