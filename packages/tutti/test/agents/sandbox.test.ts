// Whole runs with the real programs in the sandbox, against a model that plays a run.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { withBubblewrap } from "../lab/bubblewrap.ts";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { playRun } from "../lab/model/tutti-run.ts";

const agents: [agent: string, program: AgentName][] = [
  ["claude", "claude"],
  ["codex", "codex"],
  ["acp:gemini --acp --skip-trust", "gemini"],
  // Its own sandbox works inside of ours.
  ["text:codex exec --skip-git-repo-check --sandbox workspace-write -", "codex"],
];

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

for (const [agent, program] of agents) {
  test(
    `${agent} completes a run in the sandbox`,
    withBubblewrap(async () => {
      model = await startModel(playRun({ tasks: [{ id: "alpha" }, { id: "beta", dependencies: ["alpha"] }] }));
      lab = new Lab();
      const env = agentEnv(program, model, lab.folder);
      const templates = join(lab.data, "templates");
      mkdirSync(templates, { recursive: true });
      const config = { permissions: { allow: ["Bash(cat docs/*)"] } };
      const template = { id: "listed", name: "Listed", extends: "implementation", config };
      writeFileSync(join(templates, "listed.json"), JSON.stringify(template));
      const flags = ["--template", "listed", "--agent", agent, "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
      const { code, last, stderr } = await lab.json(["run", "Write pages", ...flags, "--sandbox", "required"], env);
      expect(model.problems).toEqual([]);
      expect(code, stderr).toBe(0);
      expect(last).toMatchObject({ outcome: "success" });
      const pages = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
      expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md"]);
      expect(lab.leftovers()).toEqual([]);
    }),
  );
}
