// What a session is told besides the template's own words.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "../run/make-run.ts";
import { renderPrompt, type Asking } from "../../src/engine/prompt.ts";
import type { Phase } from "../../src/schema/status.ts";
import { TemplateLibrary } from "../../src/template/library.ts";

const FIRST: Asking = { problems: [], note: null, interrupted: false };
const PHASES = ["analysis", "taskPlanning", "workerExecution", "aggregation", "verification"] as const;

function told(phases: object, phase: Phase, asking = FIRST): string {
  const story = new Story(makeTemplate({ phases })).execute([{ id: "a" }]);
  story.spawn("a");
  const worker = phase === "workerExecution" ? story.run.workers["a"]! : null;
  return renderPrompt(story.run, phase, worker, asking, "/work").text;
}

describe("a prompt", () => {
  it("names the tools and the kind of sub-agents that the template wants, in every phase (D4-240)", () => {
    for (const phase of PHASES) {
      const text = told({ [phase]: { tools: { required: ["Read", "Grep"], subagentType: "Explore" } } }, phase);
      expect(text).toContain("Use these tools: Read, Grep.");
      expect(text).toContain("For sub-agents use the type Explore.");
      expect(told({}, phase)).not.toContain("Use these tools");
    }
  });

  it("says how often to report progress, or not to", () => {
    expect(told({}, "workerExecution")).toContain("Report progress about every 30 seconds.");
    expect(told({ workerExecution: { progressInterval: 120_000 } }, "workerExecution")).toContain("every 120 seconds");
    expect(told({ workerExecution: { progressReporting: false } }, "workerExecution")).toContain("Report no progress");
    expect(told({}, "analysis")).not.toContain("progress");
  });

  it("asks for progress at most every ten seconds, whatever the template says (D0-087/X14)", () => {
    const text = told({ workerExecution: { progressInterval: 1000 } }, "workerExecution");
    expect(text).toContain("Report progress about every 10 seconds.");
  });

  it("says how conflicts are to be settled (D4-309, D4-316, E61)", () => {
    const settings = (conflictResolution: string) => told({ aggregation: { conflictResolution } }, "aggregation");
    expect(settings("ask")).toContain("Settle no conflict by yourself");
    expect(settings("first-wins")).toContain("the earlier task wins");
    expect(settings("last-wins")).toContain("the later task wins");
    expect(settings("smart")).toContain("what serves the request best");
  });

  it("begins with why it is asked again, and with what has happened since", () => {
    const text = told({}, "taskPlanning", {
      problems: ["data.tasks is missing."],
      note: "The person wants less.",
      interrupted: true,
    });
    expect(text).toMatch(
      /^Your last answer could not be used:\n- data\.tasks is missing\.[^]*You were paused[^]*The person wants less\./,
    );
  });

  it("of merging holds every worker's result, the request and the number of tasks (D4-055, D4-297)", () => {
    const story = new Story(new TemplateLibrary().resolve("_default").template).execute([{ id: "a" }, { id: "b" }]);
    for (const id of ["a", "b"]) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
    const { variables, text } = renderPrompt(story.run, "aggregation", null, FIRST, "/work");
    expect(variables).toMatchObject({ ORIGINAL_REQUEST: "do it", TASK_COUNT: "2" });
    const outputs = JSON.parse(variables["WORKER_OUTPUTS"]!) as { taskId: string; status: string }[];
    expect(outputs.map(({ taskId, status }) => [taskId, status])).toEqual([
      ["a", "completed"],
      ["b", "completed"],
    ]);
    expect(text).toContain(variables["WORKER_OUTPUTS"]!);
  });

  it("of merging asks to review all results, to find collisions and double work, and to settle or name them (D4-057, D4-058, D4-298, D4-299, D4-300, D4-301, D4-302)", () => {
    const { prompts } = new TemplateLibrary().resolve("_default").template;
    for (const words of [
      "Go through the reports and look at the files themselves",
      "two things of one name",
      "one thing made twice",
      "missing connections between the parts",
      "Make one whole of it",
      "Put it right here",
      "needs_input: a decision remains that only the person can make",
    ])
      expect(prompts.aggregation.system).toContain(words);
  });

  it("of verification asks to check, to name every fault with its weight, and to put right what is certain (D4-070, D4-071, D4-072)", () => {
    const { prompts } = new TemplateLibrary().resolve("_default").template;
    for (const words of [
      "Go through the request sentence by sentence",
      "Run what can be run",
      "look for faults",
      "The severity is error, warning or info",
      "Small faults whose remedy is certain you may put right",
      '"suggested_fix"',
    ])
      expect(prompts.verification!.system).toContain(words);
  });

  it("of a worker holds its task, the request, and the forms of progress and completion (D4-039, D4-079, D4-080)", () => {
    const template = new TemplateLibrary().resolve("_default").template;
    const story = new Story(template).plan([{ id: "a" }]);
    story.do({
      type: "confirm",
      changes: { tasks: { a: { title: "Write the guide", description: "For newcomers", scope: ["docs/guide.md"] } } },
    });
    story.spawn("a");
    const { text, variables } = renderPrompt(story.run, "workerExecution", story.run.workers["a"]!, FIRST, "/work");
    for (const part of ["a", "Write the guide", "For newcomers", "docs/guide.md", "do it"])
      expect(text).toContain(part);
    expect(text).toMatch(/"phase": "progress"[^]*"phase": "completion"/);
    expect(variables).toMatchObject({
      TASK_ID: "a",
      TASK_TITLE: "Write the guide",
      TASK_DESCRIPTION: "For newcomers",
      TASK_SCOPE: '["docs/guide.md"]',
      ORIGINAL_REQUEST: "do it",
      USER_REQUEST: "do it",
      CWD: "/work",
      TEMPLATE_NAME: "Default",
    });
  });
});
