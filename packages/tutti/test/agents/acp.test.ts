// Real agents over the Agent Client Protocol, under real keepers, against the scripted model.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Conversation } from "./conversation.ts";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { killListed, Lab, processesOf } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { byPrompt, inOrder } from "../lab/model/script.ts";
import { fail, hang, run, say, usage, write } from "../lab/model/step.ts";
import { askedFor, playRun } from "../lab/model/tutti-run.ts";
import { SessionLab, texts } from "../session/session-lab.ts";
import type { SessionSignal } from "../../src/session/session.ts";

/** Whether the slow answer is still to come. A repeated prompt is answered at once. */
let slow: boolean;
/** Whether the program was killed at the first request of a turn. */
let isKilled: boolean;
const script = byPrompt({
  "Say hello": inOrder([say("Hello from the script."), usage({ input: 1234, output: 56 })]),
  "Write a page": inOrder([say("I write it."), write("docs/page.md", "# A page\n")], [say("The page is written.")]),
  "Run a command": inOrder([say("I run it."), run("echo ran > ran.txt")], [say("That was it.")]),
  "Talk slowly": () => {
    const pace = slow ? 50 : undefined;
    slow = false;
    return [say(Array.from({ length: 40 }, (_, i) => `Sentence number ${i} of a talk.`).join(" "), pace)];
  },
  "Be killed": () => {
    if (isKilled) return [say("I am back.")];
    isKilled = true;
    killGemini(lab.processes());
    return [hang()];
  },
  "Be wrong": () => [fail("badRequest", { message: "scripted refusal of this request" })],
  "Be too fast": () => [fail("rateLimit")],
  "Be too many": () => [fail("overloaded", { status: 503 })],
});

let model: ModelEndpoint;
let lab: SessionLab;

beforeEach(async () => {
  slow = true;
  isKilled = false;
  model = await startModel(script);
  lab = new SessionLab();
});
afterEach(async () => {
  lab.tearDown();
  await model.close();
});

function open(name: AgentName, args: string, answer?: (question: string) => string): Conversation {
  const host = lab.newHost({ agentEnv: agentEnv(name, model, lab.folder), graceMs: 3000 });
  return new Conversation(host.open(lab.spec(`acp:${agentProgram(name)} ${args}`)), answer);
}

const GEMINI = "--acp --skip-trust";
/** Kills the program and the process that it restarts itself in. */
function killGemini(processes: readonly string[]): void {
  // The command line of Tutti names the agent, too.
  const found = processes.filter((line) => line.includes(GEMINI) && !line.includes("acp:"));
  expect(found.length).toBeGreaterThan(0);
  killListed(found);
}
const endingOf = (received: SessionSignal[]) =>
  received.flatMap((each) => (each.type === "turnOver" ? [each.ending] : []))[0];
const toolsOf = (received: SessionSignal[]) => received.flatMap((each) => (each.type === "tool" ? [each.name] : []));
const WELL = { kind: "ended", detail: "the turn ended" };

describe.each([
  ["gemini", GEMINI, "gemini-cli", "Edit", "tokens"],
  ["claude-agent-acp", "", "@agentclientprotocol/claude-agent-acp", "Write", "usd"],
  ["codex-acp", "", "@agentclientprotocol/codex-acp", "Edit", "tokens"],
] as const)("%s", (name, args, agent, tool, cost) => {
  test("reports its name, answers, and writes a file in its workspace without asking", async () => {
    const talk = open(name, args);
    const hello = await talk.turn(1, "Say hello");
    expect(talk.received.find(({ type }) => type === "agent")).toMatchObject({ agent, capabilities: { resume: true } });
    expect(texts(hello)).toBe("Hello from the script.");
    expect(endingOf(hello)).toEqual(WELL);
    expect(hello.find(({ type }) => type === "agent")).toMatchObject({ capabilities: { cost } });
    expect(hello.find(({ type }) => type === "usage")).toMatchObject({
      usage: { inputTokens: 1234, outputTokens: 56 },
    });
    const page = await talk.turn(2, "Write a page");
    expect(texts(page)).toBe("I write it.The page is written.");
    expect(toolsOf(page)).toEqual([tool]);
    expect(readFileSync(join(lab.cwd, "docs/page.md"), "utf8")).toBe("# A page\n");
    await talk.session.close();
    expect(lab.processes()).toEqual([]);
    expect(model.problems).toEqual([]);
  });

  test("fails a turn when its provider fails, even if it reports a normal end of the turn", async () => {
    const talk = open(name, args);
    const received = await talk.turn(1, "Be wrong");
    const detail = expect.stringContaining("scripted refusal of this request") as string;
    expect(endingOf(received)).toMatchObject({ kind: "error", detail, cause: "invalid_request" });
    expect(texts(await talk.turn(2, "Say hello"))).toContain("Hello from the script.");
    await talk.end();
  });
});

describe("gemini", () => {
  test("asks before it runs a command, and obeys the user's answer", async () => {
    const answers = ["Allow", "Reject"];
    const talk = open("gemini", GEMINI, () => answers.shift()!);
    const allowed = await talk.turn(1, "Run a command");
    expect(allowed.find(({ type }) => type === "ask")).toMatchObject({
      question: "May the agent use Bash: echo ran > ran.txt?",
      options: ["Allow", "Allow for this session", "Reject"],
      permission: { tool: "Bash", subject: "echo ran > ran.txt" },
    });
    expect(toolsOf(allowed)).toEqual(["Bash"]);
    expect(readFileSync(join(lab.cwd, "ran.txt"), "utf8")).toBe("ran\n");
    rmSync(join(lab.cwd, "ran.txt"));
    const refused = await talk.turn(2, "Run a command");
    expect(toolsOf(refused)).toEqual([]);
    expect(existsSync(join(lab.cwd, "ran.txt"))).toBe(false);
    await talk.end();
  });

  // Conformance shows that it is resumed later, too. Gemini itself overwrites the conversation if that is in its first minute.
  test("that is killed in its first turn, before or after its first byte, answers it in another process", async () => {
    const talk = open("gemini", GEMINI);
    const received = await talk.turn(1, "Be killed");
    expect([texts(received), endingOf(received)]).toEqual(["I am back.", WELL]);
    await talk.end();
    const next = open("gemini", GEMINI);
    await next.give(1, "Talk slowly");
    await next.until((signal) => signal.type === "partial" && signal.text.includes("Sentence"));
    killGemini(lab.processes());
    const again = await next.over(1);
    expect(endingOf(again)).toEqual(WELL);
    expect(texts(again)).toContain("Sentence number 39 of a talk.");
    await next.end();
    expect(lab.processes()).toEqual([]);
  });

  test("reports a temporary refusal of its provider", async () => {
    const talk = open("gemini", GEMINI);
    const fast = endingOf(await talk.turn(1, "Be too fast"));
    expect(fast).toMatchObject({ kind: "error", cause: "rate_limit", retryAfterMs: 1000 });
    expect(endingOf(await talk.turn(2, "Be too many"))).toMatchObject({ kind: "error", cause: "overloaded" });
    await talk.end();
  });

  test("without a login reports that, and keeps the login method in its settings", async () => {
    const env = agentEnv("gemini", model, lab.folder);
    const settings = join(env["HOME"]!, ".gemini", "settings.json");
    const readAuth = () => (JSON.parse(readFileSync(settings, "utf8")) as { security: unknown }).security;
    const before = readAuth();
    const host = lab.newHost({ agentEnv: { ...env, GEMINI_API_KEY: "", GOOGLE_GEMINI_BASE_URL: "" } });
    const talk = new Conversation(host.open(lab.spec(`acp:${agentProgram("gemini")} ${GEMINI}`)));
    const signal = await talk.until(({ type }) => type === "unstartable");
    expect(signal).toMatchObject({ error: expect.stringMatching(/it is not logged in.*Gemini API key/s) as string });
    expect(readAuth()).toEqual(before);
  });

  test("with a tool server, which makes it ignore the end of its input and SIGTERM, leaves nothing behind", async () => {
    const env = agentEnv("gemini", model, lab.folder);
    const settings = join(env["HOME"]!, ".gemini", "settings.json");
    const server = join(lab.folder, "server.mjs");
    writeFileSync(server, TOOL_SERVER);
    const mcpServers = { lab: { command: process.execPath, args: [server], trust: true } };
    writeFileSync(settings, JSON.stringify({ ...(JSON.parse(readFileSync(settings, "utf8")) as object), mcpServers }));
    const host = lab.newHost({ agentEnv: env, graceMs: 1000 });
    const talk = new Conversation(host.open(lab.spec(`acp:${agentProgram("gemini")} ${GEMINI}`)));
    expect(texts(await talk.turn(1, "Say hello"))).toBe("Hello from the script.");
    expect(lab.processes().some((line) => line.includes("server.mjs"))).toBe(true);
    await talk.session.close();
    expect(lab.processes()).toEqual([]);
  });
});

/** A minimal MCP server with one tool. */
const TOOL_SERVER = `
import { createInterface } from "node:readline";
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "lab", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "nothing", inputSchema: { type: "object", properties: {} } }] }),
};
process.on("SIGTERM", () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = ANSWERS[method]?.(params);
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: method } }) }));
}
setInterval(() => {}, 1000);
`;

/** A template that allows the command of `goodWork`. */
function writeTemplate({ data }: Lab): void {
  const config = { permissions: { allow: ["Bash(cat docs/*)"] } };
  const templates = join(data, "templates");
  mkdirSync(templates, { recursive: true });
  const template = { id: "listed", name: "Listed", extends: "implementation", config };
  writeFileSync(join(templates, "listed.json"), JSON.stringify(template));
}

test("gemini completes all five phases of a run over ACP, with the permissions of the template", async () => {
  const play = playRun({ tasks: [{ id: "alpha" }, { id: "beta" }, { id: "gamma", dependencies: ["alpha"] }] });
  const played = await startModel(play);
  const whole = new Lab();
  try {
    writeTemplate(whole);
    const env = agentEnv("gemini", played, whole.folder);
    const flags = ["--template", "listed", "--agent", `acp:gemini ${GEMINI}`, "--cwd", whole.repo, "--yes"];
    const { code, last, stderr } = await whole.json(["run", "Write three pages", ...flags, ...agentEnvFlags(env)], env);
    expect(played.problems).toEqual([]);
    expect(code, stderr).toBe(0);
    expect(last).toMatchObject({ outcome: "success" });
    const pages = whole.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
    expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md", "docs/gamma.md"]);
    expect(whole.leftovers()).toEqual([]);
  } finally {
    await played.close();
    whole.tearDown();
  }
}, 180_000);

test("a run whose gemini is killed before the first byte of every phase and task keeps its work and succeeds", async () => {
  const whole = new Lab();
  const killed = new Set<string>();
  const play = playRun({ tasks: [{ id: "alpha" }] });
  const played = await startModel((request) => {
    const { phase, task } = askedFor(request);
    const key = `${phase} ${task}`;
    if (killed.has(key)) return play(request);
    killed.add(key);
    killGemini(processesOf(whole.folder));
    return [hang()];
  });
  try {
    writeTemplate(whole);
    const env = agentEnv("gemini", played, whole.folder);
    const flags = ["--template", "listed", "--agent", `acp:gemini ${GEMINI}`, "--cwd", whole.repo, "--yes"];
    const { code, last, stderr } = await whole.json(["run", "Write a page", ...flags, ...agentEnvFlags(env)], env);
    expect([code, last.outcome], stderr).toEqual([0, "success"]);
    expect([...killed].toSorted()).toEqual([
      "analysis null",
      "completion alpha",
      "task_list null",
      "verification null",
    ]);
    expect(whole.git("ls-tree", "-r", "--name-only", last.branch!, "docs/")).toBe("docs/alpha.md");
    expect(whole.leftovers()).toEqual([]);
  } finally {
    await played.close();
    whole.tearDown();
  }
});
