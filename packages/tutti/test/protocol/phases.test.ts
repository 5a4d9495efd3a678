import { describe, expect, it } from "vitest";
import { judgeAnswer, readProgress } from "../../src/protocol/response/judge-answer.ts";
import { PHASE_SCHEMAS } from "../../src/protocol/response/phase-schemas.ts";
import { ResponseParser } from "../../src/protocol/response/response-parser.ts";
import { DEFAULT_DELIMITERS, scanBlocks } from "../../src/protocol/response/response-scanner.ts";
import { readPlan } from "../../src/run/plan/plan.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { AggregationAnswer, CompletionAnswer, TaskListAnswer } from "../../src/schema/answer.ts";
import { ANSWER_PHASE, type Phase } from "../../src/schema/status.ts";
import { makeTemplate, Story } from "../run/make-run.ts";
import { block } from "./blocks.ts";
import { failure, success, taskList } from "./examples.ts";

const parser = new ResponseParser();
const check = (phase: string, data: unknown) => parser.validatePhase(phase, data);

/** Checks that every bad value of the member is rejected and every good one accepted. */
function member(phase: string, base: Record<string, unknown>, name: string, good: unknown[], bad: unknown[]): void {
  for (const value of good)
    expect(check(phase, { ...base, [name]: value }), JSON.stringify(value)).toMatchObject({ valid: true });
  for (const value of bad)
    expect(check(phase, { ...base, [name]: value }), JSON.stringify(value)).toMatchObject({ valid: false });
}

/** Checks that the member is required and that null does not count. */
function required(phase: string, base: Record<string, unknown>, name: string): void {
  const { [name]: _left, ...rest } = base;
  for (const data of [rest, { ...rest, [name]: null }]) {
    expect(check(phase, data)).toMatchObject({ valid: false, errors: [`Missing required field: ${name}`] });
  }
}

/** Checks that a run in the phase accepts the block of this name as its answer. */
function answers(phase: Phase, name: string, data: Record<string, unknown>): void {
  const input = { prompt: "", delimiters: DEFAULT_DELIMITERS, phase: ANSWER_PHASE[phase] };
  expect(judgeAnswer({ ...input, blocks: scanBlocks(block(name, data)) }).answer).toEqual({ phase: name, data });
}

/** A run with one task whose worker answers with `data`. */
function completed(data: Omit<CompletionAnswer, "task_id">) {
  const story = new Story().execute([{ id: "task_001" }]);
  story.spawn("task_001");
  const work = { commit: "commit", files: ["a.md"], head: null };
  const answer = { phase: "completion" as const, data: { task_id: "task_001", ...data } as CompletionAnswer };
  const events = story.answerWorker("task_001", answer, { work });
  return { events, worker: story.run.workers["task_001"]! };
}

describe("every phase", () => {
  it("is one of the six in the documents, or a heartbeat (D4-526)", () => {
    const phases = ["analysis", "task_list", "progress", "completion", "aggregation", "verification"];
    expect(Object.keys(PHASE_SCHEMAS)).toEqual([...phases, "heartbeat"]);
    expect(check("dance", {})).toEqual({ valid: false, errors: ["Unknown phase: dance"], warnings: [] });
    expect(check("toString", {})).toMatchObject({ valid: false });
  });

  it("lists its required and optional members (D4-192, D4-407..D4-409, D4-528)", () => {
    expect(ResponseParser.PHASE_SCHEMAS.analysis).toEqual({
      required: ["summary", "recommended_splits"],
      optional: ["key_files", "estimated_complexity", "notes", "warnings", "components"],
    });
    expect(PHASE_SCHEMAS.task_list).toEqual({
      required: ["tasks"],
      optional: ["total_tasks", "parallelizable_groups", "execution_order"],
      taskSchema: {
        required: ["id", "title", "description"],
        optional: ["scope", "priority", "dependencies", "estimated_tokens"],
      },
    });
    expect(PHASE_SCHEMAS.progress).toEqual({
      required: ["task_id", "status"],
      optional: ["progress_percent", "current_action", "files_processed", "files_total", "output_preview"],
    });
  });

  it("has the members that the document uses but does not list (D4-410, D4-411)", () => {
    expect(PHASE_SCHEMAS.completion.required).toEqual(["task_id", "status"]);
    expect(PHASE_SCHEMAS.completion.optional).toEqual(
      expect.arrayContaining(["summary", "output_files", "output", "error", "warnings", "metrics", "partial_progress"]),
    );
    expect(PHASE_SCHEMAS.aggregation.required).toEqual(["status"]);
    expect(PHASE_SCHEMAS.aggregation.optional).toEqual(
      expect.arrayContaining(["summary", "conflicts", "merged_output", "output_files", "error"]),
    );
  });

  it("is checked for missing and unexpected members (D4-193, D4-194, D4-403)", () => {
    expect(check("analysis", { summary: "s", recommended_splits: 1, mood: "good" })).toEqual({
      valid: true,
      errors: [],
      warnings: ["Unexpected field: mood"],
    });
    expect(check("analysis", { recommended_splits: null })).toEqual({
      valid: false,
      errors: ["Missing required field: summary", "Missing required field: recommended_splits"],
      warnings: [],
    });
    for (const data of [null, [], "text", 5]) expect(check("analysis", data)).toMatchObject({ valid: false });
  });
});

describe("analysis", () => {
  const BASE = { summary: "s", recommended_splits: 6 };

  it("has a summary and a number of splits (D0-012..D0-014, D4-543)", () => {
    answers("analysis", "analysis", BASE);
    required("analysis", BASE, "summary");
    required("analysis", BASE, "recommended_splits");
    member("analysis", BASE, "summary", ["", "text"], [5, []]);
    member("analysis", BASE, "recommended_splits", [0, 6], ["6", true]);
  });

  it("may have files, notes and warnings (D0-015, D0-017, D0-018, D4-544)", () => {
    member("analysis", BASE, "key_files", [[], ["a.ts"]], ["a.ts", [1], {}]);
    member("analysis", BASE, "notes", ["n"], [5]);
    member("analysis", BASE, "warnings", [["w"]], ["w", [5]]);
  });

  it("may have a complexity, with a warning if it is not one of the three (D0-016, D4-545)", () => {
    member("analysis", BASE, "estimated_complexity", ["low", "medium", "high", "huge"], [3]);
    expect(check("analysis", { ...BASE, estimated_complexity: "high" }).warnings).toEqual([]);
    expect(check("analysis", { ...BASE, estimated_complexity: "huge" }).warnings).toHaveLength(1);
  });

  it("may have components of any kind, objects or texts (D0-019, D4-527)", () => {
    const objects = [{ name: "REST API", files: ["server.js:2400-2520"], complexity: "medium" }];
    member("analysis", BASE, "components", [objects, ["REST API"], [5]], ["REST API", {}]);
  });
});

describe("task_list", () => {
  const TASK = { id: "task_001", title: "t", description: "d" };
  const BASE = { tasks: [TASK] };
  /** The tasks that a run starts first, in order. */
  const started = (data: TaskListAnswer, config: object = {}): string[] => {
    const story = new Story(makeTemplate({ config }));
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    story.answerMain({ phase: "task_list", data });
    story.do({ type: "confirm" });
    return schedule(story.run, { freeSlots: 9 }, story.now).spawn;
  };
  const task = (name: string, good: unknown[], bad: unknown[]) => {
    for (const value of good)
      expect(check("task_list", { tasks: [{ ...TASK, [name]: value }] })).toMatchObject({ valid: true });
    for (const value of bad)
      expect(check("task_list", { tasks: [{ ...TASK, [name]: value }] })).toMatchObject({ valid: false });
  };

  it("has a list of tasks (D0-020, D0-021, D4-546)", () => {
    answers("taskPlanning", "task_list", BASE);
    required("task_list", BASE, "tasks");
    member("task_list", BASE, "tasks", [[], [TASK]], [{}, "task", 3]);
  });

  it("checks every task (D4-195, D4-408, D4-548)", () => {
    expect(check("task_list", { tasks: [TASK, { id: "b", title: "x" }] }).errors).toEqual([
      "Missing required field: tasks[1].description",
    ]);
    expect(check("task_list", { tasks: ["text"] })).toMatchObject({ valid: false });
    expect(check("task_list", { tasks: [{ ...TASK, colour: 1 }] }).warnings).toEqual([
      "Unexpected field: tasks[0].colour",
    ]);
  });

  it("has tasks with an id, a title and a description (D0-025..D0-027)", () => {
    for (const name of ["id", "title", "description"]) task(name, ["x"], [5, undefined, null]);
    expect(check("task_list", { tasks: [TASK, TASK] }).warnings).toContain("Task id used twice: task_001");
  });

  it("may have tasks with scope, dependencies and an estimate (D0-028, D0-030, D0-031, D0-032)", () => {
    task("scope", [[], ["a.js:1-2", "b.js:websocket"], null], ["a.js", [1]]);
    task("dependencies", [[], ["task_002"]], ["task_002", [2]]);
    task("estimated_tokens", [5000], ["5000"]);
  });

  it("may have tasks with a priority, with a warning outside 1 to 10 (D0-029/X01)", () => {
    task("priority", [1, 10, 11], ["first"]);
    expect(check("task_list", { tasks: [{ ...TASK, priority: 10 }] }).warnings).toEqual([]);
    expect(check("task_list", { tasks: [{ ...TASK, priority: 11 }] }).warnings).toHaveLength(1);
    expect(check("task_list", { tasks: [{ ...TASK, priority: 0 }] }).warnings).toHaveLength(1);
  });

  it("starts the task with priority 1 first, or with 10 if `priorityOrder` is `highest-first` (D0-029/X01)", () => {
    const tasks = [5, 10, 1].map((priority) => ({ ...TASK, id: `p${priority}`, priority }));
    expect(started({ tasks })).toEqual(["p1", "p5", "p10"]);
    expect(started({ tasks }, { priorityOrder: "highest-first" })).toEqual(["p10", "p5", "p1"]);
  });

  it("delays a task until its dependencies are complete, and starts a task without scope beside any other (D0-030, D0-032)", () => {
    // The example of the document: task_004 has no scope and depends on the three others.
    const tasks = taskList.data.tasks;
    expect(started({ tasks }, { overlappingScopes: "allow" })).toEqual(["task_001", "task_003", "task_002"]);
    const free = tasks.map((each) => ({ ...each, dependencies: [] }));
    // task_002 names a file of task_001.
    expect(started({ tasks: free })).toEqual(["task_001", "task_003", "task_004"]);
    expect(readPlan(taskList.data, makeTemplate()).errors).toEqual([]);
  });

  it("becomes a plan with its scopes, dependencies, estimates and order (D0-024, D0-028, D0-031)", () => {
    const tasks = taskList.data.tasks.map((each) => ({ ...each, estimated_tokens: 5000 }));
    const order = ["task_003", "task_002", "task_001", "task_004"];
    const plan = readPlan({ tasks, execution_order: order }, makeTemplate());
    expect(plan.executionOrder).toEqual(order);
    expect(plan.tasks).toMatchObject(
      tasks.map(({ scope, dependencies }) => ({ scope, dependencies, estimatedTokens: 5000 })),
    );
    expect(started({ tasks, execution_order: order }, { parallelExecution: false })).toEqual(["task_003"]);
  });

  it("has all members of the task list in document 000 (D4-528)", () => {
    const tasks = taskList.data.tasks.map((each) => ({ ...each, estimated_tokens: 5000 }));
    const data = { ...taskList.data, tasks, execution_order: tasks.map(({ id }) => id) };
    expect(check("task_list", data)).toEqual({ valid: true, errors: [], warnings: [] });
  });

  it("may have a count, groups and an order (D0-022..D0-024, D4-547)", () => {
    member("task_list", BASE, "total_tasks", [1], ["1"]);
    member("task_list", BASE, "parallelizable_groups", [[["task_001"]], []], [["task_001"], [[1]]]);
    member("task_list", BASE, "execution_order", [["task_001"]], ["task_001", [1]]);
  });

  it("has warnings if the count, the groups or the order contradict the tasks (D0-022, D0-023/Z06)", () => {
    const tasks = [TASK, { ...TASK, id: "b", dependencies: ["task_001"] }];
    expect(check("task_list", { tasks, total_tasks: 3, parallelizable_groups: [["task_001", "b", "c"]] })).toEqual({
      valid: true,
      errors: [],
      warnings: [
        "total_tasks is 3, but there are 2 tasks",
        "b depends on task_001, which is in the same parallel group",
        "No such task: c",
      ],
    });
    expect(check("task_list", { tasks, parallelizable_groups: [["task_001"]] }).warnings).toEqual([
      "Task in no parallel group: b",
    ]);
  });
});

describe("progress", () => {
  const BASE = { task_id: "task_001", status: "in_progress" };

  it("has a task and a status (D0-033..D0-035)", () => {
    const [report] = scanBlocks(block("progress", BASE));
    expect(readProgress(report!, "task_001")).toEqual(BASE);
    required("progress", BASE, "task_id");
    required("progress", BASE, "status");
    member("progress", BASE, "task_id", ["t"], [1]);
    member("progress", BASE, "status", ["in_progress"], [1]);
  });

  it("accepts the status words of both documents and warns about others (D0-036..D0-038, D4-529)", () => {
    for (const status of ["in_progress", "blocked", "retrying", "working", "processing"]) {
      expect(check("progress", { ...BASE, status })).toEqual({ valid: true, errors: [], warnings: [] });
    }
    expect(check("progress", { ...BASE, status: "dreaming" })).toMatchObject({
      valid: true,
      warnings: [expect.any(String)],
    });
  });

  it("has a percentage between 0 and 100 (D0-039, D4-196, D4-549)", () => {
    member("progress", BASE, "progress_percent", [0, 60, 100], [-1, 101, "60"]);
  });

  it("may have the current action, file counts and an output preview (D0-040..D0-043)", () => {
    member("progress", BASE, "current_action", ["reads"], [1]);
    member("progress", BASE, "files_processed", [3], ["3"]);
    member("progress", BASE, "files_total", [5], ["5"]);
    member("progress", BASE, "output_preview", ["text"], [1]);
  });
});

describe("completion", () => {
  const BASE = { task_id: "task_001", status: "success" };

  it("has a task and one of four statuses (D0-044..D0-050, D4-550)", () => {
    answers("workerExecution", "completion", BASE);
    required("completion", BASE, "task_id");
    required("completion", BASE, "status");
    member("completion", BASE, "status", ["success", "partial", "failed", "timeout"], ["done", "SUCCESS", 1]);
  });

  it("may have a summary, files, an error, warnings and metrics (D0-051, D0-052, D0-054..D0-056, D4-551)", () => {
    member("completion", BASE, "summary", ["s"], [1]);
    member("completion", BASE, "output_files", [[], ["a.md"]], ["a.md", [1]]);
    member("completion", BASE, "error", ["e", null], [1]);
    member("completion", BASE, "warnings", [["w"]], ["w"]);
    member("completion", BASE, "metrics", [{ endpoints_documented: 15 }], [15, "many"]);
  });

  it("determines whether its worker is completed, partly completed, failed or timed out (D0-047..D0-050)", () => {
    expect(completed({ status: "success" }).worker).toMatchObject({ status: "completed", partial: false });
    expect(completed({ status: "partial", error: "half" }).worker).toMatchObject({
      status: "completed",
      partial: true,
      error: "half",
    });
    expect(completed({ status: "failed", error: "broken" }).worker).toMatchObject({
      status: "failed",
      error: "broken",
    });
    expect(completed({ status: "timeout", error: "late" }).worker).toMatchObject({ status: "timeout", error: "late" });
  });

  it("may have an output of any kind, and an object of metrics (D0-053/X09, D4-530)", () => {
    for (const output of ["text", 5, { a: 1 }, [1]]) {
      member("completion", BASE, "output", [output], []);
      expect(completed({ status: "success", output, summary: "s" }).worker.output).toEqual(output);
    }
    const metrics = { endpoints_documented: 15, nested: { a: [1] } };
    member("completion", BASE, "metrics", [{}, metrics], [15, "many", [15]]);
    expect(completed({ status: "success", metrics }).events).toContainEqual(
      expect.objectContaining({
        type: "worker:completed",
        data: expect.objectContaining({ report: expect.objectContaining({ metrics }) }),
      }),
    );
  });

  it("accepts both examples of the document (D0-057)", () => {
    for (const { data } of [success, failure]) {
      expect(parser.parse(block("completion", data)).data).toEqual(data);
      expect(check("completion", data)).toEqual({ valid: true, errors: [], warnings: [] });
    }
  });
});

describe("aggregation", () => {
  const BASE = { status: "success" };
  /** A run of two tasks whose main session has answered the aggregation. */
  const merged = (data: AggregationAnswer): Story => {
    const story = new Story().execute([{ id: "task_001" }, { id: "task_002" }]);
    for (const id of ["task_001", "task_002"]) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
    story.answerMain({ phase: "aggregation", data });
    return story;
  };

  it("has one of three statuses, and becomes `needs_input` for any other (D0-058, D0-059, D4-552)", () => {
    answers("aggregation", "aggregation", BASE);
    required("aggregation", BASE, "status");
    for (const status of ["success", "needs_input", "failed"]) {
      expect(check("aggregation", { status })).toEqual({ valid: true, errors: [], warnings: [] });
    }
    expect(check("aggregation", { status: "mostly" }).warnings).toEqual([
      "Unknown aggregation status, read as needs_input: mostly",
    ]);
    member("aggregation", BASE, "status", [], [1, []]);
  });

  it("may have a summary, a merged text and files (D0-060, D0-062, D0-063, D4-554)", () => {
    member("aggregation", BASE, "summary", ["s"], [1]);
    member("aggregation", BASE, "merged_output", ["m"], [1]);
    member("aggregation", BASE, "output_files", [["a.md"]], ["a.md", [1]]);
  });

  it("may list conflicts of the documented types and of any other (D4-059, D4-062, D4-063, D4-303..D4-307)", () => {
    const types = [
      "file_conflict",
      "naming_inconsistency",
      "naming_convention",
      "duplicate_work",
      "missing_integration",
    ];
    const conflicts = [...types, "something else"].map((type) => ({ type, description: "d", options: ["a", "b"] }));
    const files = { files: ["docs/api.md"], workers: ["task_001", "task_002"], resolution: "merged by hand" };
    const data = {
      status: "needs_input" as const,
      summary: "s",
      conflicts: [...conflicts, { ...conflicts[0]!, ...files }],
      merged_output: "m",
      output_files: ["a.md", "b.md", "c.md", "d.md", "e.md"],
    };
    expect(check("aggregation", data)).toEqual({ valid: true, errors: [], warnings: [] });
    expect(check("aggregation", { ...data, conflicts: [{ ...conflicts[0], files: "docs/api.md" }] }).valid).toBe(false);
    expect(check("aggregation", { ...data, conflicts: [{ ...conflicts[0], workers: "task_001" }] }).valid).toBe(false);
    const { run } = merged(data);
    expect(run.aggregation).toEqual(data);
    expect(Object.values(run.inbox).map(({ evidence, options }) => ({ evidence, options }))).toEqual(
      data.conflicts.map((conflict) => ({ evidence: conflict, options: ["a", "b"] })),
    );
  });

  it("may list conflicts (D0-061, D4-531, D4-553)", () => {
    const conflict = { type: "duplicate", description: "d", resolution: "kept one", options: ["a", "b"] };
    member(
      "aggregation",
      BASE,
      "conflicts",
      [[], [conflict], [{ type: "naming" }]],
      [
        conflict,
        ["duplicate"],
        [{ ...conflict, options: "a" }],
        [{ ...conflict, type: undefined }],
        [{ ...conflict, description: 5 }],
        [{ ...conflict, resolution: 5 }],
      ],
    );
  });
});

describe("verification and heartbeat", () => {
  it("has a status and may list issues and fixes (D4-075, D4-532)", () => {
    const base = { status: "passed" };
    answers("verification", "verification", base);
    required("verification", base, "status");
    member("verification", base, "status", ["passed", "failed", "passed_with_warnings"], ["ok"]);
    member("verification", base, "summary", ["s"], [1]);
    const issue = { severity: "error", description: "d", location: "a:1", suggested_fix: "f" };
    member(
      "verification",
      base,
      "issues",
      [[], [issue], [{ description: "d" }]],
      [
        issue,
        [{ ...issue, severity: "bad" }],
        [{ severity: "info" }],
        [{ ...issue, location: 1 }],
        [{ ...issue, suggested_fix: 1 }],
      ],
    );
    member("verification", base, "auto_fixed", [["a"]], ["a"]);
  });

  it("has a timestamp and a sign of life", () => {
    expect(check("heartbeat", { timestamp: "2026-01-01T00:00:00Z", alive: true })).toMatchObject({ valid: true });
    expect(check("heartbeat", { timestamp: "2026-01-01T00:00:00Z" })).toMatchObject({ valid: false });
  });
});
