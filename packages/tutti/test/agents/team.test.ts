// One run of each team template with the real Claude Code, against a model that plays all roles.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Lab, type JsonLine } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { usage } from "../lab/model/step.ts";
import { playTeam, TEAM_TASK } from "../lab/model/tutti-team.ts";

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

const FEATURE = ["architect", "deployment", "designer", "developer", "documentation", "integrations", "testing"];

test.each([
  ["team-lead", [TEAM_TASK]],
  ["modes", [TEAM_TASK]],
  ["design-only", ["designer", "documentation"]],
  ["hotfix", ["deployment", "developer", "testing"]],
  ["feature", FEATURE],
])("Claude plays all roles of %s", async (parent, pages) => {
  await play(parent, pages);
});

test("Claude reads its tasks and reports them with tools, in a role beside one that sends messages", async () => {
  await play("design-only", ["designer", "documentation"], { roles: { DESIGNER: { protocol: "tools" } } });
});

test("Claude reports a context that is almost full, and a new main session continues", async () => {
  const full: Script = async (request) => {
    const isFirst = request.prompt.includes("This is your task. Delegate it now.");
    return [...(await playTeam(request)), ...(isFirst ? [usage({ input: 990_000, output: 10 })] : [])];
  };
  const lines = await play("modes", [TEAM_TASK], {}, full);
  expect(lines.filter(({ type }) => type === "main:relieved")).toHaveLength(1);
});

async function play(parent: string, pages: string[], more: object = {}, script = playTeam): Promise<JsonLine[]> {
  model = await startModel(script);
  lab = new Lab();
  // The boxes of the mailbox lie outside of the workspace.
  const template = { id: "own", name: "Own", extends: parent, config: { permissions: { mode: "all" } }, ...more };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates", "own.json"), JSON.stringify(template));
  const env = agentEnv("claude", model, lab.folder);
  const flags = ["--template", "own", "--agent", "claude", "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { code, last, lines, stderr } = await lab.json(["run", "Write pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect([code, last.outcome], stderr).toEqual([0, "success"]);
  const written = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(written.split("\n")).toEqual(pages.map((page) => `docs/${page}.md`));
  expect(lab.leftovers()).toEqual([]);
  return lines;
}
