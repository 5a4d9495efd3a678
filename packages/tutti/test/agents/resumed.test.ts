// The real programs under a run that waits for the user: no agent runs meanwhile, and the answer continues the same
// conversation.
import { afterEach, expect, test } from "vitest";
import { Lab, processesOf } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { call, run, say, type Step } from "../lab/model/step.ts";
import { completion, playRun } from "../lab/model/tutti-run.ts";

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

const COMMAND = "echo one > alpha.txt; echo command-ran";
/** Calls of the shell that each program asks the user about. */
const asking = {
  claude: run(COMMAND),
  codex: call("exec_command", {
    cmd: COMMAND,
    sandbox_permissions: "require_escalated",
    justification: "it needs the network",
  }),
};

/** A worker that repeats its command until it has run. */
const persistent =
  (command: Step): Script =>
  ({ results }) =>
    results.some((result) => result.includes("command-ran")) ? [say(completion("alpha"))] : [command];

test.each(["claude", "codex"] as const)(
  "%s continues its conversation with an answer that comes later",
  async (name) => {
    model = await startModel(playRun({ tasks: [{ id: "alpha", work: persistent(asking[name]) }] }));
    lab = new Lab();
    const env = agentEnv(name, model, lab.folder);
    const flags = agentEnvFlags(env);
    const args = ["run", "Write a page", "--template", "implementation", "--agent", name, "--cwd", lab.repo, "--yes"];
    const asked = await lab.json([...args, ...flags], env);
    expect(asked.last.error, asked.stderr).toMatchObject({ code: "needs_answer" });
    expect(asked.code).toBe(4);
    expect(processesOf(lab.folder)).toEqual([]);
    const [, item] = /tutti answer (item_\w+)/.exec(asked.last.error!.message)!;
    const before = model.requests.length;

    const { code, last, stderr } = await lab.json(["answer", item!, "allow", ...flags], env);
    expect(model.problems).toEqual([]);
    expect(code, stderr).toBe(0);
    expect(last).toMatchObject({ outcome: "success", outputFiles: ["alpha.txt"] });
    const events = lab.events();
    expect(events.filter(({ type }) => type === "worker:spawning")).toHaveLength(1);
    const permissions = events.filter(
      ({ type, data }) => type === "inbox:added" && JSON.stringify(data).includes("command-ran"),
    );
    // The program asks again, and the rules give it the answer that it missed.
    const answers = events.filter(
      ({ type, data }) => type === "inbox:answered" && JSON.stringify(data).includes("allow"),
    );
    expect(answers).toHaveLength(permissions.length);
    const first = model.requests[before]!;
    expect(first.prompt).toContain("The answer is: allow");
    expect(JSON.stringify(first)).toContain("You were paused");
    expect(lab.leftovers()).toEqual([]);
  },
);
