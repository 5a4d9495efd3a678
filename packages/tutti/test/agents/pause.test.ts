// An interrupt, as a pause sends it, ends everything that a real program has started, and the conversation continues.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { Conversation } from "./conversation.ts";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { agentEnv, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { call, run, say, type Step } from "../lab/model/step.ts";
import { SessionLab, texts } from "../session/session-lab.ts";
import { waitUntil } from "../lab/wait-until.ts";

/** `inBackground` starts a command for which the program does not wait. */
const agents: [name: AgentName, agent: string, inBackground: (command: string) => Step][] = [
  ["claude", "claude", (command) => call("Bash", { command, description: "Work", run_in_background: true })],
  ["codex", "codex", (cmd) => call("exec_command", { cmd, yield_time_ms: 250 })],
  [
    "gemini",
    `acp:${agentProgram("gemini")} --acp --skip-trust`,
    (command) => call("run_shell_command", { command, is_background: true }),
  ],
];

let lab: SessionLab;
let model: ModelEndpoint;

afterEach(async () => {
  vi.unstubAllEnvs();
  lab.tearDown();
  await model.close();
});

test.each(agents)("%s ends its commands when it is interrupted, and continues", async (name, agent, inBackground) => {
  const isNext = (body: unknown): boolean => JSON.stringify(body).includes("Then go on");
  model = await startModel(({ body, step }) => {
    if (isNext(body)) return [say("Here I am.")];
    return step === 0 ? [inBackground("touch one; sleep 301; :")] : [run("touch two; sleep 302; :")];
  });
  lab = new SessionLab();
  const env = agentEnv(name, model, lab.folder);
  if (name === "codex") {
    delete env["TMPDIR"];
    for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
    for (const key of ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"]) vi.stubEnv(key, undefined);
  }
  const permissions = { mode: "all" as const, allow: [], refuse: [] };
  const host = lab.newHost({ agentEnv: env, graceMs: 3000 });
  const talk = new Conversation(host.open(lab.spec(agent, { permissions })), () => "allow");
  const commands = () => lab.processes().filter((line) => /sleep 30[12]/.test(line));
  await talk.give(1, "Work for long");
  await waitUntil(() => ["one", "two"].every((file) => existsSync(join(lab.cwd, file))));
  expect(commands().length).toBeGreaterThan(1);
  await talk.session.interrupt(1);
  const over = await talk.over(1);
  expect(over.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "interrupted" } });
  await expect.poll(commands).toEqual([]);
  expect(texts(await talk.turn(2, "Then go on"))).toBe("Here I am.");
  // No news of an ended command made the program start a turn by itself.
  expect(model.requests).toHaveLength(3);
  // The conversation still contains the first prompt.
  expect(JSON.stringify(model.requests.at(-1)!.body)).toContain("Work for long");
  await talk.end();
  expect(lab.processes()).toEqual([]);
});
