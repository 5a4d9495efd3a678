import { describe, expect, it } from "vitest";
import { makeTemplate, Story, type PlannedTask } from "./make-run.ts";
import { probableNext } from "../../src/run/plan/probable-next.ts";
import { schedule } from "../../src/run/schedule.ts";
import { scopesOverlap } from "../../src/run/plan/scopes.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";

interface Row extends PlannedTask {
  scope?: string[];
  estimated_tokens?: number;
}

function planned(rows: Row[], config: Partial<TemplateConfig> = {}, order?: string[]): Story {
  const story = new Story(makeTemplate({ config }));
  story.do({ type: "start", base: "base", warnings: [] });
  story.do({ type: "spawnMain" });
  story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
  story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
  const tasks = rows.map((row) => ({ title: `Title of ${row.id}`, description: "d", ...row }));
  story.answerMain({ phase: "task_list", data: { tasks, ...(order ? { execution_order: order } : {}) } });
  story.do({ type: "confirm" });
  return story;
}
const wanted = (story: Story, freeSlots = 9) => schedule(story.run, { freeSlots }, story.now);

describe("The start order", () => {
  it("is by priority, 1 first, then by the work that depends on a task, then by position (X01)", () => {
    const story = planned([
      { id: "late", priority: 9 },
      { id: "plain", priority: 5 },
      { id: "root", priority: 5 },
      { id: "next", priority: 5, dependencies: ["root"] },
      { id: "urgent", priority: 1 },
    ]);
    expect(wanted(story).spawn).toEqual(["urgent", "root", "plain", "late"]);
  });

  it("puts the longer task first if the plan estimates them", () => {
    const story = planned([
      { id: "short", estimated_tokens: 10 },
      { id: "long", estimated_tokens: 1000 },
      { id: "middle", estimated_tokens: 100 },
    ]);
    expect(wanted(story).spawn).toEqual(["long", "middle", "short"]);
  });

  it("has no barrier between levels: a task starts when its own dependencies are complete (D4-038, D4-566/E10)", () => {
    const story = planned([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a"] }]);
    expect(wanted(story).spawn).toEqual(["a", "b"]);
    story.spawn("a");
    story.spawn("b");
    story.succeed("a");
    expect(wanted(story).spawn).toEqual(["c"]);
  });

  it("follows the main session's order if tasks run one at a time (E35)", () => {
    const rows = [{ id: "a", priority: 1 }, { id: "b" }, { id: "c" }];
    expect(wanted(planned(rows, { parallelExecution: false }, ["c", "b", "a"])).spawn).toEqual(["c"]);
    expect(wanted(planned(rows, { parallelExecution: false }, ["c", "b"])).spawn, "an order with a gap").toEqual(["a"]);
    expect(wanted(planned(rows, { parallelExecution: false })).spawn).toEqual(["a"]);
  });
});

describe("The number of starts", () => {
  const rows = Array.from({ length: 8 }, (_, i) => ({ id: `t${i}` }));

  it("is bounded by the template's maxWorkers, 5 by default, and by the server's free slots (D4-050, D4-101, D4-104, D4-106, D4-108/E34)", () => {
    expect(wanted(planned(rows)).spawn).toHaveLength(5);
    expect(wanted(planned(rows, { maxWorkers: 2 })).spawn).toHaveLength(2);
    expect(wanted(planned(rows), 3).spawn).toHaveLength(3);
    expect(wanted(planned(rows, { parallelExecution: false })).spawn).toHaveLength(1);
    const story = planned(rows, { maxWorkers: 3 });
    for (const id of ["t0", "t1"]) story.spawn(id);
    expect(wanted(story).spawn, "one place is left").toEqual(["t2"]);
    story.spawn("t2");
    expect(wanted(story).spawn, "no place is left").toEqual([]);
    for (const id of ["t0", "t1", "t2"]) story.succeed(id);
    expect(wanted(story).spawn, "the others have waited").toEqual(["t3", "t4", "t5"]);
  });

  it("fills a freed slot at once (D4-042, D4-047, D4-103)", () => {
    const story = planned(rows, { maxWorkers: 2 });
    story.spawn("t0");
    story.spawn("t1");
    expect(wanted(story).spawn).toEqual([]);
    story.succeed("t1");
    expect(wanted(story).spawn).toEqual(["t2"]);
    story.spawn("t2");
    expect(wanted(story).spawn).toEqual([]);
    story.do({ type: "cancelWorker", sessionId: story.run.workers["t0"]!.sessionId });
    expect(wanted(story).spawn).toEqual(["t3"]);
  });

  it("with a spawnDelay is one at a time, each after that delay (D4-041, D4-107)", () => {
    const story = planned(rows, { spawnDelay: 500 });
    expect(wanted(story).spawn).toEqual(["t0"]);
    story.do({ type: "spawn", taskId: "t0" });
    expect(wanted(story)).toMatchObject({ spawn: [], lookAt: story.now + 500 });
    story.now += 500;
    expect(wanted(story).spawn).toEqual(["t1"]);
  });
});

describe("Tasks with agents of their own", () => {
  const agents = { claude: { agent: "claude" }, codex: { agent: "codex" } };
  const rows = ["claude", "claude", "codex", "claude", "codex"].map((agent, i) => ({ id: `t${i}`, agent }));
  const mixed = () => new Story(makeTemplate({ phases: { workerExecution: { agents } } })).execute(rows);

  it("start while the engine has a slot for their agent, past tasks whose agent has none", () => {
    const hasSlot = (agent: string, chosen: readonly string[]) =>
      chosen.length < 4 && (agent === "codex" || chosen.filter((each) => each === "claude").length < 1);
    const { spawn } = schedule(mixed().run, { freeSlots: 9, hasSlot }, 2000);
    expect(spawn).toEqual(["t0", "t2", "t4"]);
    expect(schedule(mixed().run, { freeSlots: 9, hasSlot: () => false }, 2000).spawn).toEqual([]);
  });

  it("do not wait for the provider of another task, which is asked by one of its own tasks", () => {
    const story = mixed();
    story.spawn("t0");
    const refused = { kind: "error" as const, detail: "overloaded", cause: "overloaded" as const };
    story.answerWorker("t0", null, { ending: refused });
    expect(story.run.refusals["claude"]).toBeDefined();
    expect(wanted(story).spawn).toEqual(["t2", "t4"]);
    expect(story.do({ type: "spawn", taskId: "t1" })).toEqual([]);
    expect(story.do({ type: "spawn", taskId: "t2" })).toMatchObject([
      { type: "worker:spawning", data: { agent: "codex" } },
    ]);
  });
});

describe("Tasks that name the same files", () => {
  it("do not run at the same time, and other tasks start first (E16)", () => {
    const rows = [
      { id: "a", scope: ["src/api"] },
      { id: "b", scope: ["src/api/users.ts"] },
      { id: "c", scope: ["src/web"] },
    ];
    const story = planned(rows);
    expect(wanted(story).spawn).toEqual(["a", "c"]);
    story.spawn("a");
    expect(wanted(story).spawn).toEqual(["c"]);
    story.succeed("a");
    expect(wanted(story).spawn).toEqual(["b", "c"]);
    expect(wanted(planned(rows, { overlappingScopes: "allow" })).spawn).toEqual(["a", "b", "c"]);
  });

  it.each([
    [["src/a.ts"], ["src/a.ts"], true],
    [["src/a.ts:10-20"], ["./src/a.ts"], true],
    [["src/a.ts:parse"], ["src/a.ts"], true],
    [["src/**/*.ts"], ["src/deep/a.ts"], true],
    [["."], ["anything"], true],
    [["src/a"], ["src/ab"], false],
    [["src/a.ts"], ["src/b.ts"], false],
    [["docs/*.md"], ["src"], false],
    [[], ["src"], false],
  ])("%j and %j: %s", (a, b, overlap) => {
    expect(scopesOverlap(a, b)).toBe(overlap);
    expect(scopesOverlap(b, a)).toBe(overlap);
  });
});

describe("A start that was scheduled before another one", () => {
  const wish = (config: object) => {
    const story = new Story(makeTemplate({ config })).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    return story.do({ type: "spawn", taskId: "b" }).map(({ type }) => type);
  };

  it("is ignored if there is no free slot any more or spawnDelay has not passed (D4-566)", () => {
    expect(wish({})).toEqual(["worker:spawning"]);
    expect(wish({ maxWorkers: 1 })).toEqual([]);
    expect(wish({ parallelExecution: false })).toEqual([]);
    expect(wish({ spawnDelay: 500 })).toEqual([]);
  });
});

describe("The probable next start", () => {
  const next = (story: Story) => probableNext(story.run);

  it("is the first task that waits for a slot, then the first whose dependencies are met or at work", () => {
    const story = planned(
      [{ id: "a" }, { id: "b", priority: 9 }, { id: "c", dependencies: ["a"] }, { id: "d", dependencies: ["b", "c"] }],
      { maxWorkers: 1 },
    );
    expect(next(story), "no task is at work").toBeNull();
    story.spawn("a");
    expect(next(story)).toEqual({ taskId: "b", commit: "base" });
    story.succeed("a");
    story.spawn("c");
    expect(next(story)).toEqual({ taskId: "b", commit: "base" });
    story.succeed("c");
    story.spawn("b");
    expect(next(story)).toEqual({ taskId: "d", commit: story.run.head });
  });

  it("is unknown while a session starts, and if no task can follow", () => {
    const story = planned([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a", "b"] }]);
    story.do({ type: "spawn", taskId: "a" });
    expect(next(story)).toBeNull();
    story.do({ type: "ready", sessionId: story.run.workers["a"]!.sessionId, start: "base" });
    story.spawn("b");
    expect(next(story)?.taskId).toBe("c");
    story.succeed("a");
    story.succeed("b");
    story.spawn("c");
    expect(next(story)).toBeNull();
  });
});
