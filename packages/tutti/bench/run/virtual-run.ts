// A run under the real rules in virtual time: every task takes its expected time, and everything else takes none. It
// applies the rules in the same order as the engine.
import { apply } from "../../src/run/apply.ts";
import type { Command } from "../../src/run/command.ts";
import { decide } from "../../src/run/decide.ts";
import { schedule, type Wanted } from "../../src/run/schedule.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/outcome.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Task } from "../../src/schema/task.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";
import { makeTemplate } from "../../test/run/make-run.ts";

const ID = "orch_000000000000";

export function confirmedRun(tasks: Task[], maxWorkers: number): Run {
  const template = makeTemplate({ config: { maxWorkers, autoRetry: true, retryDelay: 60_000 } });
  const events: RunEvent[] = [
    {
      type: "orchestrator:created",
      data: {
        id: ID,
        templateId: "test",
        cwd: "/repo",
        status: "created",
        template,
        userRequest: "do it",
        customVariables: {},
        agent: "local",
      },
    },
    {
      type: "orchestrator:started",
      data: { id: ID, mainSessionId: "main", phase: "taskPlanning", base: "base", warnings: [] },
    },
    {
      type: "orchestrator:confirmed",
      data: { id: ID, taskCount: tasks.length, tasks, parallelGroups: [], skipped: {}, budget: {} },
    },
    {
      type: "orchestrator:phaseChanged",
      data: { id: ID, previousPhase: "taskPlanning", currentPhase: "workerExecution", status: "spawning" },
    },
  ];
  return applyAll(null, events, 0);
}

function applyAll(run: Run | null, events: readonly RunEvent[], timestamp: number): Run {
  for (const event of events) run = apply(run, { ...event, runSeq: (run?.runSeq ?? 0) + 1, timestamp });
  return run!;
}

export class VirtualRun {
  run: Run;
  now = 0;
  decisions = 0;
  /** Earliest first. */
  #ends: { at: number; taskId: string }[] = [];

  readonly #failEvery: number;
  #attempts = 0;

  /** Every `failEvery`th attempt fails and is retried later. By default none fails. */
  constructor(run: Run, failEvery = Number.POSITIVE_INFINITY) {
    this.run = run;
    this.#failEvery = failEvery;
  }

  /** One decision: applies the command and returns the resulting schedule. */
  #decide(command: Command): Wanted {
    this.decisions++;
    this.run = applyAll(this.run, decide(this.run, command, this.now), this.now);
    return this.#look();
  }

  #look(): Wanted {
    return schedule(this.run, { freeSlots: Number.POSITIVE_INFINITY }, this.now);
  }

  begin(): void {
    this.#start(this.#look().spawn);
  }

  #start(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      this.#decide({ type: "spawn", taskId });
      const { sessionId, task } = this.run.workers[taskId]!;
      this.#decide({ type: "ready", sessionId, start: "base" });
      this.#ends.push({ at: this.now + (task.expectedMs ?? 1), taskId });
    }
    this.#ends.sort((a, b) => a.at - b.at);
  }

  /** Returns false if no attempt was running. */
  step(): boolean {
    const next = this.#ends.shift();
    if (!next) return false;
    const { taskId } = next;
    this.now = next.at;
    const { sessionId, session } = this.run.workers[taskId]!;
    const fails = ++this.#attempts % this.#failEvery === 0;
    const over = answerOf(taskId, fails ? "failed" : "success");
    let wanted = this.#decide({ type: "turnOver", sessionId, turn: session.turn!.number, over });
    if (!fails) wanted = this.#decide({ type: "merged", taskId, commit: `c-${taskId}`, head: `h-${taskId}` });
    // Tasks that end at the same moment (`now`) free their slots first.
    if (this.#ends[0]?.at !== this.now) this.#start(wanted.spawn);
    return true;
  }

  copy(): VirtualRun {
    const copy = new VirtualRun(this.run, this.#failEvery);
    copy.#attempts = this.#attempts;
    copy.now = this.now;
    copy.#ends = [...this.#ends];
    return copy;
  }
}

const answerOf = (taskId: string, status: "success" | "failed") => ({
  ending: { kind: "ended" as const, detail: "" },
  answer: { phase: "completion" as const, data: { task_id: taskId, status } },
  problems: [],
  said: null,
  question: null,
  guess: null,
  itemId: "item",
  toolStats: NO_TOOLS,
  usage: NO_USAGE,
  work: { commit: `c-${taskId}`, files: [`${taskId}.md`], head: null },
});
