// The parts of a prompt that do not come from the template's text.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList } from "../run/make-run.ts";
import { renderPrompt, type PromptContext } from "../../src/engine/sessions/prompt.ts";
import type { Phase } from "../../src/schema/status.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";

const FIRST: PromptContext = { problems: [], note: null, interrupted: false };
const PHASES = ["analysis", "taskPlanning", "workerExecution", "aggregation", "verification"] as const;

const WITH_WORKERS = ["_default", "documentation", "exploration", "implementation", "refactoring", "testing"];

/** The prompt of a main session's phase in a built-in template. */
function builtInPrompt(templateId: string, phase: Phase): string {
  const { template } = new TemplateLibrary().resolve(templateId);
  return renderPrompt(new Story(template).run, phase, null, FIRST, "/work").text;
}

function report(story: Story, taskId: string, data: object): void {
  const work = { commit: `commit-of-${taskId}`, files: [`${taskId}.md`], head: null };
  const answer = { phase: "completion" as const, data: { task_id: taskId, status: "success" as const, ...data } };
  story.answerWorker(taskId, answer, { work });
  story.merge(taskId);
}

function promptOf(phases: object, phase: Phase, asking = FIRST): string {
  const story = new Story(makeTemplate({ phases })).execute([{ id: "a" }]);
  story.spawn("a");
  const worker = phase === "workerExecution" ? story.run.workers["a"]! : null;
  return renderPrompt(story.run, phase, worker, asking, "/work").text;
}

describe("a prompt", () => {
  it("lists the conflicts between tasks with the state of each one in the aggregation, and only there", () => {
    const story = new Story(makeTemplate()).execute([{ id: "a" }, { id: "b" }]);
    const conflict = { type: "content", files: ["x.ts", "y.ts"], tasks: ["a", "b"], resolution: null, refs: [] };
    const settled = { type: "content", files: ["z.ts"], tasks: ["b", "a"], resolution: "first-wins", refs: [] };
    const run = { ...story.run, conflicts: [conflict, settled] };
    const facts = [
      "Facts from the work of the tasks:",
      "- a and b changed the same lines of x.ts, y.ts (open)",
      "- b and a changed the same lines of z.ts (first-wins)",
    ].join("\n");
    const others = PHASES.filter((phase) => phase !== "aggregation" && phase !== "workerExecution");
    expect(renderPrompt(run, "aggregation", null, FIRST, "/work").text).toContain(facts);
    for (const phase of others) expect(renderPrompt(run, phase, null, FIRST, "/work").text).not.toContain("Facts from");
    expect(renderPrompt(story.run, "aggregation", null, FIRST, "/work").text).not.toContain("Facts from");
  });

  it("names the template's tools and sub-agent type in every phase (D4-240)", () => {
    for (const phase of PHASES) {
      const text = promptOf({ [phase]: { tools: { required: ["Read", "Grep"], subagentType: "Explore" } } }, phase);
      expect(text).toContain("Use these tools: Read, Grep.");
      expect(text).toContain("For sub-agents use the type Explore.");
      expect(promptOf({}, phase)).not.toContain("Use these tools");
    }
  });

  it("describes the run that it follows, in every phase", () => {
    const follows = {
      run: "orch_first",
      commit: "abc",
      request: "Add a parser",
      outcome: "degraded" as const,
      tasks: [
        {
          id: "a",
          title: "Write it",
          status: "completed",
          summary: "Wrote it.\nIn one file.",
          files: ["p.ts", "q.ts"],
        },
        { id: "b", title: "Test it", status: "failed", summary: "", files: [] },
      ],
    };
    const story = new Story(makeTemplate(), { follows }).execute([{ id: "a" }]);
    story.spawn("a");
    for (const phase of PHASES) {
      const worker = phase === "workerExecution" ? story.run.workers["a"]! : null;
      expect(renderPrompt(story.run, phase, worker, FIRST, "/work").text).toContain(
        [
          "This request follows the run orch_first. The current folder contains its result.",
          "Its request: Add a parser",
          "Its outcome: degraded",
          "Its tasks:",
          "- a: Write it (completed)",
          "  Summary: Wrote it.",
          "  In one file.",
          "  Files: p.ts, q.ts",
          "- b: Test it (failed)",
        ].join("\n"),
      );
    }
  });

  it("contains the progress interval or forbids progress reports", () => {
    expect(promptOf({}, "workerExecution")).toContain("Report progress about every 30 seconds.");
    expect(promptOf({ workerExecution: { progressInterval: 120_000 } }, "workerExecution")).toContain(
      "every 120 seconds",
    );
    expect(promptOf({ workerExecution: { progressReporting: false } }, "workerExecution")).toContain(
      "Do not report progress.",
    );
    expect(promptOf({}, "analysis")).not.toContain("progress");
  });

  it("requests progress at most every ten seconds, whatever the template's interval (D0-087/X14)", () => {
    const text = promptOf({ workerExecution: { progressInterval: 1000 } }, "workerExecution");
    expect(text).toContain("Report progress about every 10 seconds.");
  });

  it("lists the template's agents with strengths and prices to the planner, and to no other session", () => {
    const agents = {
      deep: { agent: "claude", model: "opus", strengths: "hard problems", price: "$15 per million tokens" },
      wide: { agent: "codex" },
    };
    const text = promptOf({ workerExecution: { agents } }, "taskPlanning");
    expect(text).toContain('A task may have an "agent" from this list.');
    expect(text).toContain("- deep; model opus; hard problems; price: $15 per million tokens\n- wide");
    expect(promptOf({}, "taskPlanning")).not.toContain("from this list");
    expect(promptOf({ workerExecution: { agents } }, "workerExecution")).not.toContain("from this list");
  });

  it("contains the template's conflict resolution (D4-309, D4-316, E61)", () => {
    const settings = (conflictResolution: string) => promptOf({ aggregation: { conflictResolution } }, "aggregation");
    expect(settings("ask")).toContain("Do not resolve conflicts yourself.");
    expect(settings("first-wins")).toContain("keep the result of the earlier task");
    expect(settings("last-wins")).toContain("keep the result of the later task");
    expect(settings("smart")).toContain("in the way that serves the request best");
  });

  it("begins with the problems of the last answer, then the pause and the note", () => {
    const text = promptOf({}, "taskPlanning", {
      problems: ["data.tasks is missing."],
      note: "The person wants less.",
      interrupted: true,
    });
    expect(text).toMatch(
      /^Your last answer could not be used:\n- data\.tasks is missing\.[^]*You were paused[^]*The person wants less\./,
    );
  });

  it("of the aggregation contains every worker's result, the request and the number of tasks (D4-055, D4-297)", () => {
    const story = new Story(new TemplateLibrary().resolve("_default").template).execute([
      { id: "a" },
      { id: "b" },
      { id: "failing" },
      { id: "blocked", dependencies: ["failing"] },
    ]);
    for (const id of ["a", "b"]) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
    story.spawn("failing");
    const failure = { task_id: "failing", status: "failed", error: "no network" } as const;
    story.answerWorker("failing", { phase: "completion", data: failure });
    const { variables, text } = renderPrompt(story.run, "aggregation", null, FIRST, "/work");
    expect(variables).toMatchObject({ ORIGINAL_REQUEST: "do it", TASK_COUNT: "4" });
    expect(JSON.parse(variables["WORKER_OUTPUTS"]!)).toMatchObject([
      { taskId: "a", status: "completed", outputFiles: ["a.md"] },
      { taskId: "b", status: "completed", outputFiles: ["b.md"] },
      { taskId: "failing", status: "failed", error: "no network" },
      { taskId: "blocked", status: "blocked", error: "needs failing" },
    ]);
    for (const part of [variables["WORKER_OUTPUTS"]!, "Request:\ndo it", "Number of tasks: 4"])
      expect(text).toContain(part);
  });

  it("of the aggregation contains the summary of a worker beside its output, and its warnings", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    report(story, "a", { summary: "wrote it", output: { pages: 2 }, warnings: ["untested"] });
    const { variables } = renderPrompt(story.run, "aggregation", null, FIRST, "/work");
    const [first] = JSON.parse(variables["WORKER_OUTPUTS"]!) as object[];
    expect(first).toMatchObject({ summary: "wrote it", output: { pages: 2 }, warnings: ["untested"] });
  });

  it("of a worker describes the tasks that it depends on, and no others", () => {
    const template = makeTemplate({ config: { failedDependency: "continue" } });
    const plan = [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d", dependencies: ["a", "b"] }];
    const story = new Story(template).execute(plan);
    for (const { id } of plan.slice(0, 3)) story.spawn(id);
    report(story, "a", { summary: "wrote it\nin one file", output: "more", warnings: ["untested"] });
    story.answerWorker("b", { phase: "completion", data: { task_id: "b", status: "failed", error: "no network" } });
    report(story, "c", { summary: "unrelated" });
    story.spawn("d");
    const { text } = renderPrompt(story.run, "workerExecution", story.run.workers["d"]!, FIRST, "/work");
    expect(text).toMatch(
      new RegExp(
        [
          "^Your task depends on these tasks. The current folder contains the work of those that completed.",
          "- a: Title of a \\(completed\\)",
          "  Summary: wrote it",
          "  in one file",
          "  Files: a.md",
          "  Warning: untested",
          "- b: Title of b \\(failed\\)",
          "  Summary: no network",
          "",
          "s$",
        ].join("\n"),
        "m",
      ),
    );
    expect(text).not.toContain("unrelated");
    expect(renderPrompt(story.run, "workerExecution", story.run.workers["a"]!, FIRST, "/work").text).not.toContain(
      "depends on",
    );
  });

  it.each(WITH_WORKERS)(
    "of the aggregation in %s requests a review of all results and the resolution of conflicts and duplicates (D4-057, D4-058, D4-298, D4-299, D4-300, D4-301, D4-302)",
    (id) => {
      const text = builtInPrompt(id, "aggregation");
      for (const words of [
        "Go through the reports and look at the files themselves",
        "two things with the same name",
        "the same thing implemented twice",
        "several names for one thing",
        "missing connections between the parts",
        "texts that contradict each other",
        "Work that could not be merged:\nnone",
        "Make one consistent result of it",
        "Fix these problems in this folder",
        "needs_input: a decision remains that only the user can make",
      ])
        expect(text).toContain(words);
    },
  );

  it.each(WITH_WORKERS)(
    "of the verification in %s requests checks, a severity for every fault, and certain fixes (D4-070, D4-071, D4-072)",
    (id) => {
      const text = builtInPrompt(id, "verification");
      for (const words of [
        "Go through the request sentence by sentence",
        "Run the build, the tests and all other checks",
        "look for problems",
        "against the style and the conventions of the repository",
        "The severity is error, warning or info",
        "You may fix small problems if the fix is certain",
        "List each fix under auto_fixed",
        '"suggested_fix"',
      ])
        expect(text).toContain(words);
    },
  );

  it("of a worker contains its task, the request, and the formats of progress and completion (D4-039, D4-079, D4-080)", () => {
    const template = new TemplateLibrary().resolve("_default").template;
    const story = new Story(template).plan([{ id: "a" }, { id: "b" }]);
    story.do({
      type: "confirm",
      changes: { tasks: { a: { title: "Write the guide", description: "For newcomers", scope: ["docs/guide.md"] } } },
    });
    for (const id of ["a", "b"]) story.spawn(id);
    const toWorker = (id: string) => renderPrompt(story.run, "workerExecution", story.run.workers[id]!, FIRST, "/work");
    const { text, variables } = toWorker("a");
    for (const part of ["Task a: Write the guide", "For newcomers", 'Scope: ["docs/guide.md"]', "do it"])
      expect(text).toContain(part);
    expect(text).toContain("Carry out only your task");
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
    // With them, the cost of a run would grow with the square of its tasks.
    for (const name of ["TASKS_JSON", "WORKER_OUTPUTS"]) expect(variables).not.toHaveProperty(name);
    expect(toWorker("b").text).toContain("Task b: Title of b");
    expect(toWorker("b").text).not.toContain("Write the guide");
  });
});

describe("the built-in variables of a prompt", () => {
  /** A run in its last phase, so that every variable has its value. */
  function verifying() {
    const story = new Story(makeTemplate({ phases: { verification: { enabled: true } } }));
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({
      phase: "analysis",
      data: { summary: "two modules", recommended_splits: 3, key_files: ["src/a.ts", "src/b.ts"] },
    });
    story.answerMain(taskList([{ id: "a" }, { id: "b" }]));
    story.do({ type: "confirm" });
    for (const id of ["a", "b"]) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
    story.answerMain({
      phase: "aggregation",
      data: { status: "success", summary: "fine", merged_output: "one manual" },
    });
    return { run: story.run, variables: renderPrompt(story.run, "verification", null, FIRST, "/work").variables };
  }

  it("contain the request, the folder, the template and the run (D4-133, D4-134, D4-135, D4-136)", () => {
    expect(verifying().variables).toMatchObject({
      USER_REQUEST: "do it",
      CWD: "/work",
      TEMPLATE_NAME: "Test",
      ORCHESTRATOR_ID: "orch_000000000000",
    });
  });

  it("contain the results of the analysis (D4-137, D4-138, D4-139)", () => {
    expect(verifying().variables).toMatchObject({
      ANALYSIS_SUMMARY: "two modules",
      RECOMMENDED_SPLITS: "3",
      KEY_FILES: "src/a.ts, src/b.ts",
    });
  });

  it("contain the tasks with all their fields, the workers' results and the merged result (D4-140, D4-141, D4-142, D4-143)", () => {
    const { run, variables } = verifying();
    expect(variables).toMatchObject({ TASK_COUNT: "2", MERGED_OUTPUT: "one manual" });
    expect(JSON.parse(variables["TASKS_JSON"]!)).toEqual(run.tasks);
    expect(JSON.parse(variables["WORKER_OUTPUTS"]!)).toMatchObject([
      { taskId: "a", status: "completed", outputFiles: ["a.md"] },
      { taskId: "b", status: "completed", outputFiles: ["b.md"] },
    ]);
  });
});
