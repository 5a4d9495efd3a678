// The real Codex program under real keepers, against the scripted model.
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { Conversation } from "./conversation.ts";
import { killListed, Lab } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { awaitCodex } from "../lab/model/play-orders.ts";
import { byPrompt, inOrder } from "../lab/model/script.ts";
import { call, die, fail, hang, run, say, stall, stop, think, usage, write, type Step } from "../lab/model/step.ts";
import { askedFor, playRun } from "../lab/model/tutti-run.ts";
import { SessionLab, texts } from "../session/session-lab.ts";
import { waitUntil } from "../lab/wait-until.ts";
import type { Permissions } from "../../src/schema/permissions.ts";
import type { SessionSignal } from "../../src/session/session.ts";

let model: ModelEndpoint;
let lab: SessionLab | undefined;
let runLab: Lab | undefined;

afterEach(async () => {
  rmSync(OUTSIDE, { force: true });
  vi.unstubAllEnvs();
  lab?.tearDown();
  runLab?.tearDown();
  lab = undefined;
  runLab = undefined;
  await model.close();
});

/** The user's configuration is in the environment of this process, as for an engine. */
async function start(script: Script): Promise<SessionLab> {
  model = await startModel(script);
  lab = new SessionLab();
  // TMPDIR is not set: a home below the temporary folder is a separate case, and the usual one here.
  const { TMPDIR: _, ...env } = agentEnv("codex", model, lab.folder);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  for (const name of ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"]) vi.stubEnv(name, undefined);
  return lab;
}

interface Options {
  permissions?: Partial<Permissions>;
  answer?: (question: string) => string;
  stallTimeout?: number;
  subagentDepth?: number;
}

function converse({ permissions, answer, ...more }: Options = {}): Conversation {
  const host = lab!.newHost({ graceMs: 3000 });
  const given = { mode: "edits" as const, allow: [], refuse: [], ...permissions };
  return new Conversation(host.open(lab!.spec("codex", { permissions: given, ...more })), answer);
}

const of = <T extends SessionSignal["type"]>(signals: SessionSignal[], type: T) =>
  signals.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);

const tools = (signals: SessionSignal[]): string[] => of(signals, "tool").map(({ name }) => name);

const ending = (signals: SessionSignal[]) => of(signals, "turnOver")[0]?.ending;

/** A command for which Codex requests to leave its sandbox. */
const escalated = (command: string): Step =>
  call("exec_command", {
    cmd: command,
    sandbox_permissions: "require_escalated",
    justification: "It must be outside.",
  });

/** Neither in the workspace nor in the temporary folder. */
const OUTSIDE = join(import.meta.dirname, "outside.txt");

test("Codex leaves no secret in its own files after the session, and its transcript stays readable", async () => {
  const secret = `sk-proj-${"Ab3".repeat(20)}`;
  await start(inOrder([run(`echo ${secret}`)], [say(`It says ${secret}.`)]));
  const talk = converse();
  expect(ending(await talk.turn(1, "Look around"))).toMatchObject({ kind: "ended" });
  await talk.end();
  const home = readdirSync(join(lab!.folder, "sessions"), { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("/codex"),
  )!;
  const entries = readdirSync(join(lab!.folder, "sessions", home), { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const transcript = files.find((file) => file.endsWith(".jsonl"))!;
  expect(readFileSync(transcript, "utf8")).toContain("It says ***");
  for (const line of readFileSync(transcript, "utf8").trimEnd().split("\n")) JSON.parse(line);
  expect(files.filter((file) => readFileSync(file, "latin1").includes(secret) || /sqlite/.test(file))).toEqual([]);
});

test("Codex receives a message during its turn, and the turn ends with an answer to both", async () => {
  const wait = "until [ -e go ]; do sleep 0.1; done";
  await start(inOrder([run(wait)], [say("Both are done.")]));
  const talk = converse({ permissions: { mode: "all" } });
  await talk.give(1, "Wait for the file");
  await talk.until(({ type }) => type === "tool");
  await talk.session.steer!(1, "0", "And mind the heron.");
  await talk.until(({ type }) => type === "steered");
  writeFileSync(join(lab!.cwd, "go"), "");
  const received = await talk.over(1);
  expect(of(received, "steered")).toEqual([{ type: "steered", id: "0", text: "And mind the heron." }]);
  expect(ending(received)).toMatchObject({ kind: "ended" });
  expect(texts(received)).toContain("Both are done.");
  const bodies = model.requests.map(({ body }) => JSON.stringify(body));
  expect([bodies[0], bodies.at(-1)].map((body) => body!.includes("And mind the heron."))).toEqual([false, true]);
  await talk.end();
});

test("Codex answers a message that arrives during its last step in the same turn", async () => {
  const arrived = Promise.withResolvers<void>();
  await start(async ({ body }) => {
    if (JSON.stringify(body).includes("And mind the heron.")) return [say("Second answer.")];
    await arrived.promise;
    return [say("First answer.")];
  });
  const talk = converse();
  await talk.give(1, "Say something");
  await waitUntil(() => model.requests.length > 0);
  await talk.session.steer!(1, "0", "And mind the heron.");
  await talk.until(({ type }) => type === "steered");

  arrived.resolve();
  const received = await talk.over(1);
  expect(texts(received)).toContain("Second answer.");
  expect(of(received, "steered")).toHaveLength(1);
  expect(ending(received)).toMatchObject({ kind: "ended" });
  await talk.end();
});

test("Codex is ready once its conversation has begun, reports its version, answers, and reports its usage", async () => {
  await start(() => [think("A greeting."), say("Hello from the script."), usage({ input: 1200, output: 34 })]);
  const talk = converse();
  const received = await talk.turn(1, "Say hello");
  expect(texts(received)).toBe("Hello from the script.");
  expect(ending(received)).toEqual({ kind: "ended", detail: "the turn ended" });
  expect(
    of(received, "partial")
      .map(({ text }) => text)
      .join(""),
  ).toBe("Hello from the script.");
  const context = { tokens: 1234, window: expect.any(Number) as number };
  expect(of(received, "usage")).toEqual([
    { type: "usage", usage: { inputTokens: 1200, outputTokens: 34, usd: 0 }, context },
  ]);
  const [agent] = of(talk.received, "agent");
  expect(agent).toMatchObject({ agent: "codex", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(model.requests[0]!.session).toBe(agent!.conversation);
  const order = talk.received.map(({ type }) => type).filter((type) => ["ready", "sent", "agent"].includes(type));
  expect(order).toEqual(["agent", "ready", "sent"]);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("Codex changes files and runs commands inside its workspace without asking, but not outside", async () => {
  await start(
    inOrder(
      [say("I write it."), write("docs/page.md", "# A page\n")],
      [run("wc -l < docs/page.md > docs/lines.txt")],
      [run(`touch ${OUTSIDE} || true`)],
      [say("It is written.")],
    ),
  );
  const talk = converse();
  const received = await talk.turn(1, "Write a page");
  expect(readFileSync(join(lab!.cwd, "docs/page.md"), "utf8")).toBe("# A page\n");
  expect(readFileSync(join(lab!.cwd, "docs/lines.txt"), "utf8").trim()).toBe("1");
  expect(existsSync(OUTSIDE)).toBe(false);
  expect(of(received, "tool").map(({ name, input }) => [name, input])).toEqual([
    ["Write", { file_path: join(lab!.cwd, "docs/page.md"), change: "add" }],
    ["Bash", { command: "wc -l < docs/page.md > docs/lines.txt" }],
    ["Bash", { command: `touch ${OUTSIDE} || true` }],
  ]);
  expect(of(received, "ask")).toEqual([]);
  expect(texts(received)).toBe("I write it.It is written.");
  await talk.end();
});

test("Codex asks before it leaves its sandbox, and the turn continues after a refusal", async () => {
  await start(
    byPrompt({
      First: inOrder([escalated("echo one > one.txt")], [say("done")]),
      Second: inOrder([escalated("echo two > two.txt")], [say("I could not.")]),
    }),
  );
  const answers = ["allow", "not today"];
  const talk = converse({ answer: () => answers.shift()! });
  const first = await talk.turn(1, "First");
  expect(of(first, "ask")).toMatchObject([
    {
      question: "May the agent run: echo one > one.txt\nReason: It must be outside.",
      permission: { tool: "Bash", subject: "echo one > one.txt" },
    },
  ]);
  expect(readFileSync(join(lab!.cwd, "one.txt"), "utf8")).toBe("one\n");
  expect([tools(first), ending(first)?.kind]).toEqual([["Bash"], "ended"]);
  const second = await talk.turn(2, "Second");
  expect(existsSync(join(lab!.cwd, "two.txt"))).toBe(false);
  expect(tools(second)).toEqual([]);
  expect(texts(second)).toBe("I could not.");
  expect(ending(second)).toMatchObject({ kind: "error", cause: "denied" });
  await talk.end();
});

test("in a strict run Codex asks for every command and file change, and refused ones are not executed", async () => {
  await start(
    inOrder([write("a.md", "a\n")], [write("b.md", "b\n")], [run("touch c.txt")], [run("touch d.txt")], [say("ok")]),
  );
  const talk = converse({ permissions: { mode: "all", refuse: ["Write(b.md)", "Bash(touch c*)"] } });
  const received = await talk.turn(1, "Go");
  const there = ["a.md", "b.md", "c.txt", "d.txt"].filter((name) => existsSync(join(lab!.cwd, name)));
  expect(there).toEqual(["a.md", "d.txt"]);
  expect(tools(received)).toEqual(["Write", "Bash"]);
  expect(ending(received)?.kind).toBe("ended");
  await talk.end();
});

test("Codex reads the AGENTS.md of the repository, and starts no MCP server from its configuration or the user's", async () => {
  await start(inOrder([write("x.md", "x\n")], [say("ok")]));
  const started = join(lab!.folder, "started");
  const server = ["[mcp_servers.uninvited]", 'command = "touch"', `args = [${JSON.stringify(started)}]`].join("\n");
  mkdirSync(join(lab!.cwd, ".codex"));
  writeFileSync(join(lab!.cwd, ".codex", "config.toml"), server);
  appendFileSync(join(process.env["CODEX_HOME"]!, "config.toml"), server.replace("uninvited", "my-own"));
  writeFileSync(join(lab!.cwd, "AGENTS.md"), "Always speak of the blue heron.\n");
  const talk = converse();
  await talk.turn(1, "Hello");
  await talk.turn(2, "And again");
  expect(JSON.stringify(model.requests[0]!.body)).toContain("blue heron");
  expect(existsSync(started)).toBe(false);
  await talk.end();
});

test("an interrupted turn ends, its open question is withdrawn, and the next turn is answered", async () => {
  await start(
    byPrompt({
      Then: () => [say("Here I am.")],
      Command: inOrder([escalated("echo x > x.txt")], [say("done")]),
      Working: inOrder([run("sleep 300")], [say("done")]),
      Slowly: () => [say("word ".repeat(400), 50)],
    }),
  );
  const talk = converse();
  await talk.give(1, "Slowly");
  await talk.until(({ type }) => type === "partial");
  await talk.session.interrupt(1);
  expect(ending(await talk.over(1))?.kind).toBe("interrupted");
  await talk.give(2, "Command");
  await talk.until(({ type }) => type === "ask");
  await talk.session.interrupt(2);
  const signals = await talk.over(2);
  expect(of(signals, "askCancelled").map(({ askId }) => askId)).toEqual(of(signals, "ask").map(({ askId }) => askId));
  expect(ending(signals)?.kind).toBe("interrupted");
  await talk.give(3, "Working");
  await talk.until((signal) => signal.type === "tool" && signal.name === "Bash");
  await talk.session.interrupt(3);
  expect(ending(await talk.over(3))?.kind).toBe("interrupted");
  await talk.give(4, "Slowly, once more");
  await talk.session.interrupt(4);
  expect(ending(await talk.over(4))?.kind).toBe("interrupted");
  expect(texts(await talk.turn(5, "Then"))).toBe("Here I am.");
  expect(existsSync(join(lab!.cwd, "x.txt"))).toBe(false);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

/** Kills the program itself, not its launcher. */
const killProgram = (): void => {
  const found = lab!.processes().filter((line) => /\bapp-server\b/.test(line) && !/^\d+ \S*node /.test(line));
  expect(found.length).toBeGreaterThan(0);
  killListed(found);
};

test("a program that is killed during a turn is resumed, and no signal is repeated", async () => {
  await start(
    byPrompt({
      "was restarted": inOrder([say("I go on where I was."), usage({ input: 3000, output: 30 })]),
      First: () => [say("The first answer."), usage({ input: 1000, output: 10 })],
      Second: inOrder(
        [say("I begin."), write("half.txt", "half\n"), usage({ input: 2000, output: 20 })],
        [say("word ".repeat(400), 50)],
      ),
    }),
  );
  const talk = converse();
  await talk.turn(1, "First");
  await talk.give(2, "Second");
  await talk.until((signal) => signal.type === "partial" && signal.text.includes("word"));
  killProgram();
  const received = await talk.over(2);
  expect(ending(received)?.kind).toBe("ended");
  expect(texts(received)).toBe("I begin.I go on where I was.");
  const { session, prompt, body } = model.requests.at(-1)!;
  expect(session).toBe(model.requests[0]!.session);
  expect(prompt).toContain("Second");
  expect(JSON.stringify(body)).toContain("The first answer.");
  expect(of(talk.received, "text").filter(({ text }) => text === "The first answer.")).toHaveLength(1);
  expect(of(talk.received, "usage").reduce((sum, signal) => sum + signal.usage.inputTokens, 0)).toBe(6000);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a program that is killed in its first turn still answers it", async () => {
  await start(byPrompt({ "was restarted": () => [say("Here it is.")], First: () => [say("word ".repeat(400), 50)] }));
  const talk = converse();
  await talk.give(1, "First");
  await talk.until(({ type }) => type === "partial");
  killProgram();
  const received = await talk.over(1);
  expect([texts(received), ending(received)?.kind]).toEqual(["Here it is.", "ended"]);
  await talk.end();
});

test("a program that is killed before the first byte of any turn answers it in another process", async () => {
  const prompts = new Set<string>();
  await start(({ prompt }) => {
    const name = /Turn \w+/.exec(prompt)![0];
    if (prompts.has(name)) return [say(`The answer to ${name}.`)];
    prompts.add(name);
    killProgram();
    return [hang()];
  });
  const talk = converse();
  for (const [i, name] of ["Turn one", "Turn two", "Turn three"].entries()) {
    const received = await talk.turn(i + 1, name);
    expect([texts(received), ending(received)?.kind]).toEqual([`The answer to ${name}.`, "ended"]);
  }
  expect(JSON.stringify(model.requests.at(-1)!.body)).toContain("The answer to Turn one.");
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a first request that stalls is sent again by another process", async () => {
  let stalls = 0;
  await start(() => (stalls++ === 0 ? [hang()] : [say("Now I answer.")]));
  const talk = converse({ stallTimeout: 4000 });
  const received = await talk.turn(1, "First");
  expect(of(received, "stalled")).toHaveLength(1);
  expect([texts(received), ending(received)?.kind]).toEqual(["Now I answer.", "ended"]);
  await talk.end();
});

const FAILURES: [name: string, steps: Step[], expected: object][] = [
  ["400", [fail("badRequest")], { cause: "invalid_request", detail: "This request is not in order." }],
  ["401", [fail("unauthorised")], { cause: "auth" }],
  ["no credit", [fail("billing")], { cause: "billing" }],
  ["too long", [fail("promptTooLong")], { cause: "context" }],
  ["too long, in the stream", [say("x"), fail("promptTooLong")], { cause: "context" }],
  ["429", [fail("rateLimit")], { cause: "rate_limit" }],
  ["429, in the stream", [say("x"), fail("rateLimit")], { cause: "rate_limit", retryAfterMs: 1000 }],
  [
    "429 with a long wait",
    [say("x"), fail("rateLimit", { message: "Rate limit reached. Please try again in 600s." })],
    { cause: "rate_limit", retryAfterMs: 600_000 },
  ],
  ["500", [fail("serverError")], { cause: "api" }],
  ["503", [fail("overloaded")], { cause: "overloaded" }],
  ["529", [fail("overloaded", { status: 529 })], { cause: "overloaded" }],
  ["a connection that breaks", [say("half a sen"), die()], { cause: "api" }],
  ["a refusal", [say("No."), stop("refusal")], { cause: "refusal" }],
  ["an answer without an end", [say("cut of"), stop("max_tokens")], { cause: "max_output" }],
];

test("every failure of the provider ends the turn with its cause, and the session accepts the next turn", async () => {
  let steps: Step[] = [];
  await start(() => steps);
  const talk = converse();
  for (const [i, [name, failing, expected]] of FAILURES.entries()) {
    steps = failing;
    const received = await talk.turn(i + 1, `Fail with ${name}`);
    expect(ending(received), name).toMatchObject({ kind: "error", ...expected });
  }
  expect(of(talk.received, "trouble").map(({ cause }) => cause)).toEqual(
    expect.arrayContaining(["auth", "rate_limit", "overloaded", "api"]),
  );
  steps = [say("All is well again.")];
  expect(texts(await talk.turn(FAILURES.length + 1, "Go on"))).toBe("All is well again.");
  await talk.end();
});

test("a stalled stream reports nothing, and stop ends the program with its children", async () => {
  await start(() => [say("first words"), stall()]);
  const talk = converse();
  await talk.give(1, "Stall");
  await talk.until(({ type }) => type === "partial");
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a missing login is reported at once, before any turn", async () => {
  await start(() => [say("never")]);
  writeFileSync(join(process.env["CODEX_HOME"]!, "config.toml"), 'model = "gpt-5.5"\n');
  const talk = converse();
  const signal = await talk.until(({ type }) => type === "unstartable");
  expect(signal).toMatchObject({ error: expect.stringContaining("Codex is not logged in") });
  expect(model.requests).toEqual([]);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a key in the environment suffices and is never written to disk", async () => {
  await start(() => [say("Hello.")]);
  writeFileSync(join(process.env["CODEX_HOME"]!, "config.toml"), 'model = "gpt-5.5"\n');
  vi.stubEnv("OPENAI_API_KEY", "sk-scripted-secret");
  vi.stubEnv("OPENAI_BASE_URL", `${model.url}/v1`);
  const talk = converse();
  expect(texts(await talk.turn(1, "Hello"))).toBe("Hello.");
  expect(model.requests[0]!.headers["authorization"]).toBe("Bearer sk-scripted-secret");
  await talk.end();
  const files = readdirSync(lab!.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const holding = files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes("sk-scripted-secret"));
  expect(files.length).toBeGreaterThan(10);
  expect(holding.map(({ name }) => name)).toEqual([]);
});

test("two parallel sessions stay separate and share the user's login", async () => {
  await start((request) => [say(`Answer to ${request.prompt}`)]);
  const login = join(process.env["CODEX_HOME"]!, "auth.json");
  writeFileSync(login, '{"OPENAI_API_KEY":"scripted"}', { mode: 0o600 });
  const [one, two] = [converse(), converse()];
  const [first, second] = await Promise.all([one.turn(1, "one"), two.turn(1, "two")]);
  expect([texts(first), texts(second)]).toEqual(["Answer to one", "Answer to two"]);
  expect(new Set(model.requests.map(({ session }) => session)).size).toBe(2);
  for (const { session } of [one, two]) {
    const spec = lab!.processes().find((line) => line.includes(session.sessionId));
    const home = join(spec!.trim().split(" ").at(-1)!, "codex");
    expect(lstatSync(join(home, "auth.json")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(home, "sessions"))).toBe(true);
  }
  expect(readFileSync(login, "utf8")).toBe('{"OPENAI_API_KEY":"scripted"}');
  expect(existsSync(join(dirname(login), "sessions"))).toBe(false);
  await Promise.all([one.end(), two.end()]);
  expect(lab!.processes()).toEqual([]);
});

test("Codex completes all five phases of a run with its own files (D4-012)", async () => {
  model = await startModel(
    playRun({ tasks: [{ id: "alpha" }, { id: "beta" }, { id: "gamma", dependencies: ["alpha"] }] }),
  );
  runLab = new Lab();
  const env = agentEnv("codex", model, runLab.folder);
  rmSync(env["TMPDIR"]!, { recursive: true });
  delete env["TMPDIR"];
  const flags = ["--template", "implementation", "--agent", "codex", "--cwd", runLab.repo, "--yes"];
  const { code, last, stderr } = await runLab.json(["run", "Write pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success" });
  const pages = runLab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md", "docs/gamma.md"]);
  expect(model.requests.map((request) => askedFor(request).phase)).toContain("verification");
  expect(runLab.leftovers()).toEqual([]);
});

const startSubagent = (job: string): Step => call("multi_agent_v1.spawn_agent", { message: `${job}: do it` });
const DELEGATES = byPrompt({
  "Inner job": ({ step }) => (step === 0 ? [run("echo inner > inner.txt")] : [say("inner is written")]),
  "Outer job": ({ step, results }) =>
    step === 0 ? [startSubagent("Inner job")] : step === 1 ? [awaitCodex(results)] : [say("outer is done")],
  "": ({ step, results }) =>
    step === 0 ? [startSubagent("Outer job")] : step === 1 ? [awaitCodex(results)] : [say("All is done.")],
});

test.each([
  [2, ["Outer job: do it", "Inner job: do it"]],
  [1, ["Outer job: do it"]],
  [0, []],
])("Codex reports its sub-agents with their calls and tools, at most %d deep", async (subagentDepth, jobs) => {
  await start(DELEGATES);
  const received = await converse({ subagentDepth }).turn(1, "Delegate it");
  expect(model.problems).toEqual([]);
  expect(ending(received)).toMatchObject({ kind: "ended" });
  const started = of(received, "subagent").filter(({ phase }) => phase === "started");
  expect(started.map(({ text }) => text)).toEqual(jobs);
  const calls = of(received, "tool").filter(({ name }) => name === "Agent");
  expect(started.map(({ toolId }) => toolId)).toEqual(calls.map(({ id }) => id));
  const done = of(received, "subagent").filter(({ phase }) => phase === "done");
  expect(done.map(({ id }) => id).toSorted()).toEqual(started.map(({ id }) => id).toSorted());
  const [outer, inner] = started;
  const shell = of(received, "tool").find(({ name }) => name === "Bash");
  if (inner) expect([inner.parent, shell?.parent]).toEqual([outer!.id, inner.toolId]);
  else expect(shell).toBeUndefined();
  expect(texts(received)).toBe("All is done.");
});
