// Runs in natural mode with the real Claude Code: one session that delegates to sub-agents of its own, in every way that
// the program offers, and answers in plain words.
import { afterEach, expect, test } from "vitest";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { byPrompt } from "../lab/model/script.ts";
import { call, fail, say, wait, write, type Step } from "../lab/model/step.ts";

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  await model?.close();
  lab?.tearDown();
});

const delegate = (job: string, more: object = {}): Step =>
  call("Agent", { description: job, prompt: `${job}: do it`, subagent_type: "general-purpose", ...more });
const IN_FRONT = { run_in_background: false };
const IN_BACKGROUND = { run_in_background: true };

/** A sub-agent that writes one file. */
const writes =
  (name: string, waitMs = 0): Script =>
  ({ step }) =>
    step === 0 ? [wait(waitMs), write(`${name}.txt`, `${name}\n`)] : [say(`${name} is written`)];

async function runNaturally(template: string, script: Script) {
  model = await startModel(script);
  lab = new Lab();
  const env = agentEnv("claude", model, lab.folder);
  const flags = ["--template", template, "--agent", "claude", "--cwd", lab.repo, ...agentEnvFlags(env)];
  const { last, code, stderr } = await lab.json(["run", "Write the pages", ...flags], env);
  expect(model.problems).toEqual([]);
  expect(lab.leftovers()).toEqual([]);
  return { last, code, stderr, files: lab.git("ls-tree", "-r", "--name-only", last.branch!).split("\n") };
}

test.each(["subsession-doc", "subsession-task"])(
  "%s runs sub-agents in front, in the background, several in one turn and nested, and waits for all of them",
  async (template) => {
    const { last, code, stderr, files } = await runNaturally(
      template,
      byPrompt({
        "Inner job": writes("inner"),
        "Outer job": ({ step }) => (step === 0 ? [delegate("Inner job", IN_FRONT)] : [say("outer is done")]),
        "Front job": writes("front"),
        "Back job": writes("back", 1500),
        "only session of a run": ({ step }) =>
          step === 0
            ? [delegate("Outer job", IN_FRONT), delegate("Front job", IN_FRONT), delegate("Back job", IN_BACKGROUND)]
            : [say("All four parts are written.")],
        "": () => [say("All four parts are written, the last one too.")],
      }),
    );
    expect(code, stderr).toBe(0);
    expect(last).toMatchObject({
      outcome: "success",
      census: { planned: 4, completed: 4, failed: 0, cancelled: 0, neverStarted: 0 },
      causes: [],
    });
    expect(files).toEqual(expect.arrayContaining(["back.txt", "front.txt", "inner.txt"]));
  },
);

test("a sub-agent that fails is counted and named, and the run is degraded", async () => {
  const { last, code } = await runNaturally(
    "subsession-task",
    byPrompt({
      "Good job": writes("good"),
      "Bad job": () => [fail("badRequest")],
      "only session of a run": ({ step }) =>
        step === 0
          ? [delegate("Good job", IN_FRONT), delegate("Bad job", IN_FRONT)]
          : [say("One of two parts is written.")],
    }),
  );
  expect(code).toBe(1);
  expect(last).toMatchObject({ outcome: "degraded", census: { planned: 2, completed: 1, failed: 1 } });
  expect(last.causes).toMatchObject([{ status: "failed", reason: expect.stringMatching(/^Bad job: /) }]);
});
