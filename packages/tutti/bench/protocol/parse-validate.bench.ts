// Measures the cost of reading and checking an agent's answer as a multiple of JSON.parse on the same text: the check
// alone (generated, and by the schema from which it is generated), the public validatePhase with its warnings, and all
// processing of a block until its answer is accepted.
// Run: npm run bench -- parse-validate
import { readBlock } from "../../src/protocol/response/block.ts";
import { answerIssues } from "../../src/protocol/response/check-answer.ts";
import { normaliseAnswer } from "../../src/protocol/response/normalise-answer.ts";
import { validatePhase } from "../../src/protocol/response/validate-phase.ts";
import { ANSWERS } from "../../src/schema/answer.ts";
import type { BlockPhase } from "../../src/schema/answer.ts";
import { compare } from "./compare.ts";

interface Message {
  phase: BlockPhase;
  data: Record<string, unknown>;
}

const SENTENCE = "Describe every endpoint with its request, its response, its errors and one example for each of them.";

function plan(count: number): Message {
  const id = (index: number) => `task_${String(index + 1).padStart(3, "0")}`;
  const tasks = Array.from({ length: count }, (_, index) => ({
    id: id(index),
    title: `Document module ${index + 1} of the backend`,
    description: index % 4 === 0 ? SENTENCE : `${SENTENCE} See docs/style/${index}.md for the form that it is to have.`,
    scope: ["backend/server.js:2400-2520", "public/app.js:websocket"],
    priority: (index % 10) + 1,
    dependencies: index < 10 ? [] : [id(index % 10)],
    ...(index % 3 === 0 ? { estimated_tokens: 5000 } : {}),
  }));
  return { phase: "task_list", data: { tasks, total_tasks: count } };
}

function progress(index: number): Message {
  return {
    phase: "progress",
    data: {
      task_id: "task_001",
      status: "in_progress",
      progress_percent: index,
      ...(index % 2 === 0 ? { current_action: `Reading file ${index} of 100` } : {}),
      files_processed: index,
      files_total: 100,
    },
  };
}

function accept(text: string, check: (phase: BlockPhase, data: unknown) => unknown): unknown {
  const { block } = readBlock(text);
  if (!block.ok) return null;
  const phase = block.phase as BlockPhase;
  return check(phase, normaliseAnswer(phase, block.data).data);
}

function measure(title: string, messages: Message[], repeats: number): void {
  const texts = messages.map((message) => JSON.stringify(message));
  const eachText = (act: (text: string) => unknown) => () => {
    for (const text of texts) if (act(text) === null) throw new Error("A valid message was rejected");
  };
  const eachMessage = (act: (message: Message) => unknown) => eachText((text) => act(JSON.parse(text) as Message));
  const shares = compare(
    {
      "JSON.parse": eachText((text) => JSON.parse(text)),
      "JSON.parse, then the generated check": eachMessage(({ phase, data }) => generated(phase, data)),
      "JSON.parse, then the schema": eachMessage(({ phase, data }) => bySchema(phase, data)),
      "JSON.parse, then validatePhase": eachMessage(({ phase, data }) => validatePhase(phase, data)),
      "a block: read tolerantly": eachText((text) => readBlock(text)),
      "a block: read tolerantly, normalised, checked by generated code": eachText((text) => accept(text, generated)),
      "a block: read tolerantly, normalised, checked by the schema": eachText((text) => accept(text, bySchema)),
    },
    repeats,
  );
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  console.log(`${title}, ${bytes} bytes:`);
  for (const [name, share] of Object.entries(shares)) console.log(`  ${(1 / share).toFixed(2)}  ${name}`);
}

const generated = (phase: BlockPhase, data: unknown) => (answerIssues(phase, data).length === 0 ? data : null);
const bySchema = (phase: BlockPhase, data: unknown) => ANSWERS[phase].safeParse(data).data ?? null;

measure("a task_list of 100 tasks", [plan(100)], 200);
const reports = Array.from({ length: 100 }, (_, index) => progress(index));
measure("100 progress messages", reports, 200);
