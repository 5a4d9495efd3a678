import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { outcome } from "../../src/run/outcome/outcome.ts";
import type { Answer, VerificationAnswer } from "../../src/schema/answer.ts";
import type { Template } from "../../src/schema/template.ts";

const CONFLICT = { type: "file_conflict", files: ["f.md"], tasks: ["a", "b"], resolution: null, refs: [] };

/** Two completed tasks that changed different files, or the same file. */
function worked(template: Template, { same = false, conflict = false } = {}): Story {
  const story = new Story(template).execute([{ id: "a" }, { id: "b" }]);
  for (const id of ["a", "b"]) {
    story.spawn(id);
    const work = { commit: `commit-of-${id}`, files: [same ? "f.md" : `${id}.md`], head: null };
    story.answerWorker(
      id,
      { phase: "completion", data: { task_id: id, status: "success", summary: `did ${id}` } },
      { work },
    );
    if (id === "b" && conflict) {
      story.do({ type: "conflicted", taskId: "b", commit: "commit-of-b", head: "after-b", conflict: CONFLICT });
    } else {
      story.merge(id);
    }
  }
  return story;
}
const aggregation = (settings: object, more: object = {}) =>
  makeTemplate({ phases: { aggregation: settings, ...more } });
const items = (story: Story) => Object.values(story.run.inbox);

describe("A run whose last worker ended", () => {
  it("enters aggregation, then verification if enabled, then completes (D4-053, D4-054, D4-061, D4-067, D4-068, D4-074, D4-318, D4-319, D4-561, D4-562, D4-581, D4-583, D4-584)", () => {
    const story = worked(aggregation({}, { verification: { enabled: true } }));
    expect(story.run).toMatchObject({ status: "aggregating", currentPhase: "aggregation" });
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.run).toMatchObject({ status: "verifying", currentPhase: "verification" });
    story.answerMain({ phase: "verification", data: { status: "passed" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
    const without = worked(aggregation({}));
    without.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(without.run.status).toBe("completed");
  });

  it("skips phases that the template disables (D4-064, D4-322, D4-582, D4-585)", () => {
    expect(worked(aggregation({ enabled: false })).run.status).toBe("completed");
    expect(worked(aggregation({ enabled: false }, { verification: { enabled: true } })).run.status).toBe("verifying");
  });

  it("skips aggregation if only one task was not skipped (D4-065, E07)", () => {
    const story = new Story().plan([{ id: "a" }, { id: "b" }]);
    story.do({ type: "confirm", changes: { tasks: { b: { skip: true } } } });
    story.spawn("a");
    story.succeed("a");
    story.merge("a");
    expect(story.run.status).toBe("completed");
  });

  it("skips aggregation of results that share no file if the template allows it (D4-066, E07)", () => {
    expect(worked(aggregation({ skipWhenIndependent: true })).run).toMatchObject({
      status: "completed",
      aggregation: null,
    });
    expect(worked(aggregation({ skipWhenIndependent: true }), { same: true }).run.status).toBe("aggregating");
  });

  it("concatenates results without a session if they share no file, and asks the main session otherwise (D4-308, D4-310, D4-311, E62)", () => {
    const apart = worked(aggregation({ mergeStrategy: "concatenate" }));
    expect(apart.run).toMatchObject({
      status: "completed",
      aggregation: {
        status: "success",
        output_files: ["a.md", "b.md"],
        merged_output: expect.stringMatching(/did a[^]*did b/),
      },
    });
    expect(apart.types()).toContain("orchestrator:aggregated");
    expect(worked(aggregation({ mergeStrategy: "concatenate" }), { same: true }).run.status).toBe("aggregating");
    expect(worked(aggregation({ mergeStrategy: "smart-merge" })).run).toMatchObject({
      status: "aggregating",
      owed: { phase: "aggregation" },
    });
  });

  it("ends by the status of its verification, whose issues are part of the outcome (D4-073, E02)", () => {
    const error = { severity: "error" as const, description: "a broken link", location: "a.md:3" };
    const warning = { severity: "warning" as const, description: "a long line" };
    const verified = (
      status: VerificationAnswer["status"],
      issues: VerificationAnswer["issues"],
      more: object = {},
    ) => {
      const story = worked(aggregation({ enabled: false }, { verification: { enabled: true } }));
      story.answerMain({ phase: "verification", data: { status, issues, ...more } });
      return outcome(story.run, [], story.now);
    };
    for (const status of ["passed", "passed_with_warnings"] as const) {
      expect(verified(status, [warning, error])).toMatchObject({
        status: "completed",
        outcome: "success",
        causes: [],
        verification: { status, issues: [warning, error] },
      });
      // The run completes, but not everything is as planned.
      expect(verified(status, [warning], { remaining_faults: ["a.md:3: a broken link"] })).toMatchObject({
        status: "completed",
        outcome: "degraded",
        causes: [{ taskId: "main", status: "partial", reason: "a.md:3: a broken link" }],
      });
    }
    expect(verified("failed", [error])).toMatchObject({
      status: "error",
      outcome: "failed",
      error: "a broken link",
      verification: { status: "failed", issues: [error] },
    });
  });

  it("merges completed work although other tasks failed or timed out (D4-294)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    for (const id of ["a", "b", "c"]) story.spawn(id);
    story.succeed("a");
    story.merge("a");
    story.answerWorker("b", { phase: "completion", data: { task_id: "b", status: "failed", error: "no" } });
    expect(story.run).toMatchObject({ status: "running", currentPhase: "workerExecution" });
    story.do({ type: "expired", sessionId: story.run.workers["c"]!.sessionId }, 600_000);
    expect(story.run.workers["c"]!.status).toBe("timeout");
    expect(story.run).toMatchObject({ status: "aggregating", currentPhase: "aggregation" });
  });

  it("reports a failed task to the main session, and fails if all tasks failed (E08, E09)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    for (const id of ["a", "b"]) story.spawn(id);
    const failed = (id: string) =>
      story.answerWorker(id, { phase: "completion", data: { task_id: id, status: "failed", error: "no" } });
    failed("a");
    failed("b");
    expect(story.run).toMatchObject({ status: "error", outcome: "failed" });
    expect(outcome(story.run, [], story.now).error).toBe("no task completed");
  });
});

describe("Merging that needs a decision", () => {
  const needsInput: Answer = {
    phase: "aggregation",
    data: {
      status: "needs_input",
      summary: "two styles",
      conflicts: [{ type: "naming", description: "Which style?", options: ["camel", "snake"] }, { type: "layout" }],
    },
  };

  it("pauses the run with one inbox item per decision and resumes it after the last answer (D4-060, D4-317, D4-320, E60)", () => {
    const story = worked(makeTemplate());
    story.answerMain(needsInput);
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { status: "aggregating", reason: "needs_input" } });
    expect(items(story)).toMatchObject([
      { kind: "decision", index: 0, question: "Which style?", options: ["camel", "snake"] },
      { kind: "decision", index: 1 },
    ]);
    expect(() => story.do({ type: "resume" })).toThrow("waits for decisions");
    story.do({ type: "answer", itemId: items(story)[0]!.id, answer: { option: 1 } });
    expect(story.run.status).toBe("paused");
    story.do({ type: "decide", decisions: [{ index: 1, text: "one folder each" }] });
    expect(story.run).toMatchObject({ status: "aggregating", inbox: {} });
    expect(story.run.owed).toMatchObject({ phase: "aggregation", try: 1 });
    expect(story.run.owed!.note).toMatch(/Which style\?\n {2}snake[^]*one folder each/);
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
  });

  it("accepts several decisions at once and rejects invalid ones as a whole", () => {
    const story = worked(makeTemplate());
    story.answerMain(needsInput);
    const unchanged = story.run;
    for (const decisions of [
      [],
      [{ index: 7, text: "x" }],
      [{ index: 0, option: 5 }],
      [{ index: 0 }],
      [
        { index: 0, option: 0 },
        { index: 0, option: 1 },
      ],
    ]) {
      expect(() => story.do({ type: "decide", decisions })).toThrow();
      expect(story.run).toBe(unchanged);
    }
    story.do({
      type: "decide",
      decisions: [
        { index: 0, option: 0 },
        { index: 1, text: "flat" },
      ],
    });
    expect(story.run.status).toBe("aggregating");
    expect(() => story.do({ type: "decide", decisions: [{ index: 0, option: 0 }] })).toThrow("it waits for none");
  });

  it("turns every conflict into a decision if the template leaves conflicts to the user (D4-308, D4-312, D4-313, E61)", () => {
    for (const settings of [{ conflictResolution: "ask" }, { mergeStrategy: "manual" }]) {
      const story = worked(aggregation(settings), { conflict: true });
      story.answerMain({ phase: "aggregation", data: { status: "success" } });
      expect(items(story)).toMatchObject([
        {
          kind: "decision",
          options: ["take the version of a", "take the version of b"],
          evidence: { files: ["f.md"], sides: [{ taskId: "a" }, { taskId: "b" }] },
        },
      ]);
      story.do({ type: "decide", decisions: [{ index: 0, option: 1 }] });
      story.answerMain({ phase: "aggregation", data: { status: "success" } });
      expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
      expect(story.run.conflicts[0]!.resolution).toContain("take the version of b");
    }
  });

  it("asks one question about a conflict that the main session also describes, with both sides", () => {
    const described = { type: "file_conflict", description: "Which heading?", files: ["f.md"] };
    for (const conflicts of [[described], []]) {
      const story = worked(makeTemplate(), { conflict: true });
      story.answerMain({ phase: "aggregation", data: { status: "needs_input", summary: "help", conflicts } });
      const [item, ...others] = items(story);
      expect(others).toEqual([]);
      expect(item).toMatchObject({
        question: conflicts.length > 0 ? "Which heading?" : "a and b made conflicting changes to f.md",
        options: ["take the version of a", "take the version of b"],
        evidence: {
          sides: [
            { taskId: "a", title: "Title of a", description: "what" },
            { taskId: "b", title: "Title of b", description: "what" },
          ],
        },
      });
    }
  });

  it("creates no decision otherwise, and an unresolved conflict degrades the run", () => {
    const story = worked(makeTemplate(), { conflict: true });
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "degraded" });
  });

  it("ends the run with the reason if the results cannot be reconciled (D4-317, D4-321)", () => {
    const story = worked(makeTemplate());
    story.answerMain({ phase: "aggregation", data: { status: "failed", error: "Irreconcilable" } });
    expect(story.run).toMatchObject({ status: "error", outcome: "failed" });
    expect(outcome(story.run, [], story.now).error).toContain("Irreconcilable");
  });
});

describe("A run before its workers", () => {
  const begin = (phases: object) => {
    const story = new Story(makeTemplate({ phases }));
    story.do({ type: "start", base: "base", warnings: [] });
    return story;
  };
  const answerFirst = (story: Story) => {
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
  };

  it("enters planning after the analysis, or first if there is no analysis (D4-578)", () => {
    const story = begin({});
    expect(story.run).toMatchObject({ status: "analyzing", currentPhase: "analysis" });
    answerFirst(story);
    expect(story.run).toMatchObject({ status: "planning", currentPhase: "taskPlanning" });
    const without = begin({ analysis: { enabled: false } });
    expect(without.run).toMatchObject({
      status: "planning",
      currentPhase: "taskPlanning",
      owed: { phase: "taskPlanning" },
    });
  });

  it("uses the request as the only task if planning is disabled", () => {
    const story = begin({ taskPlanning: { enabled: false } });
    answerFirst(story);
    expect(story.run).toMatchObject({ status: "confirming", tasks: [{ id: "task_001", description: "do it" }] });
    const neither = begin({ analysis: { enabled: false }, taskPlanning: { enabled: false } });
    expect(neither.run).toMatchObject({ status: "confirming", tasks: [{ id: "task_001" }], owed: null });
  });

  it("completes with the plan or the analysis if workers are disabled", () => {
    const planned = begin({ workerExecution: { enabled: false } });
    answerFirst(planned);
    planned.answerMain({ phase: "task_list", data: { tasks: [{ id: "a", title: "A", description: "a" }] } });
    expect(planned.run).toMatchObject({ status: "completed", outcome: "success", inbox: {} });
    expect(outcome(planned.run, [], 0).census).toMatchObject({ planned: 1, skipped: 1 });
    const analysed = begin({ taskPlanning: { enabled: false }, workerExecution: { enabled: false } });
    answerFirst(analysed);
    expect(analysed.run).toMatchObject({ status: "completed", outcome: "success" });
  });
});

describe("A phase of another agent or role", () => {
  it("gets its own session, and the previous session ends", () => {
    const story = worked(
      aggregation(
        {},
        {
          verification: { enabled: true, agent: "command:reviewer", role: "reviewer" },
          workerExecution: { role: "writer" },
        },
      ),
    );
    expect(story.run.workers["a"]!.session).toMatchObject({ agent: "command:x", role: "writer" });
    const first = story.run.main!.sessionId;
    expect(story.run.main).toMatchObject({ agent: "command:x", role: "main" });
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.log.at(-1)).toMatchObject({ type: "main:relieved", data: { sessionId: first } });
    story.do({ type: "spawnMain" });
    expect(story.run.main).toMatchObject({ agent: "command:reviewer", role: "reviewer", state: "spawning" });
    expect(story.run.main!.sessionId).not.toBe(first);
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "verification", data: { status: "passed" } });
    expect(story.run.status).toBe("completed");
  });
});
