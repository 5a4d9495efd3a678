// The real Claude Code program under real keepers, against the scripted model.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { Conversation } from "./conversation.ts";
import { killListed, Lab, processesOf } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import type { ModelRequest } from "../lab/model/model-request.ts";
import { byPrompt, inOrder } from "../lab/model/script.ts";
import { call, die, fail, hang, run, say, stall, stop, usage, write, type Step } from "../lab/model/step.ts";
import { askedFor, playRun } from "../lab/model/tutti-run.ts";
import { SessionLab, texts } from "../session/session-lab.ts";
import { waitUntil } from "../lab/wait-until.ts";
import type { Permissions } from "../../src/schema/permissions.ts";
import type { SessionSignal } from "../../src/session/session.ts";

let model: ModelEndpoint;
let lab: SessionLab | undefined;
let runLab: Lab | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  lab?.tearDown();
  runLab?.tearDown();
  lab = undefined;
  runLab = undefined;
  await model.close();
});

interface Options {
  permissions?: Partial<Permissions>;
  answer?: (question: string) => string;
  env?: Record<string, string>;
  stallTimeout?: number;
}

async function start(script: Script): Promise<SessionLab> {
  model = await startModel(script);
  lab = new SessionLab();
  return lab;
}

function converse(options: Options = {}): Conversation {
  // The program's default number of retries.
  const usual = { CLAUDE_CODE_MAX_RETRIES: "2" };
  const env = { ...agentEnv("claude", model, lab!.folder), ...usual, ...options.env };
  const host = lab!.newHost({ agentEnv: env, graceMs: 3000 });
  const permissions = { mode: "edits" as const, allow: [], refuse: [], ...options.permissions };
  const { stallTimeout } = options;
  const spec = lab!.spec("claude", { permissions, ...(stallTimeout === undefined ? {} : { stallTimeout }) });
  return new Conversation(host.open(spec), options.answer);
}

const of = <T extends SessionSignal["type"]>(signals: SessionSignal[], type: T) =>
  signals.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);

const tools = (signals: SessionSignal[]): string[] => of(signals, "tool").map(({ name }) => name);

const ending = (signals: SessionSignal[]) => of(signals, "turnOver")[0]?.ending;

/** The folder of a session's files. */
function folderOf(sessionId: string): string {
  const sessions = join(lab!.folder, "sessions");
  const run = readdirSync(sessions).find((name) => existsSync(join(sessions, name, sessionId)))!;
  return join(sessions, run, sessionId);
}

test("Claude asks before it reads a file outside its workspace, and its transcript keeps no secret afterwards", async () => {
  const secret = "sk-ant-api03-" + "Ab3".repeat(30);
  await start((request) =>
    inOrder(
      [call("Read", { file_path: join(lab!.folder, "outside.txt") })],
      [run(`cat ${join(lab!.folder, "outside.txt")}`)],
      [write("inside.txt", secret)],
      [call("Read", { file_path: join(lab!.cwd, "inside.txt") })],
      [say(`It says ${secret}.`)],
    )(request),
  );
  writeFileSync(join(lab!.folder, "outside.txt"), "private words");
  const asked: string[] = [];
  const talk = converse({
    answer: (question) => {
      asked.push(question);
      return "refuse";
    },
  });
  const received = await talk.turn(1, "Look around");
  expect(asked).toHaveLength(2);
  for (const question of asked) expect(question).toContain("outside.txt");
  expect(JSON.stringify(model.requests.at(-1)!.body)).not.toContain("private words");
  expect(tools(received)).toEqual(["Write", "Read"]);
  await talk.end();
  const folder = folderOf(talk.session.sessionId);
  const files = readdirSync(join(folder, "claude"), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const texts = files.map((each) => readFileSync(join(each.parentPath, each.name), "utf8"));
  expect(files.some(({ name }) => name.endsWith(".jsonl"))).toBe(true);
  expect(texts.some((text) => text.includes("It says ***"))).toBe(true);
  expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

test("Claude receives a message during its turn, and the turn ends with an answer to both", async () => {
  const wait = "until [ -e go ]; do sleep 0.1; done";
  await start(inOrder([run(wait)], [say("Both are done.")]));
  const talk = converse({ permissions: { mode: "all" } });
  await talk.give(1, "Wait for the file");
  await talk.until(({ type }) => type === "tool");
  await talk.session.steer!(1, "0", "And mind the heron.");

  writeFileSync(join(lab!.cwd, "go"), "");
  const received = await talk.over(1);
  expect(of(received, "steered")).toEqual([{ type: "steered", id: "0", text: "And mind the heron." }]);
  expect(ending(received)).toMatchObject({ kind: "ended" });
  expect(texts(received)).toContain("Both are done.");
  const bodies = model.requests.map(({ body }) => JSON.stringify(body));
  expect([bodies[0], bodies.at(-1)].map((body) => body!.includes("And mind the heron."))).toEqual([false, true]);
  await talk.end();
});

test("Claude answers a message that arrives during its last step in the same turn", async () => {
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
  const raw = join(folderOf(talk.session.sessionId), "raw.log");
  const queued = () => [...readFileSync(raw, "utf8").matchAll(/"state":"queued"/g)].length;
  await waitUntil(() => queued() === 2);
  arrived.resolve();
  const received = await talk.over(1);
  expect(texts(received)).toContain("Second answer.");
  expect(of(received, "steered")).toHaveLength(1);
  expect(ending(received)).toMatchObject({ kind: "ended" });
  await talk.end();
});

test("Claude is ready after its handshake, reports its version, answers, and reports the cost (E80)", async () => {
  await start(() => [say("Hello from the script."), usage({ input: 1200, output: 34 })]);
  const talk = converse();
  const received = await talk.turn(1, "Say hello");
  expect(texts(received)).toBe("Hello from the script.");
  expect(ending(received)).toEqual({ kind: "ended", detail: "the turn ended" });
  expect(
    of(received, "partial")
      .map(({ text }) => text)
      .join(""),
  ).toBe("Hello from the script.");
  const [agent] = of(talk.received, "agent");
  expect(agent).toMatchObject({
    agent: "claude",
    version: expect.stringMatching(/^2\.\d+\.\d+/),
    conversation: expect.any(String),
  });
  expect(model.requests[0]!.session).toBe(agent!.conversation);
  const raw = readFileSync(join(folderOf(talk.session.sessionId), "raw.log"), "utf8");
  expect(raw).toContain("Hello from the script.");
  // The prompt must be sent after the answer to the handshake.
  const order = talk.received.map(({ type }) => type).filter((type) => ["ready", "sent", "agent"].includes(type));
  expect(order).toEqual(["agent", "ready", "sent"]);
  const [spent] = of(received, "usage");
  expect(spent!.usage).toMatchObject({ inputTokens: 1200, outputTokens: 34 });
  expect(spent!.usage.usd).toBeGreaterThan(0);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("Claude writes a file in its workspace without asking, and its tool is counted by its real name (D4-100)", async () => {
  await start(inOrder([say("I write it."), write("docs/page.md", "# A page\n")], [say("It is written.")]));
  const talk = converse();
  const received = await talk.turn(1, "Write a page");
  expect(readFileSync(join(lab!.cwd, "docs/page.md"), "utf8")).toBe("# A page\n");
  expect(tools(received)).toEqual(["Write"]);
  expect(of(received, "ask")).toEqual([]);
  expect(texts(received)).toBe("I write it.It is written.");
  await talk.end();
});

test("Claude asks before a command, runs it if allowed, and reports a refusal", async () => {
  await start(
    byPrompt({
      First: inOrder([run("echo one > one.txt")], [say("done")]),
      Second: inOrder([run("echo two > two.txt")], [say("I could not.")]),
    }),
  );
  const answers = ["allow", "not today"];
  const talk = converse({ answer: () => answers.shift()! });
  const first = await talk.turn(1, "First");
  expect(of(first, "ask")).toMatchObject([
    {
      question: "May the agent run: echo one > one.txt",
      options: ["allow", "refuse"],
      permission: { tool: "Bash", subject: "echo one > one.txt" },
    },
  ]);
  expect(readFileSync(join(lab!.cwd, "one.txt"), "utf8")).toBe("one\n");
  expect(tools(first)).toEqual(["Bash"]);
  expect(ending(first)?.kind).toBe("ended");
  const second = await talk.turn(2, "Second");
  expect(existsSync(join(lab!.cwd, "two.txt"))).toBe(false);
  expect(tools(second)).toEqual([]);
  expect(ending(second)).toMatchObject({ kind: "error", cause: "denied" });
  expect(model.requests.at(-1)!.results.join("")).toContain("not today");
  await talk.end();
});

test("a tool that the run denies stays denied, even if the settings of the user or the repository allow it", async () => {
  await start(inOrder([run("touch who.txt"), run("ls")], [say("done")]));
  const settings = { permissions: { allow: ["Bash"] }, hooks: { PreToolUse: [hookThatLeavesA("marked")] } };
  const configFolder = join(lab!.folder, "person");
  for (const folder of [configFolder, join(lab!.cwd, ".claude")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(lab!.cwd, ".claude/settings.json"), JSON.stringify(settings));
  writeFileSync(join(configFolder, "settings.json"), JSON.stringify({ permissions: settings.permissions }));
  const permissions = { mode: "all" as const, refuse: ["Bash(touch *)"] };
  const talk = converse({ permissions, env: { CLAUDE_CONFIG_DIR: configFolder } });
  const received = await talk.turn(1, "Go");
  expect(existsSync(join(lab!.cwd, "who.txt"))).toBe(false);
  expect(existsSync(join(lab!.cwd, "marked"))).toBe(false);
  expect(tools(received)).toEqual(["Bash"]);
  await talk.end();
});

const hookThatLeavesA = (file: string) => ({ matcher: "", hooks: [{ type: "command", command: `touch ${file}` }] });

test("Claude reads the CLAUDE.md of the repository", async () => {
  await start(() => [say("ok")]);
  writeFileSync(join(lab!.cwd, "CLAUDE.md"), "Always speak of the blue heron.\n");
  const talk = converse();
  await talk.turn(1, "Hello");
  expect(JSON.stringify(model.requests[0]!.body)).toContain("blue heron");
  await talk.end();
});

test("Claude asks the user its questions one by one and receives the answers", async () => {
  const questions = ["Which colour?", "Which size?"].map((question, i) => ({
    question,
    header: `Q${i}`,
    multiSelect: false,
    options: [
      { label: "A", description: "the first" },
      { label: "B", description: "the second" },
    ],
  }));
  await start(inOrder([call("AskUserQuestion", { questions })], [say("Thank you.")]));
  const talk = converse({ answer: (question) => (question.startsWith("Which colour?") ? "B" : "something else") });
  const received = await talk.turn(1, "Ask me");
  expect(of(received, "ask").map(({ question, options }) => [question, options])).toEqual([
    ["Which colour?\n- A: the first\n- B: the second", ["A", "B"]],
    ["Which size?\n- A: the first\n- B: the second", ["A", "B"]],
  ]);
  const result = model.requests.at(-1)!.results.join("");
  expect(result).toContain('"Which colour?"="B"');
  expect(result).toContain('"Which size?"="something else"');
  await talk.end();
});

test("an interrupted turn ends, its open question is withdrawn, and the next turn is answered", async () => {
  // Text after an interrupted tool is in one message with the tool's result, so it is not a separate prompt.
  const went = (request: ModelRequest) => JSON.stringify(request.body).includes("Then go on");
  await start(
    byPrompt({
      Command: (request) => (went(request) ? [say("Here I am.")] : [run("echo x > x.txt")]),
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
  expect(texts(await talk.turn(3, "Then go on"))).toBe("Here I am.");
  await talk.end();
});

test("a turn that is interrupted before the program has started it ends", async () => {
  await start(byPrompt({ Slowly: () => [say("word ".repeat(200), 50)], Then: () => [say("Here I am.")] }));
  const talk = converse();
  await talk.give(1, "Slowly");
  await talk.session.interrupt(1);
  expect(ending(await talk.over(1))?.kind).toBe("interrupted");
  expect(texts(await talk.turn(2, "Then"))).toBe("Here I am.");
  await talk.end();
});

test("a program that is killed during a turn is resumed, and no signal is repeated (D4-021)", async () => {
  await start(
    byPrompt({
      "was restarted": inOrder([say("I go on where I was.")]),
      First: () => [say("The first answer."), usage({ input: 1000, output: 10 })],
      Second: inOrder([say("I begin."), write("half.txt", "half\n")], [say("word ".repeat(400), 50)]),
    }),
  );
  const talk = converse();
  await talk.turn(1, "First");
  await talk.give(2, "Second");
  await talk.until((signal) => signal.type === "tool" && signal.name === "Write");
  await talk.until((signal) => signal.type === "partial" && signal.text.startsWith("word"));
  const [program] = lab!.processes().filter((line) => line.includes("--session-id"));
  process.kill(Number(program!.split(" ")[0]), "SIGKILL");
  const received = await talk.over(2);
  expect(ending(received)?.kind).toBe("ended");
  expect(texts(received)).toBe("I begin.I go on where I was.");
  // The conversation is the same, and the program knows its history.
  const { session, prompt, body } = model.requests.at(-1)!;
  expect(session).toBe(model.requests[0]!.session);
  expect(prompt).toContain("Second");
  expect(JSON.stringify(body)).toContain("The first answer.");
  expect(of(talk.received, "text").filter(({ text }) => text === "The first answer.")).toHaveLength(1);
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

const killProgram = (folder: string): void => {
  const found = processesOf(folder).filter((line) => /--session-id|--resume/.test(line));
  expect(found.length).toBeGreaterThan(0);
  killListed(found);
};

test("a program that is killed before the first byte of any turn answers it in another process", async () => {
  const prompts = new Set<string>();
  await start(({ prompt }) => {
    const name = /Turn \w+/.exec(prompt)![0];
    if (prompts.has(name)) return [say(`The answer to ${name}.`)];
    prompts.add(name);
    killProgram(lab!.folder);
    return [hang()];
  });
  const talk = converse();
  for (const [i, name] of ["Turn one", "Turn two", "Turn three"].entries()) {
    const received = await talk.turn(i + 1, name);
    expect([texts(received), ending(received)?.kind]).toEqual([`The answer to ${name}.`, "ended"]);
  }
  // The last process knows the whole conversation.
  expect(JSON.stringify(model.requests.at(-1)!.body)).toContain("The answer to Turn one.");
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a first request that stalls is sent again by another process, and a second stall ends the turn", async () => {
  let stalls = 0;
  await start(({ prompt }) => {
    if (prompt.includes("For ever") || stalls++ === 0) return [hang()];
    return [say("Now I answer.")];
  });
  const talk = converse({ stallTimeout: 4000 });
  const received = await talk.turn(1, "First");
  expect(of(received, "stalled")).toHaveLength(1);
  expect([texts(received), ending(received)?.kind]).toEqual(["Now I answer.", "ended"]);
  const again = await talk.turn(2, "For ever");
  expect(of(again, "stalled")).toHaveLength(2);
  expect(ending(again)).toMatchObject({ kind: "exited", cause: "stalled" });
  await talk.end();
});

test("a run whose main session is killed before the first byte of every phase keeps its work and succeeds", async () => {
  const killed = new Set<string>();
  const script = playRun({ tasks: [{ id: "alpha" }, { id: "beta" }] });
  model = await startModel((request) => {
    const { phase, task } = askedFor(request);
    const key = `${phase} ${task}`;
    if (task !== null || killed.has(key)) return script(request);
    killed.add(key);
    killProgram(runLab!.folder);
    return [hang()];
  });
  runLab = new Lab();
  const env = agentEnv("claude", model, runLab.folder);
  const flags = ["--template", "documentation", "--agent", "claude", "--cwd", runLab.repo, "--yes"];
  const { code, last, stderr } = await runLab.json(["run", "Write pages", ...flags, ...agentEnvFlags(env)], env);
  expect([code, last.outcome], stderr).toEqual([0, "success"]);
  expect([...killed].toSorted()).toEqual(["aggregation null", "analysis null", "task_list null", "verification null"]);
  const spawned = runLab.events().filter(({ type }) => type === "worker:spawning");
  expect(spawned).toHaveLength(2);
  expect(runLab.leftovers()).toEqual([]);
});

const FAILURES: [name: string, steps: Step[], expected: object][] = [
  ["400", [fail("badRequest")], { cause: "invalid_request" }],
  ["401", [fail("unauthorised")], { cause: "auth" }],
  ["no credit", [fail("billing")], { cause: "billing" }],
  ["too long", [fail("promptTooLong")], { cause: "context" }],
  [
    "429",
    [fail("rateLimit", { retryAfterSeconds: 1 })],
    { cause: "rate_limit", retryAfterMs: expect.closeTo(1500, -3) },
  ],
  ["500", [fail("serverError")], { cause: "api" }],
  ["529", [fail("overloaded")], { cause: "overloaded" }],
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
  steps = [say("All is well again.")];
  expect(texts(await talk.turn(FAILURES.length + 1, "Go on"))).toBe("All is well again.");
  await talk.end();
});

test("an invalid key ends the turn at the first refusal", async () => {
  await start(() => [fail("unauthorised")]);
  const talk = converse();
  const received = await talk.turn(1, "Hello");
  expect(ending(received)).toMatchObject({ kind: "error", cause: "auth" });
  expect(model.requests.length).toBe(1);
  await talk.end();
});

test("the program does not wait when the provider requests a long delay", async () => {
  await start(() => [fail("rateLimit", { retryAfterSeconds: 45 })]);
  const talk = converse();
  const received = await talk.turn(1, "Hello");
  expect(ending(received)).toMatchObject({ kind: "error", cause: "rate_limit" });
  expect(ending(received)!.retryAfterMs).toBeGreaterThan(30_000);
  await talk.end();
});

test("a missing login is reported as such", async () => {
  await start(() => [say("never")]);
  const talk = converse({ env: { ANTHROPIC_API_KEY: "" } });
  expect(ending(await talk.turn(1, "Hello"))).toMatchObject({ kind: "error", cause: "auth" });
  expect(model.requests).toEqual([]);
  await talk.end();
});

test("every session uses the user's login from its original file", async () => {
  await start(() => [say("ok")]);
  const configFolder = join(lab!.folder, "person");
  mkdirSync(configFolder);
  const claudeAiOauth = {
    accessToken: "sk-ant-oat01-of-the-person",
    refreshToken: "sk-ant-ort01-of-the-person",
    expiresAt: Date.now() + 24 * 3_600_000,
    scopes: ["user:inference"],
    subscriptionType: "max",
  };
  const login = JSON.stringify({ claudeAiOauth });
  writeFileSync(join(configFolder, ".credentials.json"), login, { mode: 0o600 });
  const talk = converse({ env: { ANTHROPIC_API_KEY: "", CLAUDE_CONFIG_DIR: configFolder } });
  expect(texts(await talk.turn(1, "Hello"))).toBe("ok");
  expect(model.requests[0]!.headers["authorization"]).toBe("Bearer sk-ant-oat01-of-the-person");
  await talk.end();
  expect(readFileSync(join(configFolder, ".credentials.json"), "utf8")).toBe(login);
});

test("a stalled stream reports nothing, and stop ends the program with its children", async () => {
  await start(() => [say("first words"), stall()]);
  const talk = converse();
  await talk.give(1, "Stall");
  await talk.until(({ type }) => type === "partial");
  await talk.end();
  expect(lab!.processes()).toEqual([]);
});

test("a sub-agent's text does not count as the main agent's, but its work does", async () => {
  await start(
    byPrompt({
      "Sub job": inOrder([say("Subagent speaking."), write("sub.txt", "sub\n")], [say("SUB RESULT")]),
      Delegate: (request) =>
        request.step === 0
          ? [
              say("I delegate."),
              call("Agent", { description: "Sub job", prompt: "Sub job: do it", subagent_type: "general-purpose" }),
            ]
          : [say(`Main answer ${request.step}.`)],
      "": () => [say("Main answer after the news.")],
    }),
  );
  const talk = converse();
  const received = await talk.turn(1, "Delegate");
  expect(texts(received)).not.toContain("Subagent speaking");
  expect(texts(received)).not.toContain("SUB RESULT");
  expect(tools(received).toSorted()).toEqual(["Agent", "Write"]);
  const [agent, written] = of(received, "tool").toSorted((a, b) => a.name.localeCompare(b.name));
  expect(agent!.id).toMatch(/./);
  expect([agent!.parent, written!.parent]).toEqual([undefined, agent!.id]);
  expect(of(received, "subagent")[0]).toMatchObject({ text: "Sub job", toolId: agent!.id });
  expect(of(received, "subagent").map(({ phase }) => phase)).toEqual(["started", "done"]);
  expect(ending(received)?.kind).toBe("ended");
  expect(readFileSync(join(lab!.cwd, "sub.txt"), "utf8")).toBe("sub\n");
  await talk.end();
});

test("two parallel sessions stay separate, each with its own configuration", async () => {
  await start((request) => [say(`Answer to ${request.prompt}`)]);
  const [one, two] = [converse(), converse()];
  const [first, second] = await Promise.all([one.turn(1, "one"), two.turn(1, "two")]);
  expect([texts(first), texts(second)]).toEqual(["Answer to one", "Answer to two"]);
  expect(new Set(model.requests.map(({ session }) => session)).size).toBe(2);
  for (const { session } of [one, two])
    expect(existsSync(join(folderOf(session.sessionId), "claude/projects"))).toBe(true);
  await Promise.all([one.end(), two.end()]);
  expect(lab!.processes()).toEqual([]);
});

test("Claude completes all five phases of a run with its own files (D4-012)", async () => {
  model = await startModel(playRun({ tasks: [{ id: "alpha" }, { id: "beta", dependencies: ["alpha"] }] }));
  runLab = new Lab();
  const env = agentEnv("claude", model, runLab.folder);
  const flags = ["--template", "implementation", "--agent", "claude", "--cwd", runLab.repo, "--yes"];
  const { code, last, stderr } = await runLab.json(["run", "Write pages", ...flags, ...agentEnvFlags(env)], env);
  expect(model.problems).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success" });
  const pages = runLab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md"]);
  expect(model.requests.map((request) => askedFor(request).phase)).toContain("verification");
  expect(runLab.leftovers()).toEqual([]);
});
