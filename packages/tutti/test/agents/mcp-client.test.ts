// The real claude as the client of `tutti mcp`: it creates a run, waits for its result and reads the diff.
import { spawn } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { finished, Lab, LAUNCHER } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { mcp, say } from "../lab/model/step.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

test("claude carries out a run with the tools of tutti mcp", async () => {
  lab = new Lab();
  const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
  const request = {
    message: "x",
    templateId: "_default",
    cwd: lab.repo,
    agent,
    config: { autoSpawn: true },
    wait: true,
  };
  const steps = [
    () => mcp("tutti", "create_run", request),
    (id: string) => mcp("tutti", "get_result", { id }),
    (id: string) => mcp("tutti", "get_diff", { id, stat: true }),
    () => say("The run is done."),
  ];
  model = await startModel(({ step, results }) => {
    const [, id = ""] = /"id\\?":\\?"(orch_\w+)/.exec(results[0] ?? "") ?? [];
    return [steps[step]!(id)];
  });
  const server = { command: process.execPath, args: [LAUNCHER, "--data-dir", lab.data, "mcp"] };
  const flags = ["--strict-mcp-config", "--allowedTools", "mcp__tutti", "--mcp-config"];
  const config = JSON.stringify({ mcpServers: { tutti: { ...server, alwaysLoad: true } } });
  const child = spawn(agentProgram("claude"), ["-p", "Carry it out", ...flags, config], {
    cwd: lab.repo,
    env: agentEnv("claude", model, lab.folder),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr, code } = await finished(child);
  expect([model.problems, code, stderr]).toEqual([[], 0, ""]);
  expect(stdout).toContain("The run is done.");
  const { results } = model.requests.at(-1)!;
  expect(results[1]).toMatch(/outcome\\?":\\?"success/);
  expect(results[2]).toContain("docs/a.md");
  expect(lab.events().some(({ type }) => type === "orchestrator:completed")).toBe(true);
});
