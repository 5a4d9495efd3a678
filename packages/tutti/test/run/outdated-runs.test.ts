import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outdatedRuns, type KeepRules } from "../../src/run/fold/outdated-runs.ts";
import { isRunOver, RUN_STATUSES, type RunStatus } from "../../src/schema/status.ts";

const DAY = 24 * 60 * 60 * 1000;
const now = 100 * DAY;
const row = (id: string, daysAgo: number, status: RunStatus = "completed") => ({
  id,
  status,
  updatedAt: now - daysAgo * DAY,
});
const outdated = (rows: ReturnType<typeof row>[], keep: KeepRules, waiting: string[] = []) =>
  outdatedRuns(rows, (id) => waiting.includes(id), keep, now);

describe("`outdatedRuns`", () => {
  const rows = [row("d", 1), row("a", 40, "error"), row("c", 20, "cancelled"), row("b", 31), row("old", 90, "paused")];

  it.each<[KeepRules, string[]]>([
    [{}, []],
    [{ days: 30 }, ["a", "b"]],
    [{ keepRuns: 1 }, ["a", "b", "c"]],
    [{ days: 30, keepRuns: 3 }, ["a"]],
    [{ days: 10, keepRuns: 0 }, ["a", "b", "c"]],
    [{ keepRuns: 10 }, []],
  ])("selects by %j, oldest first", (keep, ids) => {
    expect(outdated(rows, keep)).toEqual(ids);
  });

  it("never selects a run with open inbox items", () => {
    expect(outdated(rows, { days: 30 }, ["a"])).toEqual(["b"]);
  });

  it("selects exactly the ended runs that no rule keeps", () => {
    const rowsOf = fc.uniqueArray(
      fc.record({
        id: fc.string(),
        status: fc.constantFrom(...RUN_STATUSES),
        updatedAt: fc.integer({ min: 0, max: now }),
      }),
      { selector: ({ id }) => id },
    );
    const number = fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined });
    fc.assert(
      fc.property(rowsOf, number, number, (given, days, keepRuns) => {
        const found = new Set(outdatedRuns(given, () => false, { days, keepRuns }, now));
        const removed = given.filter(({ id }) => found.has(id));
        const kept = given.filter(({ id, status }) => !found.has(id) && isRunOver(status));
        expect(removed.every(({ status }) => isRunOver(status))).toBe(true);
        if (days !== undefined) expect(removed.every(({ updatedAt }) => updatedAt < now - days * DAY)).toBe(true);
        if (keepRuns !== undefined && removed.length > 0) expect(kept.length).toBeGreaterThanOrEqual(keepRuns);
        const newest = Math.max(0, ...removed.map(({ updatedAt }) => updatedAt));
        if (days === undefined && keepRuns !== undefined)
          expect(kept.every(({ updatedAt }) => updatedAt >= newest)).toBe(true);
      }),
    );
  });
});
