// Helpers for tests of the rules: a template, plans, and `Story`, which applies commands and keeps the log.
import { apply } from "../../src/run/apply.ts";
import type { Command, TurnOver } from "../../src/run/command.ts";
import { decide } from "../../src/run/decide.ts";
import type { Answer } from "../../src/schema/answer.ts";
import type { LogPosition, RunEvent } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/outcome.ts";
import type { FollowedRun } from "../../src/schema/outcome.ts";
import type { Run } from "../../src/schema/run.ts";
import { Template } from "../../src/schema/template.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";

export type LoggedEvent = RunEvent & LogPosition;

const prompt = { system: "s", user: "u" };

export function makeTemplate(overrides: { config?: object; phases?: object } = {}): Template {
  return Template.parse({
    id: "test",
    name: "Test",
    prompts: { analysis: prompt, taskPlanning: prompt, worker: prompt, aggregation: prompt, verification: prompt },
    ...overrides,
  });
}

export interface PlannedTask {
  id: string;
  dependencies?: string[];
  priority?: number;
  agent?: unknown;
  model?: unknown;
  labels?: unknown;
}

/** One run with its log and its own clock, driven by commands. */
export class Story {
  run: Run;
  readonly log: LoggedEvent[] = [];
  now = 1000;

  constructor(
    template = makeTemplate(),
    more: { providers?: Record<string, string>; assignableAgents?: string[]; follows?: FollowedRun } = {},
  ) {
    const created = decide(
      null,
      {
        type: "create",
        id: "orch_000000000000",
        templateId: "test",
        template,
        cwd: "/repo",
        message: "do it",
        customVariables: {},
        agent: "command:x",
        ...more,
      },
      this.now,
    );
    this.run = apply(null, this.#place(created[0]!, 1));
  }

  #place(event: RunEvent, runSeq: number): LoggedEvent {
    const placed = { ...event, runSeq, timestamp: this.now };
    this.log.push(placed);
    return placed;
  }

  /** Decides a command, applies the events and returns them. */
  do(command: Command, afterMs = 10): RunEvent[] {
    this.now += afterMs;
    const events = decide(this.run, command, this.now);
    for (const event of events) this.append(event);
    return events;
  }

  /** Applies an event that no command decides. */
  append(event: RunEvent): void {
    this.run = apply(this.run, this.#place(event, this.run.runSeq + 1));
  }

  types(): string[] {
    return this.log.map((event) => event.type);
  }

  answerMain(answer: Answer | null, over: Partial<TurnOver> = {}): RunEvent[] {
    const { main } = this.run;
    return this.do({
      type: "turnOver",
      sessionId: main!.sessionId,
      turn: main!.turn!.number,
      over: turnOver(answer, over),
    });
  }

  answerWorker(taskId: string, answer: Answer | null, over: Partial<TurnOver> = {}): RunEvent[] {
    const { session } = this.run.workers[taskId]!;
    return this.do({
      type: "turnOver",
      sessionId: session.sessionId,
      turn: session.turn!.number,
      over: turnOver(answer, over),
    });
  }

  succeed(taskId: string): RunEvent[] {
    const work = { commit: `commit-of-${taskId}`, files: [`${taskId}.md`], head: null };
    return this.answerWorker(taskId, { phase: "completion", data: { task_id: taskId, status: "success" } }, { work });
  }

  spawn(taskId: string): void {
    this.do({ type: "spawn", taskId });
    this.do({ type: "ready", sessionId: this.run.workers[taskId]!.sessionId, start: "base" });
  }

  merge(taskId: string): RunEvent[] {
    return this.do({ type: "merged", taskId, commit: this.run.workers[taskId]!.commit!, head: `head-after-${taskId}` });
  }

  /** Advances the run to a plan that waits for its confirmation. */
  plan(tasks: PlannedTask[]): this {
    this.do({ type: "start", base: "base", warnings: [] });
    this.do({ type: "spawnMain" });
    this.do({ type: "ready", sessionId: this.run.main!.sessionId, start: "base" });
    this.answerMain({ phase: "analysis", data: { summary: "found", recommended_splits: tasks.length } });
    this.answerMain(taskList(tasks));
    return this;
  }

  execute(tasks: PlannedTask[]): this {
    this.plan(tasks);
    this.do({ type: "confirm" });
    return this;
  }
}

export function taskList(tasks: PlannedTask[]): Answer {
  const full = tasks.map(({ id, dependencies = [], priority, ...more }) => ({
    id,
    title: `Title of ${id}`,
    description: "what",
    dependencies,
    ...(priority === undefined ? {} : { priority }),
    ...more,
  }));
  return { phase: "task_list", data: { tasks: full } };
}

export function turnOver(answer: Answer | null, over: Partial<TurnOver> = {}): TurnOver {
  return {
    ending: { kind: "ended", detail: "" },
    answer,
    problems: [],
    said: null,
    question: null,
    guess: null,
    itemId: "item_new",
    toolStats: NO_TOOLS,
    usage: NO_USAGE,
    work: null,
    ...over,
  };
}
