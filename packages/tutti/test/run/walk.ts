// Random walks through the life of a run: random plans and random sequences of valid and invalid commands.
import fc from "fast-check";
import { expect } from "vitest";
import { makeTemplate, Story, taskList, turnOver, type PlannedTask } from "./make-run.ts";
import type { Command } from "../../src/run/command.ts";
import { decide } from "../../src/run/decide.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Answer } from "../../src/schema/answer.ts";
import { TuttiError } from "../../src/schema/error.ts";
import type { Run } from "../../src/schema/run.ts";

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

export interface Setting {
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

export const settings: fc.Arbitrary<Setting> = fc.record({
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

export const newStory = (setting: Setting): Story => {
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

/** Commands of the user and external events, regardless of the state. */
function steer(tasks: PlannedTask[], trouble: boolean): Command[] {
  return [
    { type: "decide", decisions: [{ index: 0, text: "the first" }] },
    { type: "requestChanges", text: "smaller tasks" },
    { type: "message", taskId: null, text: "and hurry" },
    { type: "message", taskId: tasks[0]!.id, text: "with care" },
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

/** Every command that is valid now, and some that are not. */
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
      head: `after-${taskId}`,
      conflict: { type: "file_conflict", files: ["f"], tasks: tasks.map(({ id }) => id), resolution: null, refs: [] },
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

/** The engine passes an answer to the rules only for the phase that was asked for. */
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

/** Picks any command in one of four cases, otherwise the next one with an effect, so that a walk makes progress. */
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

/** Walks according to `choices`, checks after every step and returns the story. */
export function walk(setting: Setting, check: (before: Run, story: Story, command: Command) => void): Story {
  const story = newStory(setting);
  if (setting.from === "planned") story.plan(setting.tasks);
  if (setting.from === "executing" || setting.from === "worked") story.execute(setting.tasks);
  // Tasks depend only on earlier ones, so they can run in the order of the plan.
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
