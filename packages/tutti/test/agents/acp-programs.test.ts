// Runs each program that implements the Agent Client Protocol directly against the scripted model: one prompt each.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { agentEnv, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { say } from "../lab/model/step.ts";

interface Message {
  id?: number;
  result?: { sessionId?: string; stopReason?: string };
  error?: { message: string };
  params?: { update?: { sessionUpdate: string; content?: { text?: string } } };
}

const speakers: [name: AgentName, args: string[]][] = [
  ["claude-agent-acp", []],
  ["codex-acp", []],
  ["gemini", ["--acp", "--skip-trust"]],
];

const folder = mkdtempSync(join(tmpdir(), "tutti-acp-"));
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

test.each(speakers)("%s answers a prompt with the script's text", async (name, args) => {
  model = await startModel(() => [say("Hello from the script.")]);
  const cwd = join(folder, "work");
  mkdirSync(cwd, { recursive: true });
  const child = spawn(agentProgram(name), args, {
    cwd,
    env: agentEnv(name, model, folder),
    stdio: ["pipe", "pipe", "ignore"],
    // Some programs leave children behind when they are killed, so the test kills the whole group.
    detached: true,
  });
  const seen: Message[] = [];
  const awaited = new Map<number, (message: Message) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    seen.push(message);
    if (message.id !== undefined) awaited.get(message.id)?.(message);
  });
  const ask = (id: number, method: string, params: object): Promise<Message> =>
    new Promise((resolve) => {
      awaited.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });

  try {
    await ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { result: session, error } = await ask(2, "session/new", { cwd, mcpServers: [] });
    expect(error).toBeUndefined();
    const prompt = [{ type: "text", text: "Say hello" }];
    const { result } = await ask(3, "session/prompt", { sessionId: session!.sessionId, prompt });
    expect(result).toMatchObject({ stopReason: "end_turn" });
    const chunks = seen.flatMap(({ params }) =>
      params?.update?.sessionUpdate === "agent_message_chunk" ? [params.update.content?.text ?? ""] : [],
    );
    expect(chunks.join("")).toContain("Hello from the script.");
    expect(model.requests.map((request) => request.prompt)).toEqual(["Say hello"]);
  } finally {
    process.kill(-child.pid!, "SIGKILL");
  }
});
