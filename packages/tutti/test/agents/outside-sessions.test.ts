// Sessions of the real Claude Code that Tutti did not start, watched by `tutti serve` in the user's transcript folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Lab } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { byPrompt } from "../lab/model/script.ts";
import { call, hang, say, wait, type Step } from "../lab/model/step.ts";
import { findProgram } from "../../src/session/find-program.ts";

const PARENT = "11111111-1111-4111-8111-111111111111";
const CHILD = "22222222-2222-4222-8222-222222222222";

let lab: Lab;
let model: ModelEndpoint;
let env: Record<string, string>;

afterEach(async () => {
  lab.tearDown();
  await model.close();
});

async function begin(script: Script): Promise<void> {
  model = await startModel(script);
  lab = new Lab();
  env = agentEnv("claude", model, lab.folder);
}

/** One turn of a session that the user starts. */
async function claude(session: string, prompt: string): Promise<void> {
  const child = startClaude(session, prompt);
  await once(child, "exit");
}

function startClaude(session: string, prompt: string) {
  const program = join(env["PATH"]!.split(":")[0]!, "claude");
  return spawn(findProgram(program, lab.repo), ["-p", "--session-id", session, prompt], {
    cwd: lab.repo,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

interface Relation {
  childSessionId: string;
  parentSessionId: string;
  taskToolId: string | null;
  status: string;
  lastAssistantMessage: string | null;
  error: string | null;
}

/** Starts `tutti serve` with short times. */
async function serve() {
  mkdirSync(lab.data, { recursive: true });
  const subSessions = { pollInterval: 100, inactivityThreshold: 300, confirmationDelay: 300, resultPrefix: "RESULT: " };
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ subSessions }));
  const child = lab.start(["serve", "--port", "0"], env);
  const address = await new Promise<URL>((resolve, reject) => {
    let shown = "";
    child.stdout!.on("data", (text: Buffer) => {
      shown += String(text);
      const found = /listening on (http:\S+)/.exec(shown);
      if (found) resolve(new URL(found[1]!));
    });
    child.on("close", () => reject(new Error(shown)));
  });
  const headers = {
    authorization: `Bearer ${address.searchParams.get("token")}`,
    "content-type": "application/json",
  };
  const send = async (path: string, body?: object): Promise<unknown> => {
    const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(new URL(`/api/subsession/${path}`, address.origin), request);
    expect(response.status).toBeLessThan(300);
    return response.json();
  };
  const children = async () => (await send(`parent/${PARENT}`)) as Relation[];
  const until = (test: (relations: Relation[]) => boolean) =>
    expect.poll(async () => test(await children()), { interval: 100 }).toBe(true);
  return { send, children, until };
}

const asked = (text: string): number => model.requests.filter(({ prompt }) => prompt.includes(text)).length;

test("a registered session returns its last message once, by resuming its parent", async () => {
  await begin(
    byPrompt({
      "Child job": () => [say("The child has found 42.")],
      "Parent job": () => [say("I wait for the child.")],
      "RESULT: ": () => [say("Thank you.")],
    }),
  );
  await claude(PARENT, "Parent job");
  await claude(CHILD, "Child job");
  const { send, children, until } = await serve();
  await send("register", { childSessionId: CHILD, parentSessionId: PARENT });
  await until(([relation]) => relation?.status === "returned");
  expect(await children()).toMatchObject([{ lastAssistantMessage: "The child has found 42.", error: null }]);
  expect(asked("RESULT: The child has found 42.")).toBe(1);
  expect(model.problems).toEqual([]);
});

test("a session that dies in the middle of its turn returns as failed", async () => {
  await begin(
    byPrompt({
      "Child job": ({ step }) => (step === 0 ? [say("I begin."), call("Bash", { command: "true" })] : [hang()]),
      "Parent job": () => [say("I wait for the child.")],
      "RESULT: ": () => [say("A pity.")],
    }),
  );
  await claude(PARENT, "Parent job");
  const child = startClaude(CHILD, "Child job");
  await expect.poll(() => asked("Child job"), { interval: 100 }).toBe(2);
  const { send, children, until } = await serve();
  await send("register", { childSessionId: CHILD, parentSessionId: PARENT });
  child.kill("SIGKILL");
  await until(([relation]) => relation?.status === "error");
  expect(await children()).toMatchObject([{ error: "its process ended in the middle of a turn" }]);
  expect(asked("RESULT: The sub-session")).toBe(1);
});

test("the sub-agents of a watched session are linked by their tool ids, and the program itself returns them", async () => {
  const delegate = (job: string, more: object): Step =>
    call("Agent", { description: job, prompt: `${job}: do it`, subagent_type: "general-purpose", ...more });
  await begin(
    byPrompt({
      "Inner job": () => [wait(2000), say("inner result")],
      "Outer job": ({ step }) =>
        step === 0 ? [delegate("Inner job", { run_in_background: false })] : [say("outer result")],
      "Back job": () => [wait(4000), say("back result")],
      "Parent job": ({ step }) =>
        step === 0
          ? [delegate("Outer job", { run_in_background: false }), delegate("Back job", { run_in_background: true })]
          : [say("All is done.")],
      "": () => [say("All is done, the last one too.")],
    }),
  );
  const server = await serve();
  const parent = startClaude(PARENT, "Parent job");
  // The program writes the transcript some time after it has asked its model.
  const watch = () =>
    server.send(`watch/${PARENT}`, {}).then(
      () => true,
      () => false,
    );
  await expect.poll(watch, { interval: 50 }).toBe(true);
  await server.until((relations) => relations.length === 2 && relations.every(({ status }) => status === "returned"));
  const relations = await server.children();
  const texts = new Set(relations.map(({ lastAssistantMessage }) => lastAssistantMessage));
  expect(texts).toEqual(new Set(["back result", "outer result"]));
  expect(relations[0]!.taskToolId).toMatch(/^toolu_/);
  if (parent.exitCode === null) await once(parent, "exit");
  expect(asked("RESULT: ")).toBe(0);
  const stats = (await server.send("stats")) as { total: number; byStatus: Record<string, number> };
  expect(stats).toMatchObject({ total: 3, byStatus: { returned: 3 } });
});
