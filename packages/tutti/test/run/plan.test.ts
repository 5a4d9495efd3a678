import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList, type PlannedTask } from "./make-run.ts";
import { census } from "../../src/run/census.ts";
import type { PlanChanges } from "../../src/run/command.ts";
import { estimatePlan } from "../../src/run/plan/estimate.ts";
import { readPlan } from "../../src/run/plan/plan.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Task } from "../../src/schema/task.ts";

const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  title: `Title of ${id}`,
  description: "what",
  scope: [],
  priority: 5,
  dependencies: [],
  ...more,
});
const confirm = (tasks: PlannedTask[], changes: PlanChanges) => {
  const story = new Story().plan(tasks);
  story.do({ type: "confirm", changes });
  return story;
};
const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "accepted";
};
const wanted = (story: Story) => schedule(story.run, { freeSlots: 9 }, story.now).spawn;

describe("A plan", () => {
  it("starts a task with the labels that its host must offer, and warns about wrong ones", () => {
    const ofRole = new Story(makeTemplate({ roles: { TESTER: { labels: { os: "mac" } } } } as object));
    const [spawning] = ofRole.execute([{ id: "a", labels: { gpu: "yes" } }]).do({ type: "spawn", taskId: "a" });
    expect(spawning).toMatchObject({ type: "worker:spawning", data: { labels: { os: "mac", gpu: "yes" } } });
    const story = new Story().execute([
      { id: "a", labels: { gpu: "yes" } },
      { id: "b", labels: "gpu" },
    ]);
    for (const taskId of ["a", "b"]) story.do({ type: "spawn", taskId });
    const started = story.log.flatMap((event) => (event.type === "worker:spawning" ? [event.data] : []));
    expect(started.map(({ labels }) => labels)).toEqual([{ gpu: "yes" }, undefined]);
    const [ready] = story.log.flatMap((event) => (event.type === "orchestrator:tasksReady" ? [event.data] : []));
    expect(ready!.warnings).toContain(
      'task b names the labels "gpu", which are not names with texts, so it needs none',
    );
  });

  it("waits in confirming for the user and is published once with its groups (D4-022, D4-026, D4-027, D4-028, D4-030, D4-031, D4-032, D4-492, D4-579, D4-580/E19)", () => {
    const story = new Story().plan([
      { id: "t1" },
      { id: "t2" },
      { id: "t3" },
      { id: "t4", dependencies: ["t1", "t2"] },
      { id: "t5", dependencies: ["t4"] },
    ]);
    const published = story.log.filter(({ type }) => type === "orchestrator:tasksReady");
    expect(published).toMatchObject([
      {
        data: {
          id: story.run.id,
          taskCount: 5,
          parallelGroups: [["t1", "t2", "t3"], ["t4"], ["t5"]],
          tasks: ["t1", "t2", "t3", "t4", "t5"].map((id) => ({ id, title: `Title of ${id}` })),
        },
      },
    ]);
    expect(story.run).toMatchObject({ status: "confirming", currentPhase: "taskPlanning" });
    for (let i = 0; i < 3; i++) story.do({ type: "tick" }, 1_000_000);
    expect(story.run.status).toBe("confirming");
    expect(wanted(story)).toEqual([]);
    story.do({ type: "confirm" });
    expect(story.run).toMatchObject({ status: "spawning", currentPhase: "workerExecution" });
  });

  it("is stored again, with its groups, by its confirmation only if that changes it (D4-265)", () => {
    const confirmed = ({ log }: Story) => log.find(({ type }) => type === "orchestrator:confirmed")!.data;
    const unchanged = confirm([{ id: "a" }, { id: "b" }], { budget: { usd: 5 } });
    expect(confirmed(unchanged)).toEqual({ id: unchanged.run.id, taskCount: 2, skipped: {}, budget: { usd: 5 } });
    expect(unchanged.run).toMatchObject({ tasks: [{ id: "a" }, { id: "b" }], parallelGroups: [["a", "b"]] });
    const changed = confirm([{ id: "a" }, { id: "b" }], { tasks: { b: { dependencies: ["a"] } } });
    expect(confirmed(changed)).toMatchObject({ tasks: [{ id: "a" }, { id: "b" }], parallelGroups: [["a"], ["b"]] });
  });

  it("is confirmed automatically if the template sets autoSpawn (E15)", () => {
    const story = new Story(makeTemplate({ config: { autoSpawn: true } })).plan([{ id: "a" }]);
    expect(story.run.status).toBe("spawning");
  });

  it("is not confirmed automatically if it is invalid", () => {
    const story = new Story(makeTemplate({ config: { autoSpawn: true } }));
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    for (let i = 0; i < 3; i++) story.answerMain(taskList([{ id: "a", dependencies: ["a"] }]));
    expect(story.run.status).toBe("confirming");
    expect(story.run.planErrors).toHaveLength(1);
  });

  it("is one inbox item with its estimate, and its approval confirms plan and budget together (D4-033)", () => {
    const story = new Story(makeTemplate({ config: { budget: { usd: 5 } } })).plan([{ id: "a" }, { id: "b" }]);
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({
      kind: "plan",
      run: story.run.id,
      question: "Carry out this plan of 2 tasks?",
      evidence: { tasks: [{ id: "a" }, { id: "b" }], budget: { usd: 5 }, estimate: { basis: "guess" } },
      risk: "medium",
    });
    expect(code(() => story.do({ type: "answer", itemId: item!.id, answer: { approve: true, hash: "other" } }))).toBe(
      "wrong_state",
    );
    story.do({ type: "answer", itemId: item!.id, answer: { approve: true, hash: item!.hash } });
    expect(story.run).toMatchObject({ status: "spawning", inbox: {}, budget: { usd: 5 } });
    expect(code(() => story.do({ type: "answer", itemId: item!.id, answer: { approve: true } }))).toBe(
      "item_not_found",
    );
  });

  it("is sent back with a text, and the next plan creates another item", () => {
    const story = new Story().plan([{ id: "a" }]);
    const [first] = Object.values(story.run.inbox);
    story.do({ type: "answer", itemId: first!.id, answer: { approve: false, text: "two tasks, please" } });
    expect(story.run).toMatchObject({ status: "planning", tasks: [] });
    expect(story.run.owed).toMatchObject({
      phase: "taskPlanning",
      try: 1,
      note: expect.stringContaining("two tasks, please"),
    });
    expect(story.run.main!.turn).toMatchObject({ phase: "taskPlanning" });
    story.answerMain(taskList([{ id: "a" }, { id: "b" }]));
    const [second] = Object.values(story.run.inbox);
    expect(story.run.status).toBe("confirming");
    expect(second!.hash).not.toBe(first!.hash);
    expect(second!.id).not.toBe(first!.id);
  });
});

describe("Changes to a plan", () => {
  it("can skip tasks, whose dependents are blocked unless the tasks are satisfied (D4-034/E16, E17)", () => {
    const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }];
    const blocked = confirm(tasks, { tasks: { a: { skip: true } } });
    expect(wanted(blocked)).toEqual(["c"]);
    expect(blocked.run.blocked).toEqual({ b: ["a"] });
    expect(census(blocked.run)).toMatchObject({ planned: 3, skipped: 1, blocked: 1 });
    const released = confirm(tasks, { tasks: { a: { skip: true, satisfied: true } } });
    expect(wanted(released)).toEqual(["b", "c"]);
  });

  it("that skip a task do not degrade the run, and a run without tasks completes", () => {
    const story = confirm([{ id: "a" }, { id: "b" }], { tasks: { a: { skip: true } } });
    story.spawn("b");
    story.succeed("b");
    story.merge("b");
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
    expect(confirm([{ id: "a" }], { tasks: { a: { skip: true } } }).run).toMatchObject({
      status: "completed",
      outcome: "success",
    });
  });

  it("can set priorities, texts, scopes and dependencies, and add and remove tasks (D4-035, D4-036/E16)", () => {
    const story = confirm([{ id: "a" }, { id: "b" }, { id: "c" }], {
      tasks: { b: { priority: 1, title: "B first", scope: ["b.md"] }, a: { dependencies: ["d"] } },
      added: [task("d", { priority: 2 })],
      removed: ["c"],
    });
    expect(story.run.tasks.map(({ id }) => id)).toEqual(["a", "b", "d"]);
    expect(story.run.tasks[1]).toMatchObject({ title: "B first", priority: 1, scope: ["b.md"] });
    expect(story.run.parallelGroups).toEqual([["b", "d"], ["a"]]);
    expect(wanted(story)).toEqual(["b", "d"]);
  });

  it.each([
    ["an unknown task", { tasks: { x: { skip: true } } }],
    ["a cycle", { tasks: { a: { dependencies: ["b"] }, b: { dependencies: ["a"] } } }],
    ["an unknown dependency", { tasks: { a: { dependencies: ["x"] } } }],
    ["a removed task that another needs", { tasks: { b: { dependencies: ["a"] } }, removed: ["a"] }],
    ["a double id", { added: [task("a")] }],
    ["an empty title", { tasks: { a: { title: "" } } }],
    ["a priority of 11", { tasks: { a: { priority: 11 } } }],
    ["no task at all", { removed: ["a", "b"] }],
  ] as [string, PlanChanges][])("are rejected as a whole with %s", (_, changes) => {
    const story = new Story().plan([{ id: "a" }, { id: "b" }]);
    const unchanged = story.run;
    expect(code(() => story.do({ type: "confirm", changes }))).toBe("invalid_plan");
    expect(story.run).toBe(unchanged);
  });

  it("can make an invalid plan valid (E11)", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    for (let i = 0; i < 3; i++)
      story.answerMain(
        taskList([
          { id: "a", dependencies: ["b"] },
          { id: "b", dependencies: ["a"] },
        ]),
      );
    expect(story.run.planErrors[0]).toContain("cycle");
    expect(code(() => story.do({ type: "confirm" }))).toBe("invalid_plan");
    story.do({ type: "confirm", changes: { tasks: { a: { dependencies: [] } } } });
    expect(story.run).toMatchObject({ status: "spawning", planErrors: [] });
  });
});

describe("The agent of a task", () => {
  const agents = {
    deep: { agent: "claude", model: "opus", strengths: "hard problems", price: "high" },
    wide: { agent: "codex" },
  };
  const template = makeTemplate({ phases: { workerExecution: { agents } } });
  const sessionOf = (story: Story, id: string) => {
    story.spawn(id);
    const { agent, model } = story.run.workers[id]!.session;
    return [agent, model];
  };

  it("and its model come from the template's list, from a configured name, or from the task itself", () => {
    const story = new Story(template, { assignableAgents: ["mine"] }).execute([
      { id: "a", agent: "deep" },
      { id: "b", agent: "wide", model: "gpt-5.5" },
      { id: "c", agent: "mine" },
      { id: "d", model: "small" },
      { id: "e", agent: "deep", model: "haiku" },
    ]);
    expect(story.run.planWarnings.filter((text) => text.includes("agent"))).toEqual([]);
    expect(["a", "b", "c", "d", "e"].map((id) => sessionOf(story, id))).toEqual([
      ["claude", "opus"],
      ["codex", "gpt-5.5"],
      ["mine", undefined],
      ["command:x", "small"],
      ["claude", "haiku"],
    ]);
  });

  it("is dropped with a warning if a model names any other, and so is a model that is not a name", () => {
    const named = ["command:touch /tmp/x", "claude", "constructor", { agent: "deep" }, 7];
    const tasks = named.map((agent, i) => ({ id: `t${i}`, agent, model: "opus" }));
    const story = new Story(template).plan([...tasks, { id: "m", agent: "deep", model: "--dangerous" }]);
    expect(story.run.tasks.map(({ agent, model }) => [agent, model])).toEqual([
      ...named.map(() => [undefined, undefined]),
      ["deep", undefined],
    ]);
    const warnings = story.run.planWarnings.filter((text) => /names the (agent|model)/.test(text));
    expect(warnings).toHaveLength(named.length + 1);
    expect(warnings[0]).toContain('task t0 names the agent "command:touch /tmp/x", which is not configured');
    expect(story.run.planErrors).toEqual([]);
  });

  it("is set, changed and removed by the user when the plan is confirmed", () => {
    const plan = [
      { id: "a", agent: "deep", model: "haiku" },
      { id: "b", agent: "deep", model: "haiku" },
      { id: "c", agent: "deep" },
      { id: "d" },
    ];
    const story = new Story(template).plan(plan);
    const changes = {
      tasks: {
        a: { agent: "command:mine" },
        b: { model: "opus-5" },
        c: { agent: null, model: "x" },
        d: { agent: "wide", model: "y" },
      },
      added: [task("e", { agent: "local" })],
    };
    story.do({ type: "confirm", changes });
    expect(["a", "b", "c", "d", "e"].map((id) => sessionOf(story, id))).toEqual([
      ["command:mine", undefined],
      ["claude", "opus-5"],
      ["command:x", "x"],
      ["codex", "y"],
      ["local", undefined],
    ]);
  });
});

describe("`readPlan`", () => {
  const plan = (tasks: object[], template = makeTemplate()) => readPlan({ tasks } as never, template);

  it("requires a valid id, a title and a description of every task (D4-025)", () => {
    const whole = { id: "a", title: "t", description: "d" };
    expect(plan([whole]).errors).toEqual([]);
    expect(plan([{ ...whole, id: "a/b" }]).errors).toEqual(['"a/b" cannot be used as a task id']);
    expect(plan([{ ...whole, title: " " }]).errors).toEqual(["task a has an empty title"]);
    expect(plan([{ ...whole, description: "" }]).errors).toEqual(["task a has an empty description"]);
  });

  it("keeps the id, title, description, scope, priority and dependencies of every task (D4-029)", () => {
    const first = { id: "a", title: "A", description: "do a", scope: ["src/a.ts"], priority: 3, dependencies: [] };
    const second = { ...first, id: "b", title: "B", description: "do b", dependencies: ["a"] };
    expect(plan([first, second]).tasks).toEqual([first, second]);
    const least = { id: "a", title: "A", description: "do a" };
    expect(plan([least]).tasks).toEqual([{ ...least, scope: [], priority: 5, dependencies: [] }]);
  });

  it("warns of too few tasks, too many tasks and tasks without a scope, as the template sets it (E74)", () => {
    const scoped = { id: "a", title: "t", description: "d", scope: ["x"] };
    expect(plan([scoped]).warnings).toEqual([]);
    expect(plan([{ ...scoped, scope: [] }]).warnings).toEqual(["without a scope: a"]);
    const many = Array.from({ length: 51 }, (_, i) => ({ ...scoped, id: `t${i}` }));
    expect(plan(many).warnings).toEqual(["the plan has 51 tasks, more than 50"]);
    const strict = makeTemplate({
      phases: { taskPlanning: { validation: { minTasks: 3, requireScope: false, requireDependencies: true } } },
    });
    expect(
      plan(
        [
          { ...scoped, scope: [] },
          { ...scoped, id: "b" },
        ],
        strict,
      ).warnings,
    ).toEqual(["the plan has 2 tasks, fewer than 3", "no task depends on another"]);
  });

  it("reads 1 as the highest priority, or 10 if the template says so (D4-029/X01)", () => {
    const rows = [1, 10, "critical", "low"].map((priority, i) => ({
      id: `t${i}`,
      title: "t",
      description: "d",
      priority,
    }));
    expect(plan(rows).tasks.map(({ priority }) => priority)).toEqual([1, 10, 1, 8]);
    const reversed = makeTemplate({ config: { priorityOrder: "highest-first" } });
    expect(plan(rows, reversed).tasks.map(({ priority }) => priority)).toEqual([10, 1, 1, 8]);
  });
});

describe("`estimatePlan`", () => {
  const history = { samples: 10, msPerTask: 60_000, usdPerTask: 0.2, tokensPerTask: 1000, msByTitle: {} };

  it("uses the history: the longest chain or all work divided by the workers, whichever is longer", () => {
    const wide = Array.from({ length: 8 }, (_, i) => task(`t${i}`));
    expect(estimatePlan(wide, 4, history)).toMatchObject({
      basis: "history",
      samples: 10,
      minutes: 2,
      usd: 1.6,
      tokens: 8000,
      criticalMinutes: 1,
      advice: [],
    });
    const chain = wide.map((each, i) => (i === 0 ? each : { ...each, dependencies: [`t${i - 1}`] }));
    const estimate = estimatePlan(chain, 4, history);
    expect(estimate).toMatchObject({ minutes: 8, criticalPath: chain.map(({ id }) => id) });
    expect(estimate.advice[0]).toContain("hardly be faster than one");
  });

  it("ends for a plan with a cycle behind a root", () => {
    const circle = [
      task("a"),
      task("b", { dependencies: ["a", "c"] }),
      task("c", { dependencies: ["b"] }),
      task("d", { dependencies: ["c"] }),
    ];
    expect(estimatePlan(circle, 4, history).criticalPath.slice(0, 2)).toEqual(["a", "b"]);
  });

  it("warns of tasks that will not run in parallel because they name the same files", () => {
    const tasks = [task("a", { scope: ["src/x.ts"] }), task("b", { scope: ["src"] })];
    expect(estimatePlan(tasks, 4, history).advice).toEqual([
      "a and b name the same files and will not run at the same time",
    ]);
  });

  it("uses the duration of a task with the same title in the same repository", () => {
    const { tasks } = readPlan({ tasks: [{ id: "a", title: "Known", description: "d" }] }, makeTemplate(), {
      Known: 180_000,
    });
    expect(tasks[0]!.expectedMs).toBe(180_000);
    expect(estimatePlan(tasks, 1, history).minutes).toBe(3);
  });
});
