// A program that implements Claude Code's protocol and obeys the orders in its prompt; see orders.ts. Like the real one
// it stores a conversation with its first answer, resumes only a stored one, and begins none under the same id.
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { carryOut, runCommand, writeFile, type TurnEnd, type Voice } from "./orders.ts";

interface Heard {
  type: string;
  request_id: string;
  request: { subtype: string };
  response: { request_id: string; response: { behavior: string } };
  message: { content: { text: string }[] };
}

const again = process.argv.includes("--resume");
const conversation = process.argv.at(-1)!;
const stored = join(process.env["CLAUDE_CONFIG_DIR"]!, `${conversation}.jsonl`);
const answers = new Map<string, (allowed: boolean) => void>();
/** Totals of the whole conversation. */
const used = { inputTokens: 0, outputTokens: 0, costUSD: 0 };
let interrupt = new AbortController();
let count = 0;

const send = (message: object): void => void writeSync(1, `${JSON.stringify(message)}\n`);
const system = (subtype: string, more: object): void => send({ type: "system", subtype, ...more });
const rest = (state: "idle" | "running"): void => system("session_state_changed", { state });
const respond = (id: string, response: object): void =>
  send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
const speak = (content: object[], parent: string | null = null, more: object = {}): void =>
  send({ type: "assistant", parent_tool_use_id: parent, message: { role: "assistant", content }, ...more });

/** Calls a tool, after a permission request if `asks`. The files in the tool's folder are the result. */
async function use(name: string, input: object, work: () => unknown, asks: boolean): Promise<void> {
  const id = `tool-${++count}`;
  speak([{ type: "tool_use", id, name, input }]);
  const allowed = !asks || (await ask(id, name, input));
  if (allowed) await work();
  const content = [{ type: "tool_result", tool_use_id: id, content: `what came of ${JSON.stringify(input)}` }];
  const meta = allowed ? [] : [{ id, permission_decision: { decision: "reject" } }];
  send({ type: "user", parent_tool_use_id: null, message: { role: "user", content }, tool_result_meta: meta });
}

function ask(toolUseId: string, name: string, input: object): Promise<boolean> {
  const id = `ask-${toolUseId}`;
  send({
    type: "control_request",
    request_id: id,
    request: { subtype: "can_use_tool", tool_name: name, input, tool_use_id: toolUseId },
  });
  return new Promise((resolve) => void answers.set(id, resolve));
}

const delta = (text: string): void =>
  send({ type: "stream_event", parent_tool_use_id: null, event: { type: "content_block_delta", delta: { text } } });

const voice: Voice = {
  say: (text) => {
    delta(text);
    speak([{ type: "text", text }]);
  },
  mutter: delta,
  write: (file) => use("Write", { file_path: file }, () => writeFile(file), false),
  run: (command) => use("Bash", { command }, () => runCommand(command), true),
  delegate: (words) =>
    use(
      "Agent",
      { description: "a part of it", prompt: words },
      () => {
        system("task_started", { task_id: "task", tool_use_id: `tool-${count}`, subagent_type: "general" });
        speak([{ type: "text", text: words }], `tool-${count}`);
        system("task_notification", { task_id: "task", summary: words });
      },
      false,
    ),
  use: (inputTokens, outputTokens) => {
    used.inputTokens += inputTokens;
    used.outputTokens += outputTokens;
    used.costUSD += 0.01;
  },
};

/** Claude reports most failures as a success, with the error text as the answer. */
function resultOf(end: TurnEnd): object {
  const common = { type: "result", subtype: "success", permission_denials: [], modelUsage: { model: used } };
  if (end.how === "ended") return { ...common, is_error: false, result: "done" };
  if (end.how === "interrupted")
    return { ...common, subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" };
  const error = { is_error: true, result: end.words, terminal_reason: "api_error", api_error_status: end.code };
  return { ...common, ...error };
}

async function take(message: Heard): Promise<void> {
  interrupt = new AbortController();
  rest("running");
  send({ type: "command_lifecycle", state: "started" });
  system("status", { status: "requesting" });
  writeFileSync(stored, "");
  send({ ...message, isReplay: true });
  const prompt = message.message.content.map(({ text }) => text).join("\n");
  const end = await carryOut(prompt, voice, { again, interrupted: interrupt.signal });
  if (end.how === "failed") speak([{ type: "text", text: end.words }], null, { error: "unknown" });
  send(resultOf(end));
  rest("idle");
}

if (existsSync(stored) !== again) {
  const problem = again ? "No conversation found with session ID" : "Session ID is already in use";
  send({ type: "result", subtype: "error_during_execution", is_error: true, errors: [problem] });
  process.stderr.write(`${problem}: ${conversation}\n`);
  process.exit(1);
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Heard;
  if (message.type === "user") void take(message);
  if (message.type === "control_response")
    answers.get(message.response.request_id)?.(message.response.response.behavior === "allow");
  if (message.type !== "control_request") continue;
  if (message.request.subtype === "interrupt") interrupt.abort();
  const start = { claude_code_version: "2.1.325", session_state: "idle", agents: [{ name: "general" }] };
  respond(message.request_id, message.request.subtype === "initialize" ? start : {});
}
