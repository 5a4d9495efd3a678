// Whole runs with the real programs as `text:` agents, against a model that plays a run.
import { afterEach, expect, test } from "vitest";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { askedFor, playRun } from "../lab/model/tutti-run.ts";

const agents: [name: AgentName, agent: string][] = [
  ["claude", "text:claude -p --permission-mode acceptEdits --allowedTools Bash"],
  ["codex", "text:codex exec --skip-git-repo-check --sandbox workspace-write -"],
  ["gemini", "text:gemini --yolo --skip-trust"],
];

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

test.each(agents)("%s completes all five phases of a run with its own files", async (name, agent) => {
  model = await startModel(
    playRun({ tasks: [{ id: "alpha" }, { id: "beta" }, { id: "gamma", dependencies: ["alpha"] }] }),
  );
  lab = new Lab();
  const env = agentEnv(name, model, lab.folder);
  const flags = ["--template", "implementation", "--agent", agent, "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { code, last, stderr } = await lab.json(["run", "Write three pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success" });
  const pages = lab.git("ls-tree", "-r", "--name-only", last.branch!, "docs/");
  expect(pages.split("\n")).toEqual(["docs/alpha.md", "docs/beta.md", "docs/gamma.md"]);
  // One request per block, and two more per worker: the file and the command.
  expect(model.requests.map((request) => askedFor(request).phase).toSorted()).toEqual(
    ["aggregation", "analysis", ...Array<string>(9).fill("completion"), "task_list", "verification"].toSorted(),
  );
  expect(lab.leftovers()).toEqual([]);
});
