// The tools that Tutti offers to its agents, under a real keeper and with the official client of the protocol.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CANARIES, leaksIn } from "./canaries.ts";
import { SessionLab, turn } from "./session-lab.ts";
import { callTool } from "../../src/session/drivers/script/call-tool.ts";
import type { Session, SessionSignal } from "../../src/session/session.ts";
import { ToolDesk } from "../../src/session/tools/tool-desk.ts";
import { openToolListener } from "../../src/session/tools/tool-listener.ts";

const TOOLS = [
  ["read_task", "report_progress", "submit_response", "attempt_completion", "new_task", "escalate_blocker", "ask"],
  ["read_messages"],
].flat();

/** Writes where its tools are, and ends its turn when the file `over` appears. */
const PATIENT = `
  import { existsSync, renameSync, writeFileSync } from "node:fs";
  import { createInterface } from "node:readline";
  const { TUTTI_MCP_URL: url, TUTTI_MCP_TOKEN: token } = process.env;
  createInterface({ input: process.stdin }).on("line", () => {
    console.log(JSON.stringify({ type: "assistant", text: "my token is " + token }));
    writeFileSync("new.json", JSON.stringify({ url, token }));
    renameSync("new.json", "address.json");
    setInterval(() => existsSync("over") && (console.log(JSON.stringify({ type: "turn_end" })), process.exit()), 20);
  });
`;

let lab: SessionLab;
let clients: Client[];
beforeEach(() => {
  lab = new SessionLab();
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  lab.tearDown();
});

/** Collects the signals of a session in the background. */
function collect(session: Session): SessionSignal[] {
  const signals: SessionSignal[] = [];
  void (async () => {
    for await (const signal of session.signals()) signals.push(signal);
  })();
  return signals;
}

const address = () => JSON.parse(readFileSync(join(lab.cwd, "address.json"), "utf8")) as { url: string; token: string };

async function connect(mode: "auto" | "legacy" = "legacy"): Promise<Client> {
  await expect.poll(() => existsSync(join(lab.cwd, "address.json"))).toBe(true);
  const { url, token } = address();
  const headers = { authorization: `Bearer ${token}` };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, input: object, options: object = {}) {
  const given = { name, arguments: input as Record<string, unknown> };
  const { content, isError = false } = await client.callTool(given, { timeout: 600_000, ...options });
  return { text: (content as { text: string }[])[0]!.text, isError };
}

async function begin(spec = lab.spec(lab.program("command", PATIENT))) {
  const session = lab.host.open(spec);
  const signals = collect(session);
  await expect.poll(() => signals.some(({ type }) => type === "ready")).toBe(true);
  await session.deliver(turn(1));
  return { spec, session, signals };
}

describe("a scripted agent that uses the tools of Tutti", () => {
  const message = { message_type: "TASK_ASSIGNMENT", task_id: "task_001" };

  it("reads the message of its turn, reports its completion, and sees the errors of other calls", async () => {
    const calls = [
      { tool: "read_task" },
      { tool: "attempt_completion", with: { result: 7 } },
      { tool: "attempt_completion", with: { result: "success", acceptance_criteria_met: [true, false] } },
      { tool: "escalate_blocker", with: { blocker_type: "scope_change", description: "Too much" } },
    ];
    const session = lab.host.open(lab.spec(lab.scenario([{ match: {}, turns: [{ calls }, { calls }] }])));
    const signals = collect(session);
    await expect.poll(() => signals.some(({ type }) => type === "ready")).toBe(true);
    await session.deliver({ ...turn(1), message });
    await expect.poll(() => signals.filter(({ type }) => type === "turnOver")).toHaveLength(1);
    const first = signals.slice(
      0,
      signals.findIndex(({ type }) => type === "turnOver"),
    );
    const data = { task_id: "task_001", status: "success" };
    const validation = { acceptance_criteria_met: [true, false], all_passed: false, issues: [] };
    expect(first.filter(({ type }) => type === "report")).toEqual([
      { type: "report", phase: "task_read", data: {} },
      { type: "report", phase: "completion", data: { ...data, validation } },
      {
        type: "report",
        phase: "BLOCKER_ESCALATION",
        data: expect.objectContaining({ task_id: "task_001", description: "Too much" }) as object,
      },
    ]);
    const results = first.flatMap((signal) => (signal.type === "toolResult" ? [signal.text] : []));
    expect(JSON.parse(results[0]!)).toEqual(message);
    expect(first.filter(({ type }) => type === "toolFailed")).toHaveLength(1);
    // The prompt of the second turn contains everything, so there is no message.
    await session.deliver(turn(2));
    await expect
      .poll(() => signals.flatMap((signal) => (signal.type === "toolFailed" ? [signal.error] : [])))
      .toContainEqual(expect.stringContaining("contains your whole task"));
    // Without a message, a blocker waits for the user.
    await expect.poll(() => signals.some(({ type }) => type === "ask")).toBe(true);
    await session.stop();
  });

  it("finds the tools behind a Unix socket, as in the sandbox", async () => {
    const folder = process.cwd();
    process.chdir(lab.folder);
    const lines: object[] = [];
    const delegation = { refusal: "no" };
    const desk = new ToolDesk({ role: "worker", taskId: "t", delegation, note: (line) => void lines.push(line) });
    desk.beginTurn("completion", message);
    const { url, token } = await openToolListener(desk, join(lab.folder, "mcp.sock")).finally(() =>
      process.chdir(folder),
    );
    vi.stubEnv("TUTTI_MCP_URL", url);
    vi.stubEnv("TUTTI_MCP_TOKEN", token);
    const { signal } = new AbortController();
    expect(JSON.parse((await callTool("read_task", {}, signal)).text)).toEqual(message);
    expect(await callTool("fly", {}, signal)).toMatchObject({ isError: true });
    expect(lines).toEqual([{ type: "report", phase: "task_read", data: {} }]);
    vi.unstubAllEnvs();
  });
});

describe("an agent that uses the tools of Tutti", () => {
  it("reports progress and its completion as signals, in both generations of the protocol", async () => {
    const { spec, signals } = await begin();
    const client = await connect("auto");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
    expect(await call(client, "report_progress", { percent: 40, action: "reading" })).toEqual({
      text: "Noted.",
      isError: false,
    });
    expect(await call(client, "new_task", { mode: "code", message: "help" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("cannot delegate") as string,
    });
    const older = await connect("legacy");
    const done = await call(older, "attempt_completion", {
      result: "success",
      summary: "wrote it",
      output_files: ["a.md"],
    });
    expect(done).toMatchObject({ isError: false, text: expect.stringContaining("Accepted") as string });
    writeFileSync(join(lab.cwd, "over"), "");
    await expect.poll(() => signals.at(-1)?.type).toBe("gone");
    const reports = signals.filter(({ type }) => type === "report");
    expect(reports).toEqual([
      {
        type: "report",
        phase: "progress",
        data: { task_id: "task_001", status: "in_progress", progress_percent: 40, current_action: "reading" },
      },
      {
        type: "report",
        phase: "completion",
        data: { task_id: "task_001", status: "success", summary: "wrote it", output_files: ["a.md"] },
      },
    ]);
    const order = signals.map(({ type }) => type);
    expect(order.indexOf("turnOver")).toBeGreaterThan(order.lastIndexOf("report"));
    const transcript = await lab.host.transcript(spec.runId, spec.sessionId);
    expect(transcript.filter(({ type }) => type === "report")).toHaveLength(2);
    expect(JSON.stringify([transcript, signals])).toContain("my token is ");
    expect(JSON.stringify([transcript, signals])).not.toContain(address().token);
  });

  it("keeps no secret of its arguments in signals, files and the transcript", async () => {
    const { spec, session, signals } = await begin();
    const client = await connect();
    const secrets = CANARIES.filter(({ name }) => ["Anthropic", "GitLab", "npm", "Stripe"].includes(name));
    const [progress, question, blocker, summary] = secrets.map(({ printed }) => `with ${printed}`);
    await call(client, "report_progress", { percent: 40, action: progress });
    const asked = call(client, "ask", { question });
    await expect.poll(() => signals.some(({ type }) => type === "ask")).toBe(true);
    const ask = signals.find((signal) => signal.type === "ask")!;
    await session.answer(ask.askId, "go on");
    await asked;
    await call(client, "attempt_completion", { result: "success", summary: `${summary} and ${blocker}` });
    writeFileSync(join(lab.cwd, "over"), "");
    await expect.poll(() => signals.at(-1)?.type).toBe("gone");
    expect(signals.filter(({ type }) => type === "report")).toHaveLength(2);
    const transcript = await lab.host.transcript(spec.runId, spec.sessionId);
    expect(leaksIn(JSON.stringify([transcript, signals]))).toEqual([]);
    const sessions = join(lab.folder, "sessions");
    const names = readdirSync(sessions, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => statSync(join(sessions, name)).isFile());
    expect(files.flatMap((name) => leaksIn(readFileSync(join(sessions, name), "latin1")))).toEqual([]);
  });

  it("gets the path of each problem, and cannot speak for another task", async () => {
    const delegation = { modes: ["code"] };
    const { signals } = await begin(lab.spec(lab.program("command", PATIENT), { delegation }));
    const client = await connect();
    const wrong = await call(client, "report_progress", { percent: 120, what: "x" });
    expect(wrong.isError).toBe(true);
    for (const line of ["- percent: must be at most 100", "- action: is missing", "- what: is not an argument"])
      expect(wrong.text).toContain(line);
    const submit = (phase: string, data: object) => call(client, "submit_response", { phase, data });
    expect((await submit("completion", { status: "done" })).text).toContain("- data.status: must be one of");
    expect((await submit("completion", { task_id: "task_002", status: "success" })).text).toContain("- data.task_id: ");
    expect((await submit("analysis", { summary: "x", recommended_splits: 1 })).text).toContain(
      '- phase: must be "completion"',
    );
    expect((await call(client, "attempt_completion", { result: "clarification_needed" })).text).toContain("- result: ");
    const delegate = async (more: object) => (await call(client, "new_task", { message: "help", ...more })).text;
    expect(await delegate({})).toContain("- mode: is missing");
    expect(await delegate({ mode: "wizard" })).toContain('- mode: must be one of code; it is "wizard"');
    expect(await delegate({ mode: "code", expectedOutputs: "a.md" })).toContain("- expectedOutputs: ");
    expect(signals.filter(({ type }) => type === "report")).toEqual([]);

    const { url, token } = address();
    const post = (headers: Record<string, string>, body = "{}") =>
      fetch(url, { method: "POST", headers, body }).then(({ status }) => status);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: `Bearer ${token.replace(/.$/, "_")}` })).toBe(401);
    expect(await post({ authorization: `Bearer ${token}`, origin: "http://127.0.0.1" })).toBe(403);
    const json = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    expect(await post(json, `"${"x".repeat(1024 * 1024)}"`)).toBe(413);
  });

  it("waits for an answer over the restart of the engine, and withdraws a question that it gives up", async () => {
    const { spec, session, signals } = await begin();
    const client = await connect();
    const answer = call(client, "ask", { question: "Which colour?", options: ["red", "blue"] });
    const asked = (among: SessionSignal[]) => among.find((signal) => signal.type === "ask");
    await expect.poll(() => asked(signals)).toMatchObject({ question: "Which colour?", options: ["red", "blue"] });
    session.leave();

    const adopted = lab.newHost().open(spec);
    const again = collect(adopted);
    await expect.poll(() => asked(again)).toEqual(asked(signals));
    await adopted.answer(asked(again)!.askId, "blue");
    expect(await answer).toEqual({ text: "blue", isError: false });

    const cancel = new AbortController();
    const blocker = { blocker_type: "technical_blocker", description: "No network", task_id: "task_001" };
    const second = client.callTool({ name: "escalate_blocker", arguments: blocker }, { signal: cancel.signal });
    await expect.poll(() => again.filter(({ type }) => type === "ask")).toHaveLength(2);
    cancel.abort();
    await expect(second).rejects.toThrow();
    await client.close();
    await expect.poll(() => again.some(({ type }) => type === "askCancelled")).toBe(true);
  });

  it("reads messages that arrive during its turn, each once", async () => {
    const { session, signals } = await begin();
    const client = await connect();
    expect((await call(client, "read_messages", {})).text).toBe('{"messages":[]}');
    await session.steer!(1, "0", "use British spelling");
    const read = async () => (await call(client, "read_messages", {})).text;
    await expect.poll(read).toBe('{"messages":["use British spelling"]}');
    expect(await read()).toBe('{"messages":[]}');
    await expect.poll(() => signals.find(({ type }) => type === "steered")).toMatchObject({ id: "0" });
  });

  it("cannot stop its keeper with arguments that are nested or repeated without end", async () => {
    const { session, signals } = await begin();
    const client = await connect();
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const wide = `{"a":[${"[],".repeat(250_000)}1]}`;
    for (const data of [deep(3000), deep(100_000), wide]) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_response","arguments":{"phase":"completion","data":${data}}}}`;
      const { url, token } = address();
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      };
      const response = await fetch(url, { method: "POST", headers, body });
      await response.text();
    }
    expect((await call(client, "report_progress", { percent: 5, action: "alive" })).isError).toBe(false);
    await expect.poll(() => JSON.stringify(signals)).toContain("alive");
    expect(signals.map(({ type }) => type)).not.toContain("gone");
    writeFileSync(join(lab.cwd, "over"), "");
    await expect.poll(() => signals.some(({ type }) => type === "turnOver")).toBe(true);
    await session.stop();
  });
});
