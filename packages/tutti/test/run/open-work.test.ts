// Compares the incremental index `openWork` with a full scan of tasks and workers.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeTemplate, Story, type PlannedTask } from "./make-run.ts";
import { settings, walk } from "./walk.ts";
import { apply } from "../../src/run/apply.ts";
import { dependencyState, taskStanding } from "../../src/run/census.ts";
import { workerOfSession } from "../../src/run/lookup.ts";
import type { NumberMap } from "../../src/run/fold/number-map.ts";
import { openWork, type OpenWork } from "../../src/run/fold/open-work.ts";
import { outlineOf } from "../../src/run/plan/outline.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Run } from "../../src/schema/run.ts";

/** Computes the index by a full scan, without the cache. */
function lookEverywhere(run: Run) {
  const waits = run.tasks.filter(({ id }) => taskStanding(run, id) === "neverStarted");
  const needs = (id: string) => run.tasks.find((task) => task.id === id)!.dependencies;
  const workers = Object.values(run.workers);
  const order = run.tasks
    .map(({ id }, place) => ({ id, rank: outlineOf(run).ranks[place]! }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ id }) => id);
  const ready = new Set(
    waits.map(({ id }) => id).filter((id) => needs(id).every((need) => dependencyState(run, need) === "met")),
  );
  const count = (state: "met" | "lost") =>
    run.tasks
      .map(({ id }, place) => [place, needs(id).filter((need) => dependencyState(run, need) === state).length])
      .filter(([, found]) => found! > 0);
  return {
    met: count("met"),
    lost: count("lost"),
    ready: order.filter((id) => ready.has(id)),
    doomed: waits.map(({ id }) => id).filter((id) => needs(id).some((need) => dependencyState(run, need) === "lost")),
    unfinished: run.tasks.filter(({ id }) => ["active", "neverStarted"].includes(taskStanding(run, id))).length,
    active: workers.filter(({ session }) => session.state !== "over"),
    unmerged: workers
      .filter(({ status, merged }) => status === "completed" && merged === "not yet")
      .toSorted((a, b) => a.completedAt! - b.completedAt! || (a.taskId < b.taskId ? -1 : 1)),
    waiting: workers.filter(({ status, notBefore }) => status === "pending" && notBefore !== null),
    sessions: Object.fromEntries(workers.map(({ sessionId, taskId }) => [sessionId, taskId])),
    questions: Object.values(run.inbox).filter(
      ({ sessionId, expiresAt }) => sessionId !== null || expiresAt !== undefined,
    ),
  };
}

function shown({ met, lost, ready, doomed, ...rest }: OpenWork) {
  return { ...rest, ready: ready.values(), doomed: doomed.values(), met: counts(met), lost: counts(lost) };
}

function counts(map: NumberMap<number>): [number, number][] {
  const all: [number, number][] = [];
  map.some((count, place) => all.push([place, count]) === 0);
  return all;
}

describe("`openWork`", () => {
  it("equals a full scan and a rebuilt index after every step", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (before, { run }) => {
          expect(shown(openWork(run))).toEqual(lookEverywhere(run));
          // A plan that is a copy has no known index.
          expect(shown(openWork({ ...run, tasks: [...run.tasks] }))).toEqual(shown(openWork(run)));
          expect(shown(openWork(before))).toEqual(lookEverywhere(before));
        });
      }),
    );
  });

  it("is the same whether it is read after every event or only at the end", () => {
    fc.assert(
      fc.property(settings, fc.nat({ max: 10 }), (setting, every) => {
        const { log } = walk(setting, () => {});
        let run: Run | null = null;
        for (const [i, event] of log.entries()) {
          run = apply(run, event);
          if (i % (every + 1) === every) expect(shown(openWork(run))).toEqual(lookEverywhere(run));
        }
        expect(shown(openWork(run!))).toEqual(lookEverywhere(run!));
      }),
    );
  });

  it("is the same in whatever order the states of a run are read", () => {
    fc.assert(
      fc.property(settings, fc.array(fc.nat(), { maxLength: 20 }), (setting, order) => {
        const { log } = walk(setting, () => {});
        const states: Run[] = [];
        for (const event of log) states.push(apply(states.at(-1) ?? null, event));
        for (const each of order) {
          const run = states[each % states.length]!;
          expect(shown(openWork(run))).toEqual(lookEverywhere(run));
        }
      }),
    );
  });

  it("can be advanced in two ways from one state", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    const fork = story.run;
    story.succeed("a");
    const done = story.run;
    story.run = fork;
    story.answerWorker("a", { phase: "completion", data: { task_id: "a", status: "failed" } });
    for (const run of [fork, done, story.run, fork]) expect(shown(openWork(run))).toEqual(lookEverywhere(run));
  });

  it("counts every dependency edge once", () => {
    const wide = Array.from({ length: 100 }, (_, i): PlannedTask => ({ id: `w${i}`, dependencies: ["root"] }));
    const join = { id: "join", dependencies: wide.map(({ id }) => id) };
    const story = new Story(makeTemplate({ config: { maxWorkers: 20 } })).execute([{ id: "root" }, ...wide, join]);
    const finish = (id: string) => {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    };
    expect(openWork(story.run).ready.values()).toEqual(["root"]);
    finish("root");
    expect(openWork(story.run).ready.size).toBe(100);
    expect(schedule(story.run, { freeSlots: 99 }, story.now).spawn).toHaveLength(20);
    for (const { id } of wide.slice(1)) finish(id);
    expect(openWork(story.run).ready.values()).toEqual(["w0"]);
    finish("w0");
    expect(openWork(story.run).ready.values()).toEqual(["join"]);
  });

  it("knows only the session of the newest attempt", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    expect(workerOfSession(story.run, sessionId)?.taskId).toBe("a");
    story.do({ type: "lost", sessionId, reason: "gone", counted: true });
    expect(workerOfSession(story.run, sessionId)?.taskId).toBe("a");
    story.spawn("a");
    expect(workerOfSession(story.run, sessionId)).toBeUndefined();
    expect(workerOfSession(story.run, story.run.workers["a"]!.sessionId)?.attempt).toBe(2);
  });
});
