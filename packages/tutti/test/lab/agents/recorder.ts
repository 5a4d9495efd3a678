// A `command:` agent that appends its other arguments and every line it receives to the file named by its first argument.
// Its worker asks one question and then does its task.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = "", ...others] = process.argv.slice(2);
const task = process.env["TUTTI_TASK_ID"];

const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const answer = (phase: string, data: object) => {
  const text = `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
  send({ type: "assistant", text });
  send({ type: "turn_end" });
};
const ANSWERS: Record<string, () => void> = {
  analysis: () => answer("analysis", { summary: "small", recommended_splits: 1 }),
  taskPlanning: () => answer("task_list", { tasks: [{ id: "a", title: "A", description: "Do a", dependencies: [] }] }),
  workerExecution: () => {
    appendFileSync("a.md", "a");
    send({ type: "tool", name: "Write", input: { file_path: "a.md" } });
    answer("completion", { task_id: task, status: "success", summary: "done" });
  },
  verification: () => answer("verification", { status: "passed", summary: "fine" }),
  aggregation: () => answer("aggregation", { status: "success", summary: "all" }),
};

if (others.length > 0) appendFileSync(file, `${others.join(" ")}\n`);
let phase = "";
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(file, `${line}\n`);
  const message = JSON.parse(line) as { type: string; phase?: string };
  if (message.type === "user") phase = message.phase!;
  if (message.type === "user" && task !== undefined) send({ type: "ask", id: "q", question: "Which key?" });
  else if (message.type === "user" || message.type === "answer") ANSWERS[phase]!();
}
