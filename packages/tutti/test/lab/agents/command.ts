// A `command:` agent that obeys the orders in its prompt; see orders.ts.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { carryOut, runCommand, writeFile, type Voice } from "./orders.ts";

const send = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const answers = new Map<string, (text: string) => void>();
let interrupt = new AbortController();
let asked = 0;

const voice: Voice = {
  say: (text) => {
    send({ type: "assistant", text, partial: true });
    send({ type: "assistant", text });
  },
  mutter: (text) => send({ type: "assistant", text, partial: true }),
  write: (file) => {
    send({ type: "tool", name: "Write", input: { file_path: file } });
    writeFile(file);
  },
  run: async (command) => {
    const id = `question-${++asked}`;
    const answer = new Promise<string>((resolve) => void answers.set(id, resolve));
    const permission = { tool: "Bash", subject: command };
    send({ type: "ask", id, question: `May I run ${command}?`, options: ["allow", "refuse"], permission });
    if ((await answer) !== "allow") return;
    send({ type: "tool", name: "Bash", input: { command } });
    await runCommand(command);
  },
  delegate: (text) => {
    send({ type: "subagent", id: "helper", phase: "started", text: "a part of it" });
    send({ type: "subagent", id: "helper", phase: "done", text });
  },
  use: (inputTokens, outputTokens) => send({ type: "usage", inputTokens, outputTokens }),
};

async function take(prompt: string): Promise<void> {
  interrupt = new AbortController();
  const end = await carryOut(prompt, voice, { again: false, interrupted: interrupt.signal });
  send({ type: "turn_end", ...(end.how === "failed" ? { error: end.words } : {}) });
}

const abilities = { partialText: true, interrupt: true, permissions: true, cost: "tokens", subagents: true };
send({ type: "ready", agent: "lab-command", version: "1.0.0", capabilities: abilities });
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { type: string; id: string; text: string };
  if (message.type === "user") void take(message.text);
  if (message.type === "answer") answers.get(message.id)?.(message.text);
  if (message.type === "interrupt") interrupt.abort();
}
