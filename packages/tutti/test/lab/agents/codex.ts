// A program that implements the protocol of Codex's app-server and obeys the orders in its prompt; see orders.ts.
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { carryOut, runCommand, writeFile, type TurnEnd, type Voice } from "./orders.ts";

interface Heard {
  id?: number | string;
  method?: string;
  params: { threadId: string; input: { text: string }[] };
  result: { decision: string };
}

const threadId = "thread-of-the-lab";
const answers = new Map<unknown, (decision: string) => void>();
/** Totals of the whole conversation. */
const total = { inputTokens: 0, outputTokens: 0 };
let interrupt = new AbortController();
let again = false;
let count = 0;
let turnId = "";

const send = (message: object): void => void writeSync(1, `${JSON.stringify(message)}\n`);
const notify = (method: string, params: object): void => send({ method, params: { threadId, turnId, ...params } });
const begin = (id: string, item: object): void => notify("item/started", { item: { id, ...item } });
const complete = (id: string, item: object): void => notify("item/completed", { item: { id, ...item } });

function ask(itemId: string, command: string): Promise<string> {
  const id = `approval-${itemId}`;
  send({ id, method: "item/commandExecution/requestApproval", params: { threadId, turnId, itemId, command } });
  return new Promise((settle) => void answers.set(id, settle));
}

const voice: Voice = {
  say: (text) => {
    const id = `item-${++count}`;
    begin(id, { type: "agentMessage", text: "" });
    notify("item/agentMessage/delta", { itemId: id, delta: text });
    complete(id, { type: "agentMessage", text });
  },
  mutter: (delta) => notify("item/agentMessage/delta", { itemId: "unfinished", delta }),
  write: (file) => {
    const id = `item-${++count}`;
    const item = { type: "fileChange", changes: [{ path: resolve(file), kind: { type: "add" } }] };
    begin(id, item);
    writeFile(file);
    complete(id, { ...item, status: "completed" });
  },
  run: async (command) => {
    const id = `item-${++count}`;
    const item = { type: "commandExecution", command };
    begin(id, item);
    const decision = await ask(id, command);
    if (decision === "accept") await runCommand(command);
    complete(id, {
      ...item,
      status: decision === "accept" ? "completed" : "declined",
      aggregatedOutput: `what came of ${command}`,
    });
  },
  // `delegate` uses another thread, as Codex does for sub-agents.
  delegate: (text) => {
    const threadId = "another-thread";
    const call = { type: "collabAgentToolCall", tool: "spawnAgent", receiverThreadIds: [threadId], prompt: text };
    complete(`item-${++count}`, { ...call, status: "completed" });
    const item = { id: "i", type: "agentMessage", text };
    notify("item/completed", { threadId, item });
    notify("turn/completed", { threadId, turn: { id: "t", status: "completed", items: [item] } });
  },
  use: (inputTokens, outputTokens) => {
    total.inputTokens += inputTokens;
    total.outputTokens += outputTokens;
    notify("thread/tokenUsage/updated", { tokenUsage: { total } });
  },
};

function turnOf(end: TurnEnd): object {
  if (end.how === "ended") return { status: "completed" };
  if (end.how === "interrupted") return { status: "interrupted" };
  return { status: "failed", error: { message: end.words, codexErrorInfo: "badRequest" } };
}

async function take(id: Heard["id"], prompt: string): Promise<void> {
  interrupt = new AbortController();
  turnId = `turn-${++count}`;
  send({ id, result: { turn: { id: turnId, status: "inProgress" } } });
  notify("turn/started", { turn: { id: turnId } });
  complete(`item-${++count}`, { type: "userMessage", content: [{ type: "text", text: prompt }] });
  const end = await carryOut(prompt, voice, { again, interrupted: interrupt.signal });
  notify("turn/completed", { turn: { id: turnId, ...turnOf(end) } });
}

const ANSWERS: Record<string, object> = {
  initialize: { userAgent: "tutti/0.166.0 (Linux; x86_64)", codexHome: process.env["CODEX_HOME"] },
  "account/read": { account: null, requiresOpenaiAuth: false },
  "thread/start": { thread: { id: threadId } },
  "thread/resume": { thread: { id: threadId } },
  "turn/interrupt": {},
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line) as Heard;
  if (method === undefined) answers.get(id)?.(result.decision);
  else if (method === "turn/start") void take(id, params.input.map(({ text }) => text).join("\n"));
  else if (id !== undefined) {
    if (method === "turn/interrupt") interrupt.abort();
    if (method === "thread/resume") again = true;
    send({ id, result: ANSWERS[method] ?? {} });
  }
}
