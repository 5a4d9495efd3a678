import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "../run/make-run.ts";
import { keyOfAttempt, workKey } from "../../src/engine/sessions/attempt-key.ts";
import { canonicalJson } from "../../src/protocol/json/canonical-json.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Task } from "../../src/schema/task.ts";
import type { Template } from "../../src/schema/template.ts";
import type { Worker } from "../../src/schema/worker.ts";

const SHOWS_ALL =
  "{TASK_ID} {TASK_ATTEMPT} {ORCHESTRATOR_ID} in {CWD}: {TASK_TITLE} {TASK_DESCRIPTION} {TASK_SCOPE} {USER_REQUEST} {HOW}";

function attempt(): { run: Run; worker: Worker } {
  const template = makeTemplate();
  template.prompts.worker = { system: SHOWS_ALL };
  const story = new Story(template).execute([{ id: "a" }]);
  story.spawn("a");
  return { run: { ...story.run, customVariables: { HOW: "well" } }, worker: story.run.workers["a"]! };
}

const { run, worker } = attempt();
const key = keyOfAttempt(run, worker, "tree");
const withTask = (task: Partial<Task>) => keyOfAttempt(run, { ...worker, task: { ...worker.task, ...task } }, "tree");
const withSession = (session: object) =>
  keyOfAttempt(run, { ...worker, session: { ...worker.session, ...session } }, "tree");
const withTemplate = (template: Partial<Template>) =>
  keyOfAttempt({ ...run, template: { ...run.template, ...template } }, worker, "tree");

describe("the work key of an attempt", () => {
  it("does not depend on the run, the task id, the attempt, the priority or the other tasks", () => {
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(keyOfAttempt({ ...run, id: "orch_999999999999" }, worker, "tree")).toBe(key);
    expect(keyOfAttempt(run, { ...worker, attempt: 3, sessionId: "another" }, "tree")).toBe(key);
    expect(withTask({ id: "b", priority: 1, expectedMs: 5, estimatedTokens: 9, dependencies: ["a"] })).toBe(key);
    expect(keyOfAttempt({ ...run, tasks: [], head: "elsewhere" }, worker, "tree")).toBe(key);
  });

  it("equals the key of the same work in a log of an earlier version", () => {
    const task = { title: "t", description: "d", scope: ["b", "a/"] };
    const terms = canonicalJson({ z: 1, a: { d: [], c: null } });
    const work = { prompt: 'Say "é" and\n{1}', task, terms, agent: "local", role: "worker", tree: "1f" };
    expect(workKey(work)).toBe("7ef763151a4a0468605f470d7607b08e93e5dd8b203d9aa4828a242103a4e0bc");
    const ofModel = "de09e16662ef1b636f204037382375b6dd78475a868b7c3d2682f1b1b242f4c0";
    expect(workKey({ ...work, model: "fast" })).toBe(ofModel);
  });

  it("does not depend on settings about scheduling", () => {
    const { config } = run.template;
    expect(withTemplate({ config: { ...config, maxWorkers: 1, workerTimeout: 20_000, maxRetries: 0 } })).toBe(key);
    const { workerExecution } = run.template.phases;
    const timed = { ...workerExecution, timeout: 50_000 };
    expect(withTemplate({ phases: { ...run.template.phases, workerExecution: timed } })).toBe(key);
  });

  it("depends on the files, the agent, the role, the task and the request", () => {
    const others = [
      keyOfAttempt(run, worker, "another tree"),
      withSession({ agent: "command:y" }),
      withSession({ role: "reviewer" }),
      withTask({ title: "Another" }),
      withTask({ description: "Another" }),
      withTask({ scope: ["docs/"] }),
      keyOfAttempt({ ...run, userRequest: "do something else" }, worker, "tree"),
      keyOfAttempt({ ...run, customVariables: { HOW: "fast" } }, worker, "tree"),
    ];
    expect(new Set([key, ...others]).size).toBe(others.length + 1);
  });

  it("depends on the template's worker prompt and on how it parses and accepts answers", () => {
    const { config, phases, prompts } = run.template;
    const inPhase = (change: Partial<Template["phases"]["workerExecution"]>) =>
      withTemplate({ phases: { ...phases, workerExecution: { ...phases.workerExecution, ...change } } });
    const { worker: prompt, responseFormat } = prompts;
    const format = { requiredFields: ["output"], optionalFields: [], taskSchema: { required: [], optional: [] } };
    const others = [
      withTemplate({ prompts: { ...prompts, worker: { ...prompt, system: `${SHOWS_ALL}!` } } }),
      withTemplate({ prompts: { ...prompts, worker: { ...prompt, format } } }),
      withTemplate({ prompts: { ...prompts, responseFormat: { ...responseFormat, delimiterEnd: "<<<OVER>>>" } } }),
      withTemplate({ config: { ...config, acceptWithoutWork: true } }),
      inPhase({ completionMarkers: ["DONE"] }),
      inPhase({ tools: { required: ["Read"] } }),
    ];
    expect(new Set([key, ...others]).size).toBe(others.length + 1);
    const forOthers = { ...prompts, analysis: { system: "look elsewhere" } };
    expect(withTemplate({ prompts: forOthers })).toBe(key);
  });
});
