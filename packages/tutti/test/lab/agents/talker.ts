// A `command:` agent with far too much output in its first turn: megabytes in one line, many short lines and many short
// messages. It answers all other turns normally.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [megabytes = "0", lines = "0", messages = "0"] = process.argv.slice(2);
const task = process.env["TUTTI_TASK_ID"];
const print = (text: string) => {
  for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(1, rest));
};
const say = (text: string) => print(`${JSON.stringify({ type: "assistant", text })}\n`);
const block = (phase: string, data: object) =>
  say(`<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`);

function talk(): void {
  const megabyte = "far too many words ".repeat(Math.ceil(1e6 / 19)).slice(0, 1e6);
  for (let i = 0; i < Number(megabytes); i++) print(megabyte);
  print("\n");
  const page = Array.from({ length: 10_000 }, (_, i) => `a short line, ${i}\n`).join("");
  for (let i = 0; i < Number(lines) / 10_000; i++) print(page);
  const talk = Array.from(
    { length: 10_000 },
    (_, i) => `${JSON.stringify({ type: "assistant", text: `message ${i}` })}\n`,
  );
  for (let i = 0; i < Number(messages) / 10_000; i++) print(talk.join(""));
}

const ANSWERS: Record<string, () => void> = {
  analysis: () => (talk(), block("analysis", { summary: "a lot", recommended_splits: 1 })),
  taskPlanning: () => block("task_list", { tasks: [{ id: "a", title: "A", description: "a", dependencies: [] }] }),
  workerExecution: () => {
    print(`${JSON.stringify({ type: "tool", name: "Read", input: {} })}\n`);
    block("completion", { task_id: task, status: "success", summary: "done" });
  },
  aggregation: () => block("aggregation", { status: "success", summary: "merged" }),
  verification: () => block("verification", { status: "passed" }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { type: string; phase: string };
  if (message.type !== "user") continue;
  ANSWERS[message.phase]!();
  print('{"type":"turn_end"}\n');
}
