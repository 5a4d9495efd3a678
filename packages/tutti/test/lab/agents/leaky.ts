// A `command:` agent that prints all secrets it knows wherever an agent can print something. The file named by its
// first argument contains them. With a second argument it asks a question before it ends. Task b fails.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = "", asks] = process.argv.slice(2);
const secrets = JSON.parse(readFileSync(file, "utf8")) as string[];
const all = secrets.join(" ;\n");
const task = process.env["TUTTI_TASK_ID"];

const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const block = (phase: string, data: object) =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
/** JSON whose text is unreadable without decoding. */
const hidden = (text: string) =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

function leak(): void {
  process.stderr.write(`${all}\n`);
  send({ type: "ready", agent: `leaky ${secrets[0]}`, version: "1", conversation: secrets[0] });
  for (const secret of secrets) {
    process.stdout.write(`${secret}\n`);
    send({ type: "assistant", text: `found ${secret}` });
    send({ type: "assistant", text: `part ${secret}`, partial: true });
    send({ type: "tool", name: "Bash", input: { command: [secret], [secret]: 1 } });
    send({ type: "invention", secret });
  }
  process.stdout.write(`{"type":"assistant","text":"hidden ${hidden(all)}"}\n`);
  send({ type: "subagent", id: "one", phase: "done", text: all });
  send({ type: "provider_trouble", cause: "overloaded", detail: all, retryAfterMs: 10 });
}

const tasks = ["a", "b"].map((id) => ({
  id,
  title: `Do ${id}`,
  description: `Do ${id} with ${all}`,
  dependencies: [],
}));
const ANSWERS: Record<string, () => string> = {
  analysis: () => block("analysis", { summary: `it has ${all}`, recommended_splits: 2 }),
  taskPlanning: () => block("task_list", { tasks }),
  workerExecution: () => block("completion", { task_id: task, status: "success", summary: `used ${all}` }),
  // Only the delimiters of a block must be readable.
  aggregation: () => block("aggregation", { status: "success", summary: "HIDDEN" }).replace("HIDDEN", hidden(all)),
  verification: () => block("verification", { status: "passed", summary: `checked ${all}` }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { type: string; phase: string };
  if (message.type === "user") {
    leak();
    const progress = { task_id: task, status: "in_progress", progress_percent: 5, current_action: all };
    if (task !== undefined) send({ type: "assistant", text: block("progress", progress) });
    if (task === "b") send({ type: "turn_end", error: `broke with ${all}` });
    else if (task === "a" && asks) send({ type: "ask", id: "q", question: `May I use ${all}?`, options: [all, "no"] });
    else {
      send({ type: "assistant", text: ANSWERS[message.phase]!() });
      send({ type: "turn_end" });
    }
  } else if (message.type === "answer") {
    send({ type: "assistant", text: ANSWERS["workerExecution"]!() });
    send({ type: "turn_end" });
  }
}
