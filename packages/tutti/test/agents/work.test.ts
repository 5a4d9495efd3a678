// Work is what succeeded: whole runs with the real programs, against a model whose tool calls fail.
import { afterEach, expect, test } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { inOrder } from "../lab/model/script.ts";
import { call, run, say, write, type Step } from "../lab/model/step.ts";
import { completion, playRun } from "../lab/model/tutti-run.ts";

/** `read` reads a file with the program's own tool. */
const agents: [name: AgentName, agent: string, read: (file: string) => Step][] = [
  ["claude", "claude", (file) => call("Read", { file_path: file })],
  ["codex", "codex", (file) => run(`cat ${file}`)],
  ["gemini", `acp:${agentProgram("gemini")} --acp --skip-trust`, (file) => call("read_file", { file_path: file })],
];

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

test.each(agents)("a failed call of %s is no work, and reported files are checked", async (name, agent, read) => {
  const idle = inOrder(
    [call("frobnicate", { speed: "high" })],
    [read("missing.txt")],
    [say(`It is all done.\n\n${completion("idle", { output_files: ["docs/idle.md"] })}`)],
  );
  const boastful = inOrder(
    [write("docs/boastful.md", "# A page\n")],
    [read("missing.txt")],
    [say(completion("boastful", { output_files: ["docs/boastful.md", "docs/never.md", "README.md"] }))],
  );
  model = await startModel(
    playRun({
      tasks: [
        { id: "idle", work: idle },
        { id: "boastful", work: boastful },
      ],
    }),
  );
  lab = new Lab();
  const env = agentEnv(name, model, lab.folder);
  const flags = ["--template", "implementation", "--agent", agent, "--cwd", lab.repo, "--yes", ...agentEnvFlags(env)];
  const { last, stderr } = await lab.json(["run", "Write two pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(last, stderr).toMatchObject({
    outcome: "degraded",
    census: { completed: 1, failed: 1 },
    causes: [
      { taskId: "idle", status: "failed", reason: expect.stringMatching(/no tool call that succeeded|called no tool/) },
      { taskId: "boastful", status: "contradicted" },
    ],
    warnings: [
      'boastful: it reported files that do not exist: "docs/never.md".',
      'boastful: it reported files that it did not change: "README.md".',
    ],
  });
  const { stdout } = await lab.tutti(["logs", String(last["id"]), "--task", "boastful"], env);
  expect(stdout).toContain("failed: ");
  expect(lab.leftovers()).toEqual([]);
});
