// One run of each team template with the real Claude Code, against a model that plays all roles.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
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
  model = await startModel(playTeam);
  lab = new Lab();
  // The boxes of the mailbox lie outside of the workspace.
  const template = { id: "own", name: "Own", extends: parent, config: { permissions: { mode: "all" } } };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates", "own.json"), JSON.stringify(template));
  const env = agentEnv("claude", model, lab.folder);
  const flags = ["--template", "own", "--agent", "claude", "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { code, last, stderr } = await lab.json(["run", "Write pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect([code, last.outcome], stderr).toEqual([0, "success"]);
  const written = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(written.split("\n")).toEqual(pages.map((page) => `docs/${page}.md`));
  expect(lab.leftovers()).toEqual([]);
});
