// An ACP agent that obeys the orders in its prompt (orders.ts, and a few of its own), and stores its conversation in a
// file. With --forgetful it cannot resume a conversation; with --confused it has lost it.
import {
  agent,
  ndJsonStream,
  RequestError,
  type AgentContext,
  type RequestPermissionRequest,
  type StopReason,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { carryOut, runCommand, type Voice } from "./orders.ts";

const flags = new Set(process.argv.slice(2));
const sessionId = "conversation-1";
let cwd = "";
let cancel = new AbortController();
let again = false;

/** A line of JSON per text: agents that share the file, or are killed, never leave a part of a line for each other. */
const memory = () => join(process.env["LAB_MEMORY"] ?? cwd, "memory.jsonl");
const remembered = (): string[] =>
  existsSync(memory())
    ? readFileSync(memory(), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as string)
    : [];
const remember = (text: string) => appendFileSync(memory(), `${JSON.stringify(text)}\n`);
/** Bypasses the connection, as a program does that breaks the protocol. */
const print = (text: string) => void writeSync(1, `${text}\n`);
const raw = (message: object) => print(JSON.stringify({ jsonrpc: "2.0", ...message }));

async function say(client: AgentContext, text: string): Promise<void> {
  await client.notify("session/update", {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });
}

interface Wanted {
  toolCall: ToolCallUpdate;
  /** Runs after the permission was granted. */
  work: () => unknown;
}

/** Requests permission, runs `work` if granted, and returns the chosen option. */
async function ask(client: AgentContext, { toolCall, work }: Wanted): Promise<string> {
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall,
    options: [
      { optionId: "for-ever", name: "Always", kind: "allow_always" },
      { optionId: "once", name: "Yes", kind: "allow_once" },
      { optionId: "never", name: "No", kind: "reject_once" },
    ],
  };
  const { outcome } = await client.request("session/request_permission", request);
  const chosen = outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
  if (chosen === "once") await work();
  return chosen;
}

async function write(client: AgentContext, file: string): Promise<void> {
  const path = resolve(cwd, file);
  const toolCall: ToolCallUpdate = {
    toolCallId: `write-${file}`,
    title: `Write ${file}`,
    kind: "edit",
    locations: [{ path }],
  };
  const chosen = await ask(client, { toolCall, work: () => writeFileSync(path, "written\n") });
  await say(client, `${file}: ${chosen}\n`);
}

async function run(client: AgentContext, command: string): Promise<void> {
  const toolCallId = `run-${command}`;
  const toolCall: ToolCallUpdate = { toolCallId, title: command, kind: "execute", rawInput: { command } };
  await ask(client, { toolCall, work: () => runCommand(command) });
  const text = `what came of ${command}`;
  const content: ToolCallUpdate["content"] = [{ type: "content", content: { type: "text", text } }];
  const update = { sessionUpdate: "tool_call_update" as const, toolCallId, status: "completed" as const, content };
  await client.notify("session/update", { sessionId, update });
}

async function delegate(client: AgentContext, text: string): Promise<void> {
  const update = {
    sessionUpdate: "agent_message_chunk" as const,
    content: { type: "text" as const, text },
    _meta: { claudeCode: { parentToolUseId: "another-call" } },
  };
  await client.notify("session/update", { sessionId, update });
}

/** Breaks the protocol: garbage, unknown ids, messages of other roles, foreign files. */
async function misbehave(client: AgentContext): Promise<void> {
  print("(node:1) Warning: this is no message");
  print('[{"jsonrpc":"2.0"}]');
  print('{"type":"assistant","text":"a line of ours"}');
  raw({ id: 4711, result: { stopReason: "end_turn" } });
  raw({ method: "session/update", params: { sessionId: "another", update: { sessionUpdate: "agent_message_chunk" } } });
  raw({ method: "session/update", params: 7 });
  raw({ method: "session/update", params: { sessionId, update: { sessionUpdate: "never_heard_of", text: "x" } } });
  raw({ method: "session/update", params: { sessionId, update: { sessionUpdate: "tool_call", kind: 5, content: 1 } } });
  raw({ method: "session/update", params: { sessionId, update: chunk("user_message_chunk", "words of the person") } });
  raw({ method: "session/update", params: { sessionId, update: chunk("agent_thought_chunk", "a thought") } });
  raw({ method: "session/update", params: { sessionId, update: chunk("agent_message_chunk", "x".repeat(17 << 20)) } });
  raw({ id: "odd", method: "session/request_permission", params: { sessionId } });
  const asked = [
    client.request("fs/read_text_file", { sessionId, path: "/etc/hostname" }),
    client.request("fs/write_text_file", { sessionId, path: "/etc/tutti", content: "x" }),
    client.request("terminal/create", { sessionId, command: "true" }),
  ];
  const codes = await Promise.all(
    asked.map((each) =>
      each.then(
        () => 0,
        (error: RequestError) => error.code,
      ),
    ),
  );
  await say(client, `refused with ${codes.join(" ")}`);
}

const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: "text", text } });

interface Asked {
  client: AgentContext;
  requestId: unknown;
  count: { input_tokens: number; output_tokens: number };
}

/** Returns null for an order that `carryOut` handles. */
async function obey(order: string, { client, requestId }: Asked): Promise<StopReason | "done" | null> {
  const [verb = "", word] = order.split(" ");
  switch (verb) {
    case "stop":
      return word as StopReason;
    case "misbehave":
      await misbehave(client);
      return "done";
    case "die":
      // Exits once only: `remembered` shows the prompt twice in the resumed conversation.
      if (remembered().filter((text) => text === remembered().at(-1)).length > 1) return "done";
      process.exit(3);
      break;
    case "answer-and-die":
      raw({ method: "session/update", params: { sessionId, update: chunk("agent_message_chunk", "my last words") } });
      raw({ id: requestId, result: { stopReason: "end_turn" } });
      process.exit(4);
  }
  return null;
}

async function answer(prompt: string, asked: Asked): Promise<StopReason> {
  const { client, count } = asked;
  const voice: Voice = {
    say: async (text) => {
      for (const piece of text.match(/.{1,3}/gsu) ?? []) await say(client, piece);
    },
    mutter: (text) => say(client, text),
    write: (file) => write(client, file),
    run: (command) => run(client, command),
    delegate: (words) => delegate(client, words),
    use: (input_tokens, output_tokens) => Object.assign(count, { input_tokens, output_tokens }),
  };
  cancel = new AbortController();
  for (const order of prompt.split("\n")) {
    const result = await obey(order, asked);
    if (result === "done") continue;
    if (result !== null) return result;
    const end = await carryOut(order, voice, { again, interrupted: cancel.signal });
    if (end.how === "interrupted") return "cancelled";
    if (end.how === "failed") throw new RequestError(end.code, end.words);
  }
  return "end_turn";
}

agent({ name: "lab" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "lab-agent", version: "1.2.3" },
    agentCapabilities: { loadSession: !flags.has("--forgetful") },
  }))
  .onRequest("session/new", ({ params }) => {
    cwd = params.cwd;
    return { sessionId };
  })
  .onRequest("session/load", ({ params, client }) => {
    if (flags.has("--confused")) throw RequestError.sessionNotFound(params.sessionId);
    cwd = params.cwd;
    again = true;
    // Some agents continue to replay after they have reported the conversation as loaded.
    setImmediate(() => remembered().forEach((text) => void say(client, `replayed: ${text}`)));
    return {};
  })
  .onNotification("session/cancel", () => cancel.abort())
  .onRequest("session/prompt", async ({ params, client, requestId }) => {
    const [block] = params.prompt;
    const text = block?.type === "text" ? block.text : "";
    remember(text);
    const count = { input_tokens: 10, output_tokens: 2 };
    const stopReason = await answer(text, { client, requestId, count });
    return { stopReason, _meta: { quota: { token_count: count } } };
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
