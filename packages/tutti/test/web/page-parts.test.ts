// Modules of the page that need no browser.
import { describe, expect, test } from "vitest";
import { curve, layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey } from "../../../web/src/graph/layout.ts";
import { orderRuns } from "../../../web/src/list/order-runs.ts";
import { steps } from "../../../web/src/run/phases.ts";
import { agentName, duration } from "../../../web/src/text/format.ts";
import { bounded, visible } from "../../../web/src/text/safe-text.ts";
import { splitBlocks, wordsOf } from "../../../web/src/transcript/split-blocks.ts";
import type { ListedRun, WaitingItem } from "../../src/client/run-summary.ts";
import { makeTemplate, Story } from "../run/make-run.ts";

describe("`layOut`", () => {
  const plan = [
    { id: "a", dependencies: [] },
    { id: "b", dependencies: ["a"] },
    { id: "c", dependencies: ["b"] },
    { id: "d", dependencies: ["a", "c"] },
  ];

  test("puts every task to the right of its dependencies", () => {
    const { nodes } = layOut(plan);
    for (const { id, dependencies } of plan) {
      for (const from of dependencies) expect(nodes.get(from)!.x + NODE_WIDTH).toBeLessThan(nodes.get(id)!.x);
    }
  });

  test("routes an edge around the tasks between its ends", () => {
    const { nodes, edges } = layOut(plan);
    const long = edges.find(({ from, to }) => from === "a" && to === "d")!;
    for (const id of ["b", "c"]) {
      const { x, y } = nodes.get(id)!;
      const beside = long.points.filter((point) => point.x >= x && point.x <= x + NODE_WIDTH);
      expect(beside.length).toBeGreaterThan(0);
      for (const point of beside) expect(point.y < y || point.y > y + NODE_HEIGHT).toBe(true);
    }
    expect(curve(long.points)).toMatch(/^M[\d.]+ [\d.]+(C([\d.]+ ?){6})+$/);
  });

  test("depends only on ids and dependencies, and draws an invalid plan too", () => {
    expect(shapeKey([{ ...plan[0]!, title: "x" } as never])).toBe(shapeKey([plan[0]!]));
    expect(shapeKey(plan)).not.toBe(shapeKey(plan.slice(1)));
    const { nodes } = layOut([
      { id: "a", dependencies: ["b", "nowhere", "a"] },
      { id: "b", dependencies: ["a"] },
      { id: "b", dependencies: [] },
    ]);
    expect([...nodes.keys()]).toEqual(["a", "b"]);
  });
});

describe("Untrusted text", () => {
  test("is shown with its bidi and control characters escaped", () => {
    expect(visible("a\u202Eb\u2066c\u0007\u0000")).toBe(String.raw`a\u202eb\u2066c\u0007\u0000`);
    expect(visible("\u001b[1;31mred\u001b[0m\r\nline\tend")).toBe("red\nline\tend");
    expect(visible("שלום 你好 👩‍👩‍👧 é")).toBe("שלום 你好 👩‍👩‍👧 é");
  });

  test("is truncated, but never within a surrogate pair", () => {
    expect(bounded("abc", 3)).toBe("abc");
    expect(bounded("abcd", 3)).toBe("abc …");
    expect(bounded("ab👍", 3)).toBe("ab …");
  });
});

describe("Text of an agent", () => {
  const format = { delimiterStart: "<<", delimiterEnd: ">>" };

  test("is split into words and reports", () => {
    expect(splitBlocks('before << {"phase": "task_list"} >> after', format)).toEqual([
      { kind: "words", text: "before" },
      { kind: "report", phase: "task list", text: '{"phase": "task_list"}' },
      { kind: "words", text: "after" },
    ]);
    expect(splitBlocks("an << open one", format)).toEqual([{ kind: "words", text: "an << open one" }]);
  });

  test("is previewed without its reports, even if a report is cut off", () => {
    expect(wordsOf("I am << {} >> here", format)).toBe("I am here");
    expect(wordsOf("I am << {", format)).toBe("I am");
  });
});

test("`orderRuns` puts runs that wait for the user first, then the newest", () => {
  const run = (id: string, status: string, createdAt: string) => ({ id, status, createdAt }) as ListedRun;
  const runs = [
    run("old", "running", "2026-01-01"),
    run("asks", "running", "2026-01-02"),
    run("new", "error", "2026-01-04"),
  ];
  const plan = run("plan", "confirming", "2026-01-03");
  const { needsYou, others, questions } = orderRuns([...runs, plan], [
    { kind: "question", run: "asks" },
    { kind: "plan", run: "plan" },
  ] as WaitingItem[]);
  expect(needsYou.map(({ id }) => id)).toEqual(["plan", "asks"]);
  expect(others.map(({ id }) => id)).toEqual(["new", "old"]);
  expect([...questions]).toEqual([["asks", 1]]);
});

test("A phase that the template disables is skipped, not done", () => {
  const { run } = new Story(makeTemplate());
  const states = (status: object) => steps({ ...run, ...status }).map(({ state }) => state);
  expect(states({})).toEqual(["ahead", "ahead", "ahead", "ahead", "skipped"]);
  expect(states({ status: "confirming", currentPhase: "taskPlanning" })).toEqual([
    "done",
    "waiting",
    "ahead",
    "ahead",
    "skipped",
  ]);
  expect(states({ status: "error", currentPhase: "analysis" })[0]).toBe("stopped");
  expect(states({ status: "completed", currentPhase: "aggregation" }).slice(3)).toEqual(["skipped", "skipped"]);
});

test("`duration` and `agentName` return short texts", () => {
  expect([400, 61_000, 3_723_000].map(duration)).toEqual(["<1s", "1m 01s", "1h 02m"]);
  expect(agentName("command:/usr/local/bin/my-agent --fast")).toBe("command:my-agent");
  expect(agentName("cdp:http://127.0.0.1:9222")).toBe("cdp:http://127.0.0.1:9222");
  expect(agentName("local")).toBe("local");
});
