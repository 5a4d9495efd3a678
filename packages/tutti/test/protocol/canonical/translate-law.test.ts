import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CanonicalMessage } from "../../../src/protocol/canonical/canonical-message.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import type { Protocol } from "../../../src/protocol/canonical/protocol-name.ts";
import { writeMessage } from "../../../src/protocol/canonical/read-message.ts";
import { fromCanonical, toCanonical } from "../../../src/protocol/canonical/translate.ts";
import type { Loss } from "../../../src/protocol/canonical/translate.ts";
import { ARBITRARY_MESSAGES } from "./arbitrary-message.ts";
import { CARRIES, MEANING } from "./meaning.ts";

const at = "2026-01-01T00:00:00.000Z";
const RUNS = { numRuns: 200 };
const pairs = PROTOCOLS.flatMap((from) => PROTOCOLS.map((to) => [from, to] as const));

const rootOf = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? "";

/** Returns the text of all values that are neither an object nor a list, and of empty ones, by path. */
function leaves(value: unknown, path: string[] = []): Map<string, string> {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    return new Map(Object.entries(value).flatMap(([name, each]) => [...leaves(each, [...path, name])]));
  }
  return new Map([[path.join("."), JSON.stringify(value)]]);
}

/** An object that lost all its members does not count as a separate change. */
function changedLeaves(before: unknown, after: unknown): string[] {
  const [left, right] = [leaves(before), leaves(after)];
  const changed = [...new Set([...left.keys(), ...right.keys()])].filter((path) => left.get(path) !== right.get(path));
  return changed.filter((path) => !changed.some((other) => other.startsWith(`${path}.`)));
}

/** True if an entry in `listed` explains the change of the member at this path. */
function isExplained(from: Protocol, kind: string, path: string, listed: Loss[]): boolean {
  const meanings = Object.entries(MEANING[from])
    .filter(([member]) => path === member || path.startsWith(`${member}.`))
    .map(([, meaning]) => (typeof meaning === "string" ? meaning : meaning[kind]));
  const isPart = (whole: string, part: string) => part === whole || part.startsWith(`${whole}.`);
  return listed.some((loss) => {
    const lostFromHere = isPart(loss.path, `raw.${path}`) || isPart(`raw.${path}`, loss.path);
    return lostFromHere || meanings.includes(rootOf(loss.path));
  });
}

describe.each(pairs)("from %s to %s and back", (from, to) => {
  it("returns the same message for all members that the other protocol carries, and lists the rest", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[from], (message) => {
        expect(writeMessage(from, message).message).not.toBeNull();
        const canonical = toCanonical(from, message);
        expect(CanonicalMessage.safeParse(canonical).error).toBeUndefined();
        const there = fromCanonical(to, canonical, { at });
        const carries = CARRIES[to][canonical.kind];
        if (!there.message) {
          const needsTask = to === "messages" && canonical.taskId === undefined;
          expect(carries === undefined || needsTask).toBe(true);
          expect(there.lost).toEqual([{ path: "", reason: expect.stringMatching(/\.$/) }]);
          return;
        }
        expect(writeMessage(to, there.message).problems.filter(({ severity }) => severity === "error")).toEqual([]);
        const listed = [...there.lost, ...there.filled];
        if (from === to) expect(listed).toEqual([]);
        for (const { path } of there.lost) expect(carries).not.toContain(rootOf(path));

        const back = fromCanonical(from, toCanonical(to, there.message), { at }).message;
        if (back === null) {
          // A review of the whole run names no task, and without a task it cannot be written as a rejection.
          expect(there.lost.map(({ path }) => path)).toContain("taskId");
          return;
        }
        const changed = changedLeaves(message, back);
        expect(changed.filter((path) => !isExplained(from, canonical.kind, path, listed))).toEqual([]);
        if (listed.length === 0) expect(back).toEqual(message);
      }),
      RUNS,
    );
  });

  it("lists no member as lost that arrives unchanged", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[from], (message) => {
        const canonical = toCanonical(from, message);
        const { message: there, lost, filled } = fromCanonical(to, canonical, { at });
        if (!there) return;
        const arrived = toCanonical(to, there);
        const changed = changedLeaves(
          { ...canonical, raw: 0, protocol: 0, extra: 0 },
          { ...arrived, raw: 0, protocol: 0, extra: 0 },
        );
        const foreign = canonical.extra.map(({ path }) => ["raw", ...path].join("."));
        for (const { path } of [...lost, ...filled]) {
          const dotted = path.replaceAll("[", ".").replaceAll("]", "");
          const differs = changed.some(
            (each) => each === dotted || each.startsWith(`${dotted}.`) || dotted.startsWith(`${each}.`),
          );
          expect(differs || foreign.includes(path), path).toBe(true);
        }
      }),
      RUNS,
    );
  });
});
