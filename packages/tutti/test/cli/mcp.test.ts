// `tutti mcp` as a real process, with the official client of the Model Context Protocol.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab, LAUNCHER } from "../lab/lab.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import type { Outcome } from "../../src/schema/outcome.ts";

const TOOLS = [
  ["create_run", "list_runs", "get_run", "confirm_plan", "edit_plan", "send_message", "list_inbox", "answer"],
  ["pause_run", "resume_run", "cancel_run", "retry_task", "get_result", "get_diff"],
].flat();

let lab: Lab;
let clients: Client[];
beforeEach(() => {
  lab = new Lab();
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  lab.tearDown();
});

type Version = "auto" | "legacy";

async function connect(transport: Parameters<Client["connect"]>[0], mode: Version = "legacy"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const onStdio = (...flags: string[]): Promise<Client> =>
  connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, "--data-dir", lab.data, "mcp", ...flags],
      cwd: lab.repo,
      env: process.env as Record<string, string>,
    }),
  );

/**
 * Collects the words of all progress. The client drops progress that it reads together with the result of the call, so this
 * reads the messages themselves.
 */
function progressOf({ transport }: Client): string[] {
  const seen: string[] = [];
  const receive = transport!.onmessage!;
  const onmessage: typeof receive = (message, extra) => {
    if ("method" in message && message.method === "notifications/progress")
      seen.push(String(message.params?.["message"]));
    receive(message, extra);
  };
  Object.assign(transport!, { onmessage });
  return seen;
}

/** Calls a tool and parses the value in its text. */
async function call<T = Record<string, unknown>>(
  client: Client,
  name: string,
  input: object = {},
  options: Parameters<Client["callTool"]>[1] = {},
): Promise<T & { isError?: boolean; text: string }> {
  const result = await client.callTool(
    { name, arguments: input as Record<string, unknown> },
    { timeout: 600_000, ...options },
  );
  const [content] = result.content as { text: string }[];
  if (result.isError) return { isError: true, text: content!.text } as never;
  return { ...(JSON.parse(content!.text) as T), text: content!.text };
}

const agent = (): string =>
  lab.scenario([
    ...mainSession([{ id: "a" }, { id: "b" }]),
    worker("b", { then: "ask:Which colour?" }, goodWorker.turns[0]!),
    goodWorker,
  ]);

describe("tutti mcp", () => {
  it("carries out a run for a client on stdin: plan, edit, confirm, question, result and diff", async () => {
    const client = await onStdio();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
    const seen = progressOf(client);
    const { id } = await call<{ id: string }>(
      client,
      "create_run",
      { message: "x", templateId: "_default", cwd: lab.repo, agent: agent(), wait: true },
      { onprogress: () => {} },
    );
    expect(seen).toContain("The plan is ready: 2 tasks");
    expect(JSON.parse((await call(client, "list_runs")).text)).toMatchObject([{ id, status: "confirming" }]);

    const modifications = { a: { title: "Another title" } };
    expect(await call(client, "edit_plan", { id, modifications })).toMatchObject({ success: true });
    expect(await call(client, "edit_plan", { id })).toMatchObject({ isError: true });
    expect(await call(client, "get_run", { id })).toMatchObject({
      status: "confirming",
      tasks: [{ title: "Another title" }, {}],
    });
    expect(await call(client, "confirm_plan", { id, wait: true })).toMatchObject({
      tasksQueued: expect.any(Number) as number,
    });

    const inbox = JSON.parse((await call(client, "list_inbox")).text) as { id: string; question: string }[];
    expect(inbox).toMatchObject([{ question: "Which colour?" }]);
    expect(await call(client, "answer", { itemId: inbox[0]!.id, text: "blue", option: 1 })).toMatchObject({
      isError: true,
    });
    expect(await call(client, "answer", { itemId: inbox[0]!.id, text: "blue" })).toMatchObject({ success: true });
    const result = await call<Outcome>(client, "get_result", { id, wait: true });
    expect(result).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
    const diff = await call<{ files: { path: string; patch?: string }[] }>(client, "get_diff", { id, task: "a" });
    expect(diff.files).toMatchObject([
      { path: "docs/a.md", patch: expect.stringContaining("+# Another title") as string },
    ]);
    expect((await call<typeof diff>(client, "get_diff", { id, stat: true })).files[0]).not.toHaveProperty("patch");

    const { resources } = await client.listResources();
    expect(resources).toMatchObject([{ uri: `tutti://runs/${id}` }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      "tutti://runs/{id}/tasks/{task}/transcript",
    );
    const read = async (uri: string) =>
      JSON.parse(((await client.readResource({ uri })).contents as { text: string }[])[0]!.text) as object;
    expect(await read(`tutti://runs/${id}`)).toMatchObject({ id, status: "completed" });
    expect(JSON.stringify(await read(`tutti://runs/${id}/tasks/a/transcript`))).toContain("wrote a");
    expect(await read(`tutti://runs/${id}/tasks/main/transcript`)).toBeInstanceOf(Array);
    await expect(read(`tutti://runs/${id}/tasks/z/transcript`)).rejects.toThrow('no session of task "z"');
    await expect(read("tutti://other")).rejects.toThrow("does not exist");
    const isReleased = () => lab.events().some(({ type }) => type === "workspace:released");
    await expect.poll(isReleased).toBe(true);
    await client.close();
    await expect.poll(() => lab.leftovers()).toEqual([]);
  });

  it("answers every request of a script that closes its input at once, and ends", async () => {
    const child = spawn(process.execPath, [LAUNCHER, "--data-dir", lab.data, "mcp"], { stdio: "pipe" });
    const end = finished(child);
    const calls = ["list_runs", "list_inbox"].map((name, id) => ({ id, method: "tools/call", params: { name } }));
    child.stdin.end(calls.map((each) => `${JSON.stringify({ jsonrpc: "2.0", ...each })}\n`).join(""));
    const { code, stdout } = await end;
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(answers.toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: 0, result: { content: [{ text: "[]" }] } },
      { id: 1, result: { content: [{ text: "[]" }] } },
    ]);
    expect(code).toBe(0);
  });

  it("answers wrong arguments and refusals with tool errors that name each problem", async () => {
    const client = await onStdio();
    const wrong = await call(client, "create_run", { message: 5, cwd: "here", budget: { usd: -1 }, trust: "me" });
    expect(wrong.isError).toBe(true);
    for (const path of ["- message: ", "- cwd: ", "- budget.usd: ", "- trust: is not an argument"])
      expect(wrong.text).toContain(path);
    expect(await call(client, "get_run", { id: "orch_none" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("run_not_found") as string,
    });
    await expect(client.callTool({ name: "delete_everything", arguments: {} })).rejects.toThrow("does not exist");
  });

  it("ends a cancelled wait, and continues the run that the end of an earlier client interrupted", async () => {
    const gate = lab.gate();
    const gated = { waitForFile: gate.file, ...goodWorker.turns[0] };
    const agentAtGate = lab.scenario([...mainSession([{ id: "a" }]), worker("a", gated)]);
    const first = await onStdio();
    const config = { autoSpawn: true };
    const input = { message: "x", templateId: "_default", cwd: lab.repo, agent: agentAtGate, config };
    const { id } = await call<{ id: string }>(first, "create_run", input);
    const cancel = new AbortController();
    const onprogress = ({ message = "" }) => void (message.startsWith("a ") && cancel.abort());
    const waiting = call(first, "get_result", { id, wait: true }, { signal: cancel.signal, onprogress });
    await expect(waiting).rejects.toThrow("aborted");
    expect(await call(first, "get_run", { id })).toMatchObject({ status: "running" });
    await first.close();

    const second = await onStdio();
    expect(await call(second, "resume_run", { id })).toMatchObject({ success: true });
    gate.open();
    expect(await call(second, "get_result", { id, wait: true })).toMatchObject({ outcome: "success" });
    expect(await call(second, "resume_run", { id })).toMatchObject({ isError: true });
  });
});

describe("tutti mcp --http", () => {
  let child: ChildProcess;
  let url: string;

  beforeEach(async () => {
    child = lab.start(["mcp", "--http", "0"]);
    const [line] = (await once(child.stdout!.setEncoding("utf8"), "data")) as [string];
    url = /^listening on (\S+\/mcp)\n$/.exec(line)![1]!;
  });

  const withToken = (token: string, mode?: Version): Promise<Client> =>
    connect(
      new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
      mode,
    );

  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });

  it("needs the token of the data folder, and gives a named token its own rights", async () => {
    const token = readFileSync(join(lab.data, "token"), "utf8").trim();
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post({ authorization: `Bearer ${token}`, origin: "http://evil.example" })).status).toBe(403);
    expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200);

    const named = async (role: string): Promise<string> =>
      ((await lab.json(["tokens", "create", role, "--role", role])).last as unknown as { token: string }).token;
    const input = { message: "x", templateId: "_default", cwd: lab.repo, agent: agent() };
    for (const mode of ["auto", "legacy"] as const) {
      const client = await withToken(token, mode);
      const { id } = await call<{ id: string }>(client, "create_run", { ...input, autoStart: false });
      expect(await call(client, "get_run", { id })).toMatchObject({ status: "created" });
    }
    const viewer = await withToken(await named("view"));
    expect(JSON.parse((await call(viewer, "list_runs")).text)).toHaveLength(2);
    expect(await call(viewer, "create_run", input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("needs_role") as string,
    });
    const operator = await withToken(await named("operate"));
    expect(await call(operator, "create_run", input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("forbidden") as string,
    });

    const end = finished(child);
    child.kill("SIGTERM");
    expect((await end).code).toBe(0);
  });
});
