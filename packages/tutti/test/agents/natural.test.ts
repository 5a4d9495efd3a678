// Runs in natural mode with the real Claude Code: one session that delegates to sub-agents of its own, in every way that
// the program offers, and answers in plain words.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { EngineLab } from "../engine/engine-lab.ts";
import { Lab } from "../lab/lab.ts";
import { agentEnv, agentEnvFlags } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint, type Script } from "../lab/model/model-endpoint.ts";
import { byPrompt } from "../lab/model/script.ts";
import { call, fail, run, say, wait, write, type Step } from "../lab/model/step.ts";
import { SubSessionOptions } from "../../src/schema/options.ts";
import { isRunOver } from "../../src/schema/status.ts";

let lab: Lab | undefined;
let model: ModelEndpoint | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
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
  const shallow = { id: "shallow", name: "Shallow", extends: "subsession-task", config: { budget: { depth: 1 } } };
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(join(lab.data, "templates", "shallow.json"), JSON.stringify(shallow));
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

test("a sub-agent that would nest too deeply is refused, and its part is done without it", async () => {
  const { last, code, stderr, files } = await runNaturally(
    "shallow",
    byPrompt({
      "Inner job": writes("inner"),
      "Outer job": ({ step, results }) =>
        step === 0
          ? [delegate("Inner job", IN_FRONT)]
          : step === 1
            ? [write("outer.txt", `${results.at(-1)}\n`)]
            : [say("outer is written")],
      "only session of a run": ({ step }) =>
        step === 0 ? [delegate("Outer job", IN_FRONT)] : [say("Everything is written.")],
    }),
  );
  expect(code, stderr).toBe(0);
  expect(last).toMatchObject({ outcome: "success", census: { planned: 1, completed: 1 } });
  expect(files).toContain("outer.txt");
  expect(files).not.toContain("inner.txt");
  expect(lab!.git("show", `${last.branch!}:outer.txt`)).toContain("nest 1 deep");
});

test("a run that is cancelled ends its sub-agents in front and in the background, and their processes", async () => {
  const runLab = new EngineLab();
  lab = runLab;
  const pidOf = (name: string): string => {
    const file = join(runLab.folder, `${name}.pid`);
    return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  };
  const sleeps = (name: string): Script => {
    const file = join(runLab.folder, `${name}.pid`);
    return () => [run(`echo $$ > ${file} && exec sleep 1000`)];
  };
  model = await startModel(
    byPrompt({
      "Front job": sleeps("front"),
      "Back job": sleeps("back"),
      "only session of a run": () => [delegate("Back job", IN_BACKGROUND), delegate("Front job", IN_FRONT)],
    }),
  );
  const settings = SubSessionOptions.parse({ pollInterval: 50 });
  const { PATH, ...env } = agentEnv("claude", model, runLab.folder);
  vi.stubEnv("PATH", PATH);
  const engine = runLab.open(undefined, { agentEnv: env, subSessions: { settings, automatic: true } });
  const config = { permissions: { mode: "all" as const, allow: [], refuse: [] } };
  const id = await runLab.begin(engine, "claude", { templateId: "subsession-task", config });
  await expect.poll(() => [pidOf("front"), pidOf("back")].every(Boolean)).toBe(true);
  const pids = [pidOf("front"), pidOf("back")];
  expect(pids.map((pid) => existsSync(`/proc/${pid}`))).toEqual([true, true]);
  const started = Object.keys(engine.get(id)!.subagents ?? {});
  expect(started).toHaveLength(2);

  await engine.order(id, "cancel");
  await engine.until(id, ({ status }) => isRunOver(status));
  await engine.settled(id);
  expect(pids.map((pid) => existsSync(`/proc/${pid}`))).toEqual([false, false]);
  expect(await engine.result(id)).toMatchObject({ outcome: "cancelled", census: { planned: 2, completed: 0 } });
  const statuses = () => started.map((child) => engine.subSessionLog.get(child)?.status);
  await expect.poll(statuses).toEqual(["orphaned", "orphaned"]);
  await engine.close();
  expect(runLab.leftovers()).toEqual([]);
});
