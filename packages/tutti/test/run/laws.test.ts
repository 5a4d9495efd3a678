// Properties of the rules for random plans and random sequences of valid and invalid commands.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newStory, settings, walk } from "./walk.ts";
import { apply, fold } from "../../src/run/apply.ts";
import { census, taskStanding } from "../../src/run/census.ts";
import type { RecordedEvent } from "../../src/run/command.ts";
import { collisionsOf } from "../../src/run/rules/collisions.ts";
import { consequences } from "../../src/run/consequences.ts";
import { schedule } from "../../src/run/schedule.ts";
import { RUN_MOVES, WORKER_MOVES } from "../../src/run/transitions.ts";
import { EVENTS, type EventData, type RunEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { isRunOver } from "../../src/schema/status.ts";

/** Data of every event that bypasses the rules, about a session and task that exist. */
function recordedData(id: string, taskId: string, sessionId: string, toolStats: Run["toolStats"]) {
  const worker = { orchestratorId: id, sessionId, taskId };
  const gate = { id, environment: "production", commit: "c", taskId, code: "gate_closed" as const, reasons: ["r"] };
  const text = { progress: 99, status: "s", currentAction: "c", toolStats, outputPreview: "o" };
  const data: { [T in RecordedEvent["type"]]: EventData<T> } = {
    "worker:progress": { ...worker, ...text },
    "orchestrator:progress": { id, stats: toolStats, currentAction: "c" },
    "orchestrator:toolsCounted": { id, toolStats },
    "orchestrator:cleanup": { id, archived: 1, deleted: 1, removed: true },
    "gate:refused": gate,
    "protocol:ignored": { id, sessionId, taskId, phase: "completion", reason: "r" },
    "repository:changed": { id, sessionId, taskId, refs: [{ ref: "refs/heads/main" }], settings: ["core.editor"] },
    "result:merged": { id, branch: "b", from: "f", to: "t" },
    "result:dropped": { id, commit: "c" },
    "workers:archived": { orchestratorId: id, count: 1, errors: [] },
    "workers:deleted": { orchestratorId: id, count: 1 },
    "worker:stopped": { ...worker, tookMs: 1 },
    "workspace:saved": { id, sessionId, taskId, commit: "c" },
  };
  return Object.entries(data).map(([type, each]) => ({ type, data: each }) as RunEvent);
}

describe("The rules", () => {
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

  it("never leave the legal states, for any command (D4-005)", () => {
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

  it("decide all consequences in the same step, and the census always adds up", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (before, { run, now }) => {
          // A command without an effect is no step. Time has passed, and the next `tick` decides what became due.
          if (run !== before) expect(consequences(run, now)).toEqual([]);
          const { planned, ...counts } = census(run);
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(planned);
        });
      }),
    );
  });

  it("decide and schedule the same after every event that bypasses them", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        const { run, now } = walk(setting, () => {});
        const limits = { freeSlots: 9 };
        const [worker] = Object.values(run.workers);
        const events = recordedData(run.id, worker?.taskId ?? "t0", worker?.sessionId ?? "s", run.toolStats);
        for (const event of events) {
          const after = apply(run, { ...event, runSeq: run.runSeq + 1, timestamp: now });
          expect(schedule(after, limits, now), event.type).toEqual(schedule(run, limits, now));
          expect([after.status, consequences(after, now), census(after)], event.type).toEqual([
            run.status,
            [],
            census(run),
          ]);
        }
      }),
    );
  });

  it("produce only events that match their schemas", () => {
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

describe("`schedule`", () => {
  it("starts a task only after its dependencies completed, within the limits of run and server, most urgent first", () => {
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

  it("returns nothing for an ended run, and a next step for every other run", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (_, { run }) => {
          const wanted = schedule(run, { freeSlots: 99 }, run.updatedAt);
          const anything = wanted.spawnMain || wanted.spawn.length + wanted.sessions.length + wanted.merges.length > 0;
          // A task that builds on both sides of a conflict starts after the user's decision.
          const left = run.tasks.filter(({ id }) => ["neverStarted", "active"].includes(taskStanding(run, id)));
          const isHeld = left.some(({ id }) => collisionsOf(run, id).some(({ resolution }) => resolution === null));
          const waits = wanted.lookAt !== null || isHeld;
          if (isRunOver(run.status)) expect(anything).toBe(false);
          else if (!["created", "confirming", "paused"].includes(run.status) && !waits) {
            expect(anything).toBe(true);
          }
        });
      }),
    );
  });

  it("completes every plan if every session does its work", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        const story = newStory({ ...setting, usd: 1000 }).execute(setting.tasks);
        for (let step = 0; !isRunOver(story.run.status); step++) {
          expect(step).toBeLessThan(200);
          const wanted = schedule(story.run, { freeSlots: 2 }, story.now);
          for (const id of wanted.spawn) story.spawn(id);
          for (const worker of Object.values(story.run.workers)) if (worker.session.turn) story.succeed(worker.taskId);
          for (const id of wanted.merges) story.merge(id);
          // A phase of another role needs its own session.
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

  it("reaches every status and most event types in these walks, so that the properties are not vacuous", () => {
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
