import fc from "fast-check";
import { makeTemplate, Story } from "./make-run.ts";
import { describe, expect, it } from "vitest";
import { dependenciesOf, foundationOf } from "../../src/run/plan/dependencies-of.ts";
import { findCycle, parallelGroups, planErrors } from "../../src/run/plan/graph.ts";
import { readPlan, readPriority } from "../../src/run/plan/plan.ts";
import type { Task } from "../../src/schema/task.ts";

const task = (id: string, ...dependencies: string[]): Task => ({
  id,
  title: id,
  description: id,
  scope: [],
  priority: 5,
  dependencies,
});

describe("A plan", () => {
  it("lists every reason why it is invalid", () => {
    expect(planErrors([])).toEqual(["the plan has no task"]);
    expect(planErrors([task("a"), task("a")])).toEqual(["two tasks have the id a"]);
    expect(planErrors([task("a", "ghost")])).toEqual(["task a depends on ghost, which is not in the plan"]);
    expect(planErrors([task("a", "c"), task("b", "a"), task("c", "b")])).toEqual([
      "the dependencies form a cycle: a → c → b → a",
    ]);
    expect(planErrors([task("a", "a")])).toEqual(["the dependencies form a cycle: a → a"]);
    expect(planErrors([task("a"), task("b", "a")])).toEqual([]);
  });

  it("may chain a hundred thousand tasks", () => {
    const chain = Array.from({ length: 100_000 }, (_, i) => task(`t${i}`, ...(i === 0 ? [] : [`t${i - 1}`])));
    expect(findCycle(chain)).toBeNull();
    expect(parallelGroups(chain)).toHaveLength(100_000);
  });

  it("is grouped so that each task follows directly after the last of its dependencies", () => {
    const plan = [task("1"), task("2"), task("3"), task("4", "1", "2"), task("5", "4")];
    expect(parallelGroups(plan)).toEqual([["1", "2", "3"], ["4"], ["5"]]);
    fc.assert(
      fc.property(dags, (tasks) => {
        const groups = parallelGroups(tasks);
        const level = new Map(groups.flatMap((group, i) => group.map((id) => [id, i] as const)));
        expect(level.size).toBe(tasks.length);
        for (const each of tasks) {
          const needed = each.dependencies.map((id) => level.get(id)!);
          expect(level.get(each.id)).toBe(needed.length === 0 ? 0 : Math.max(...needed) + 1);
        }
      }),
    );
  });

  it("builds each task on its dependencies and on theirs, in whatever order it is asked", () => {
    const plan = [task("e", "d", "a"), task("d", "c"), task("c", "b"), task("b", "a"), task("a")];
    const asked = { ...new Story().execute([{ id: "a" }]).run, tasks: plan };
    expect(dependenciesOf(asked, "e")).toEqual(["d", "a", "c", "b"]);
    const ids = Array.from({ length: 100 }, (_, place) => `t${place}`);
    const chain = { ...asked, tasks: ids.map((id, place) => task(id, ...ids.slice(Math.max(0, place - 1), place))) };
    expect([...foundationOf(chain, "t99")]).toEqual(ids.slice(0, 99));
    const { run } = new Story().execute([{ id: "a" }]);
    fc.assert(
      fc.property(shuffledDags, ({ tasks, shuffled }) => {
        const planned = { ...run, tasks };
        for (const { id } of shuffled) {
          const found = new Set(dependenciesOf(planned, id));
          const foundation = foundationOf(planned, id);
          expect([...foundation]).toEqual(tasks.map((each) => each.id).filter((other) => found.has(other)));
          expect(tasks.filter((each) => foundation.has(each.id))).toHaveLength(found.size);
        }
      }),
    );
  });

  it("is valid exactly if it can be sorted topologically", () => {
    fc.assert(
      fc.property(dags, (tasks) => {
        expect(planErrors(tasks)).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(graphs, (tasks) => {
        const placed = parallelGroups(tasks).flat().length;
        expect(findCycle(tasks) === null).toBe(placed === tasks.length);
      }),
    );
  });

  it("accepts task ids of every protocol and rejects ids that cannot be displayed or stored", () => {
    const plan = (id: string) => readPlan({ tasks: [{ id, title: "t", description: "d" }] }, makeTemplate()).errors;
    for (const id of ["task_001", "task-001", "API-SPEC-001", "dev_chat_msg_001", "a.b"]) expect(plan(id)).toEqual([]);
    for (const id of [
      "",
      "a b",
      "../x",
      "a/b",
      "x".repeat(101),
      "ä",
      "main",
      "-a",
      "toString",
      "constructor",
      "valueOf",
    ])
      expect(plan(id), id).not.toEqual([]);
  });

  it("reads priorities as numbers or words, with 1 as the most urgent (X01, X02)", () => {
    expect(
      [undefined, "critical", "high", "medium", "normal", "low", 3, -4, 99].map((value) =>
        readPriority(value as number),
      ),
    ).toEqual([5, 1, 2, 5, 5, 8, 3, 1, 10]);
  });
});

/** Tasks that depend only on earlier ones. */
const dags: fc.Arbitrary<Task[]> = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 70, size: "max" })
  .map((rows) =>
    rows.map((picks, i) => task(`t${i}`, ...(i === 0 ? [] : new Set(picks.map((pick) => `t${pick % i}`))))),
  );

const shuffledDags = dags.chain((tasks) =>
  fc.record({ tasks: fc.constant(tasks), shuffled: fc.shuffledSubarray(tasks, { minLength: tasks.length }) }),
);

/** Tasks that may depend on any task. */
const graphs: fc.Arbitrary<Task[]> = fc
  .array(fc.array(fc.nat(), { maxLength: 2 }), { minLength: 1, maxLength: 12 })
  .map((rows) => rows.map((picks, i) => task(`t${i}`, ...new Set(picks.map((pick) => `t${pick % rows.length}`)))));
