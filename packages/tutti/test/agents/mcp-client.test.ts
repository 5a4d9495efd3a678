// The real claude and the official MCP Inspector as clients of `tutti mcp`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { finished, Lab, LAUNCHER } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { mcp, say } from "../lab/model/step.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

/** The members that the tests read. */
interface InspectorAnswer {
  tools: { name: string }[];
  content: { text: string }[];
  contents: { text: string }[];
}

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

test("the MCP Inspector finds no error in the tools, and uses them over stdio and HTTP", async () => {
  lab = new Lab();
  const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
  const inspect = async (...args: string[]) => {
    const child = spawn(agentProgram("mcp-inspector"), ["--cli", ...args], {
      env: { ...process.env, HOME: lab!.folder, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr, code } = await finished(child);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as InspectorAnswer;
  };
  const stdio = [process.execPath, LAUNCHER, "--data-dir", lab.data, "mcp"];

  // `--strict` makes the Inspector fail for a schema that clients reject.
  const { tools } = await inspect(...stdio, "--strict", "--method", "tools/list");
  expect(tools.map(({ name }) => name)).toContain("create_run");
  const request = { message: "x", templateId: "_default", cwd: lab.repo, agent, wait: true };
  const call = (name: string, args: object) => {
    const pairs = Object.entries(args).map(([key, value]) => `${key}=${value}`);
    return ["--method", "tools/call", "--tool-name", name, "--tool-arg", ...pairs];
  };
  const planned = await inspect(...stdio, ...call("create_run", request));
  const { id } = JSON.parse(planned.content[0]!.text) as { id: string };

  const server = lab.start(["mcp", "--http", "0"]);
  try {
    const [line] = (await once(server.stdout!.setEncoding("utf8"), "data")) as [string];
    const token = readFileSync(join(lab.data, "token"), "utf8").trim();
    const http = [/http:\S+/.exec(line)![0], "--header", `Authorization: Bearer ${token}`];
    await inspect(...http, ...call("confirm_plan", { id, wait: true }));
    const result = await inspect(...http, ...call("get_result", { id }));
    expect(result.content[0]!.text).toContain('"outcome":"success"');
    const read = await inspect(...http, "--method", "resources/read", "--uri", `tutti://runs/${id}`);
    expect(read.contents[0]!.text).toContain('"status":"completed"');
  } finally {
    server.kill("SIGTERM");
    await once(server, "close");
  }
});
