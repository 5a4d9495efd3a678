// Laws of the rules, over random plans and random sequences of commands, sensible and senseless.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList, turnOver, type PlannedTask } from "./make-run.ts";
import { fold } from "../../src/run/apply.ts";
import { census, taskStanding } from "../../src/run/census.ts";
import type { Command } from "../../src/run/command.ts";
import { decide } from "../../src/run/decide.ts";
import { follow } from "../../src/run/follow.ts";
import { schedule } from "../../src/run/schedule.ts";
import { RUN_MOVES, WORKER_MOVES } from "../../src/run/transitions.ts";
import type { Answer } from "../../src/schema/answer.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { EVENTS } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { isRunOver } from "../../src/schema/status.ts";

const plans: fc.Arbitrary<PlannedTask[]> = fc
  .array(fc.tuple(fc.array(fc.nat(), { maxLength: 3 }), fc.integer({ min: 1, max: 10 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((rows) =>
    rows.map(([picks, priority], i) => ({
      id: `t${i}`,
      priority,
      dependencies: i === 0 ? [] : [...new Set(picks.map((pick) => `t${pick % i}`))],
    })),
  );

interface Setting {
  tasks: PlannedTask[];
  choices: number[];
  from: "created" | "planned" | "executing" | "worked";
  maxWorkers: number;
  aggregation: boolean;
  verification: boolean;
  autoRetry: boolean;
  failedDependency: "skip" | "continue" | "fail";
  conflictResolution: "smart" | "ask";
  usd: number;
  phases: boolean;
}

const settings: fc.Arbitrary<Setting> = fc.record({
  tasks: plans,
  choices: fc.noBias(fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 120 })),
  from: fc.constantFrom("created", "planned", "executing", "worked"),
  maxWorkers: fc.integer({ min: 1, max: 4 }),
  aggregation: fc.boolean(),
  verification: fc.boolean(),
  autoRetry: fc.boolean(),
  failedDependency: fc.constantFrom("skip", "continue", "fail"),
  conflictResolution: fc.constantFrom("smart", "ask"),
  usd: fc.constantFrom(0.5, 1000),
  phases: fc.boolean(),
});

const newStory = (setting: Setting): Story => {
  const { maxWorkers, aggregation, verification, autoRetry, failedDependency, conflictResolution, usd, phases } =
    setting;
  return new Story(
    makeTemplate({
      config: { maxWorkers, autoRetry, failedDependency, budget: { usd }, retryDelay: 100, answerTimeout: 300_000 },
      phases: {
        aggregation: { enabled: aggregation, conflictResolution },
        verification: { enabled: verification, ...(phases ? { role: "reviewer" } : {}) },
        ...(phases ? { workerExecution: { timeout: 1_000_000 } } : {}),
      },
    }),
  );
};

/** What people and circumstances do to a run, whatever it is doing. */
function steer(tasks: PlannedTask[], trouble: boolean): Command[] {
  return [
    { type: "decide", decisions: [{ index: 0, text: "the first" }] },
    { type: "requestChanges", text: "smaller tasks" },
    { type: "pause" },
    { type: "resume" },
    ...tasks.map(({ id }) => ({ type: "retry" as const, taskId: id })),
    { type: "tick" },
    { type: "clockJumped", byMs: 5000 },
    { type: "spending", usage: { inputTokens: 1, outputTokens: 1, usd: 0.6 } },
    { type: "hookStarted", hook: { name: "onError", cause: 3, run: "notify" } },
    {
      type: "hookEnded",
      hook: { name: "onError", cause: 3, run: "notify" },
      ok: !trouble,
      detail: "",
      durationMs: 1,
      pause: true,
    },
  ];
}

/** Every command that has a meaning now, and some that have none. */
function commands(run: Run, tasks: PlannedTask[], trouble: boolean, steering: boolean): Command[] {
  const wanted = schedule(run, { freeSlots: 99 }, run.updatedAt);
  const sessions = [...(run.main ? [run.main] : []), ...Object.values(run.workers).map((worker) => worker.session)];
  const all: Command[] = [
    { type: "start", base: "base", warnings: [] },
    { type: "confirm" },
    { type: "spawnMain" },
    ...wanted.spawn.map((taskId) => ({ type: "spawn" as const, taskId })),
    ...tasks.map(({ id }) => ({ type: "spawn" as const, taskId: id })),
    ...wanted.merges.map((taskId) => ({
      type: "merged" as const,
      taskId,
      commit: run.workers[taskId]!.commit!,
      head: `after-${taskId}`,
    })),
    ...wanted.merges.map((taskId) => ({
      type: "conflicted" as const,
      taskId,
      commit: run.workers[taskId]!.commit!,
      conflict: { type: "file_conflict", files: ["f"], tasks: [taskId], resolution: null, refs: [] },
    })),
    { type: "merged", taskId: "t0", commit: "some other", head: "x" },
    { type: "answer", itemId: "none", answer: { text: "yes" } },
    ...Object.values(run.inbox).flatMap((item) =>
      [{ text: "yes" }, { option: 0 }, { option: 7 }, { approve: true }, { data: { usd: 2000 } }].map(
        (answer): Command => ({ type: "answer", itemId: item.id, answer: { ...answer, hash: item.hash } }),
      ),
    ),
    ...(trouble
      ? Object.values(run.inbox).flatMap((item): Command[] => [
          { type: "answer", itemId: item.id, answer: { approve: false, text: "differently" } },
          { type: "answer", itemId: item.id, answer: { text: "yes", hash: "another" } },
        ])
      : []),
    ...(steering || run.status === "paused" ? steer(tasks, trouble) : []),
    ...Object.values(run.inbox).flatMap((item) =>
      answers(null, tasks, false).flatMap((answer) =>
        answer ? [{ type: "supply" as const, itemId: item.id, answer }] : [],
      ),
    ),
    { type: "released" },
    { type: "ready", sessionId: "nobody", start: "base" },
  ];
  for (const { sessionId, turn } of sessions) {
    const owner = Object.values(run.workers).find((worker) => worker.sessionId === sessionId);
    all.push({ type: "ready", sessionId, start: "base" });
    for (const answer of answers(owner?.taskId ?? null, tasks, trouble)) {
      const over = turnOver(answer, {
        problems: ["no"],
        work: { commit: `c-${sessionId}`, files: ["f"], head: owner ? null : "main-head" },
      });
      all.push({ type: "turnOver", sessionId, turn: turn?.number ?? 1, over });
    }
    if (!trouble) continue;
    all.push(
      { type: "pauseWorker", sessionId },
      { type: "resumeWorker", sessionId },
      { type: "cancelWorker", sessionId },
    );
    all.push({ type: "idle", sessionId, forMs: 100_000 });
    all.push({
      type: "turnOver",
      sessionId,
      turn: turn?.number ?? 1,
      over: turnOver(null, { ending: { kind: "interrupted", detail: "" } }),
    });
    all.push({ type: "lost", sessionId, reason: "gone", counted: true });
    all.push({ type: "expired", sessionId });
    all.push({ type: "asked", sessionId, askId: "q", itemId: `item-${sessionId}`, question: "?" });
    all.push({ type: "turnOver", sessionId, turn: 99, over: turnOver(null) });
    all.push({
      type: "turnOver",
      sessionId,
      turn: turn?.number ?? 1,
      over: turnOver(null, { ending: { kind: "exited", detail: "died" } }),
    });
  }
  return all;
}

function answers(taskId: string | null, tasks: PlannedTask[], trouble: boolean): (Answer | null)[] {
  if (taskId !== null) {
    const done = (status: "success" | "partial" | "failed" | "timeout"): Answer => ({
      phase: "completion",
      data: { task_id: taskId, status },
    });
    return trouble ? [done("partial"), done("failed"), done("timeout"), null] : [done("success")];
  }
  if (trouble)
    return [
      { phase: "aggregation", data: { status: "failed" } },
      { phase: "aggregation", data: { status: "needs_input", conflicts: [{ type: "naming", options: ["a", "b"] }] } },
      { phase: "verification", data: { status: "failed" } },
      null,
    ];
  return [
    { phase: "analysis", data: { summary: "s", recommended_splits: 1 } },
    taskList(tasks),
    { phase: "aggregation", data: { status: "success" } },
    { phase: "aggregation", data: { status: "needs_input", summary: "which?" } },
    { phase: "verification", data: { status: "passed" } },
  ];
}

/** An answer only ever reaches the rules for the phase that was asked for. */
function isAsked(run: Run, command: Command): boolean {
  if (command.type !== "turnOver" || command.over.answer === null || run.main?.sessionId !== command.sessionId)
    return true;
  const names = {
    analysis: "analysis",
    taskPlanning: "task_list",
    aggregation: "aggregation",
    verification: "verification",
    workerExecution: "",
  };
  return command.over.answer.phase === names[run.main.turn?.phase ?? "workerExecution"];
}

/** Any command one time in four, otherwise the next one that has an effect: a walk that stands still shows nothing. */
function pick(possible: Command[], choice: number, { run, now }: Story): Command {
  const at = choice % possible.length;
  if (choice % 4 === 0) return possible[at]!;
  return (
    [...possible.slice(at), ...possible.slice(0, at)].find((command) => hasEffect(run, command, now)) ?? possible[at]!
  );
}

function hasEffect(run: Run, command: Command, now: number): boolean {
  try {
    return decide(run, command, command.type === "expired" ? now + 400_000 : now).length > 0;
  } catch {
    return false;
  }
}

/** Walks as the choices say and checks after every step. Returns how far it came. */
function walk(setting: Setting, check: (before: Run, story: Story, command: Command) => void): Story {
  const story = newStory(setting);
  if (setting.from === "planned") story.plan(setting.tasks);
  if (setting.from === "executing" || setting.from === "worked") story.execute(setting.tasks);
  // Tasks need only earlier ones, so the order of the plan is one in which they can be carried out.
  if (setting.from === "worked") {
    for (const { id } of setting.tasks) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
  }
  for (const choice of setting.choices) {
    const possible = commands(story.run, setting.tasks, choice % 11 === 0, choice % 7 === 0).filter((command) =>
      isAsked(story.run, command),
    );
    const command = choice % 97 === 0 ? ({ type: "cancel" } as const) : pick(possible, choice, story);
    const before = story.run;
    try {
      story.do(command, command.type === "expired" ? 400_000 : 10);
    } catch (error) {
      expect(error).toBeInstanceOf(TuttiError);
      expect(story.run).toBe(before);
    }
    check(before, story, command);
  }
  return story;
}

describe("the rules", () => {
  it("fold the log to exactly the live state, from the start and from any point, also through JSON", () => {
    fc.assert(
      fc.property(settings, fc.nat(), (setting, cut) => {
        const { log, run } = walk(setting, () => {});
        expect(fold(null, log)).toEqual(run);
        const at = cut % log.length;
        const stored = JSON.parse(JSON.stringify(log)) as typeof log;
        expect(fold(fold(null, stored.slice(0, at)), stored.slice(at))).toEqual(JSON.parse(JSON.stringify(run)));
      }),
    );
  });

  it("never leave the legal states, whatever is asked (D4-005)", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        const story = walk(setting, () => {});
        let run: Run | null = null;
        for (const event of story.log) {
          const before = run;
          run = fold(run, [event])!;
          if (!before) continue;
          if (run.status !== before.status)
            expect(RUN_MOVES[before.status], `${before.status} by ${event.type}`).toContain(run.status);
          for (const [id, worker] of Object.entries(run.workers)) {
            const was = before.workers[id]?.status ?? "pending";
            if (worker.status !== was) expect(WORKER_MOVES[was], `${was} by ${event.type}`).toContain(worker.status);
          }
        }
      }),
    );
  });

  it("leave nothing undone that follows by itself, and the census always adds up", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (_, { run, now }) => {
          expect(follow(run, now)).toEqual([]);
          const { planned, ...counts } = census(run);
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(planned);
        });
      }),
    );
  });

  it("write only events that their schemas accept", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        for (const event of walk(setting, () => {}).log)
          expect(EVENTS[event.type].safeParse(event.data).error, event.type).toBeUndefined();
      }),
    );
  });

  it("accept at most one completion per task, and none for a task that has not started", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        const { log } = walk(setting, () => {});
        const spawned = new Set<string>();
        const completed = new Set<string>();
        for (const event of log) {
          if (event.type === "worker:spawned") spawned.add(event.data.taskId);
          if (event.type !== "worker:completed") continue;
          expect(spawned).toContain(event.data.taskId);
          expect(completed).not.toContain(event.data.taskId);
          completed.add(event.data.taskId);
        }
      }),
    );
  });
});

describe("the schedule", () => {
  it("starts a task only when all its dependencies are completed, within the run's cap and the server's, the most urgent first", () => {
    fc.assert(
      fc.property(settings, fc.nat({ max: 4 }), (setting, freeSlots) => {
        walk(setting, (_, { run }) => {
          const { spawn } = schedule(run, { freeSlots }, run.updatedAt);
          const active = Object.values(run.workers).filter((worker) => worker.session.state !== "over").length;
          expect(spawn.length).toBeLessThanOrEqual(freeSlots);
          expect(active + spawn.length).toBeLessThanOrEqual(Math.max(active, setting.maxWorkers));
          const priorities = spawn.map((id) => run.tasks.find((task) => task.id === id)!.priority);
          expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
          for (const id of spawn) {
            for (const needed of run.tasks.find((task) => task.id === id)!.dependencies) {
              const met = setting.failedDependency === "continue" ? ["active", "neverStarted"] : null;
              if (met) expect(met).not.toContain(taskStanding(run, needed));
              else expect(taskStanding(run, needed)).toBe("completed");
            }
          }
        });
      }),
    );
  });

  it("wants nothing of a run that is over, and leaves no run that is not over without a next step", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (_, { run }) => {
          const wanted = schedule(run, { freeSlots: 99 }, run.updatedAt);
          const anything = wanted.spawnMain || wanted.spawn.length + wanted.sessions.length + wanted.merges.length > 0;
          if (isRunOver(run.status)) expect(anything).toBe(false);
          else if (!["created", "confirming", "paused"].includes(run.status) && wanted.lookAt === null) {
            expect(anything).toBe(true);
          }
        });
      }),
    );
  });

  it("carries every plan to its end when every session does its work", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        const story = newStory({ ...setting, usd: 1000 }).execute(setting.tasks);
        for (let step = 0; !isRunOver(story.run.status); step++) {
          expect(step).toBeLessThan(200);
          const wanted = schedule(story.run, { freeSlots: 2 }, story.now);
          for (const id of wanted.spawn) story.spawn(id);
          for (const worker of Object.values(story.run.workers)) if (worker.session.turn) story.succeed(worker.taskId);
          for (const id of wanted.merges) story.merge(id);
          // A phase of another role has a session of its own.
          if (wanted.spawnMain) {
            story.do({ type: "spawnMain" });
            story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
          }
          if (story.run.status === "aggregating" && story.run.main?.turn)
            story.answerMain({ phase: "aggregation", data: { status: "success" } });
          if (story.run.status === "verifying" && story.run.main?.turn)
            story.answerMain({ phase: "verification", data: { status: "passed" } });
        }
        expect(story.run.status).toBe("completed");
        expect(census(story.run)).toMatchObject({ planned: setting.tasks.length, completed: setting.tasks.length });
      }),
    );
  });

  it("reaches every status and most event types in these walks, so that the laws are not kept by standing still", () => {
    const statuses = new Set<string>();
    const types = new Set<string>();
    fc.assert(
      fc.property(settings, (setting) => {
        const { log } = walk(setting, (_, { run }) => statuses.add(run.status));
        for (const event of log) types.add(event.type);
      }),
      { numRuns: 1500, seed: 7 },
    );
    expect([...statuses]).toEqual(
      expect.arrayContaining([
        "analyzing",
        "planning",
        "confirming",
        "spawning",
        "running",
        "aggregating",
        "verifying",
        "completed",
        "error",
        "cancelled",
        "paused",
      ]),
    );
    for (const type of [
      "main:lost",
      "worker:lost",
      "worker:completed",
      "worker:failed",
      "worker:timeout",
      "worker:paused",
      "worker:resumed",
      "worker:retrying",
      "main:relieved",
      "orchestrator:resumed",
      "orchestrator:reopened",
      "orchestrator:changesRequested",
      "orchestrator:decided",
      "orchestrator:budgetReached",
      "orchestrator:budgetChanged",
      "orchestrator:clockJumped",
      "hook:ended",
      "task:blocked",
      "inbox:added",
    ])
      expect([...types]).toContain(type);
  });
});
