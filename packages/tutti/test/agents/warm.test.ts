// The real programs as warm sessions: they wait for their prompt, and until then cost nothing.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Conversation } from "./conversation.ts";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { agentEnv, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { say } from "../lab/model/step.ts";
import { SessionLab, texts } from "../session/session-lab.ts";
import { pathName } from "../../src/schema/ids.ts";
import { paths, readKeeper } from "../../src/session/keeper/session-folder.ts";
import { findSessionProcesses } from "../../src/session/keeper/session-processes.ts";
import { WarmKeeper } from "../../src/session/keeper/warm-keeper.ts";
import { realWorld } from "../../src/world.ts";

let model: ModelEndpoint | undefined;
let lab: SessionLab | undefined;

afterEach(async () => {
  lab?.tearDown();
  await model?.close();
});

const agents: [name: AgentName, agent: () => string][] = [
  ["claude", () => "claude"],
  ["codex", () => "codex"],
  ["gemini", () => `acp:${agentProgram("gemini")} --acp --skip-trust`],
];

test.each(agents)("%s asks its model nothing before its prompt, and then answers", async (name, agent) => {
  model = await startModel(() => [say("Hello from the script.")]);
  lab = new SessionLab();
  const env = agentEnv(name, model, lab.folder);
  const host = lab.newHost({ agentEnv: env, graceMs: 3000, warm: new WarmKeeper(realWorld) });
  const spec = lab.spec(agent());
  const folder = join(lab.folder, "sessions", spec.runId, pathName(spec.sessionId));
  expect(host.warm!(spec)).toBe(true);
  const { journal } = paths(folder);
  await expect.poll(() => existsSync(journal) && readFileSync(journal, "utf8").includes('"started"')).toBe(true);
  const keeper = readKeeper(folder)!.pid;
  expect(model.requests).toEqual([]);

  expect(await host.claim!(spec, true)).toBe(true);
  const talk = new Conversation(host.open(spec));
  expect(texts(await talk.turn(1, "Say hello"))).toContain("Hello from the script.");
  expect(model.requests).toHaveLength(1);
  expect(readKeeper(folder)!.pid).toBe(keeper);
  await talk.end();
  expect(findSessionProcesses(spec.sessionId)).toEqual([]);
});
