// A `text:` agent that plays every role. The block in the prompt decides its answer.
let prompt = "";
for await (const part of process.stdin) prompt += String(part);

const id = process.env["TUTTI_TASK_ID"] ?? "";
const block = (phase: string, data: object) =>
  `<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify({ phase, data })}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
const task = (name: string, dependencies: string[] = []) => ({
  id: name,
  title: name,
  description: name,
  dependencies,
});

if (prompt.includes('"phase": "completion"')) {
  const { writeFileSync } = await import("node:fs");
  writeFileSync(`${id}.txt`, `${id}\n`);
  console.log(block("completion", { task_id: id, status: "success" }));
} else if (prompt.includes('"phase": "task_list"')) {
  console.log(block("task_list", { tasks: [task("one"), task("two", ["one"])] }));
} else if (prompt.includes('"phase": "aggregation"')) {
  console.log(block("aggregation", { status: "success", summary: "merged" }));
} else {
  console.log(block("analysis", { summary: "seen", recommended_splits: 2 }));
}
