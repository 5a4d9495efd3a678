// Two tasks that change the same lines, with real git and a stored log: the final merge, and a task that builds on both.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { InboxItem } from "../../src/schema/inbox.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
  writeFileSync(join(lab.repo, "same.md"), text("top", "middle", "end"));
  lab.git("add", "same.md");
  lab.git("commit", "--quiet", "-m", "a file for everybody");
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

/** `top` is in conflict. Only one task changes `middle`, and only two changes `end`. */
const text = (top: string, middle: string, end: string): string =>
  [top, ...Array<string>(5).fill("same"), middle, ...Array<string>(5).fill("same"), end].join("\n");

const writes = (task: string, same: string) =>
  worker(task, { write: { "same.md": same, [`${task}.md`]: task }, block: done({}) });
const ONE = writes("one", text("top of one", "middle of one", "end"));
const TWO = writes("two", text("top of two", "middle", "end of two"));
const THREE = writes("three", text("top of three", "middle of one", "end of two"));
const BOTH = [{ id: "one" }, { id: "two" }];
const ALL = [...BOTH, { id: "three", dependencies: ["one", "two"] }];

type Resolution = Run["template"]["phases"]["aggregation"]["conflictResolution"];

const merging = (...turns: object[]) => ({ match: { role: "main", phase: "aggregation" }, turns });
const settles = (top: string) => ({
  write: { "same.md": text(top, "middle of one", "end of two") },
  block: {
    phase: "aggregation",
    data: {
      status: "success",
      summary: "took the best of both",
      conflicts: [{ type: "file_conflict", files: ["same.md"], resolution: `chose ${top}` }],
    },
  },
});
const accepts = { block: { phase: "aggregation", data: { status: "success", summary: "all fits" } } };
const fails = { block: { phase: "aggregation", data: { status: "failed", error: "too difficult" } } };

const agentFor = (tasks: typeof ALL, ...turns: object[]): string => {
  const [analysis, plan] = mainSession(tasks) as [object, object];
  return lab.scenario([analysis, plan, merging(...turns), ONE, TWO, THREE]);
};

const begin = (engine: Engine, conflictResolution: Resolution, tasks: typeof ALL, ...turns: object[]) =>
  lab.begin(engine, agentFor(tasks, ...turns), {
    config: { autoSpawn: true, parallelExecution: false },
    phases: { aggregation: { conflictResolution } },
  });

const show = (commit: string, path: string): string => lab.git("show", `${commit}:${path}`);

const decision = (run: Run): InboxItem | undefined => Object.values(run.inbox).find(({ kind }) => kind === "decision");

async function decide(engine: Engine, id: string, option: number): Promise<InboxItem> {
  const item = decision(await engine.until(id, (run) => decision(run) !== undefined))!;
  await engine.order(id, "decide", { decisions: [{ index: item.index!, option }] });
  return item;
}

const TAKEN = { "first-wins": "top of one", "last-wins": "top of two" } as const;

describe("work that collides", () => {
  it.each(["first-wins", "last-wins"] as const)("is merged hunk by hunk with %s", async (resolution) => {
    const engine = lab.open();
    const run = await untilOver(engine, await begin(engine, resolution, BOTH, accepts));
    expect(run).toMatchObject({ outcome: "success", conflicts: [{ files: ["same.md"], resolution }] });
    expect(show(run.head!, "same.md")).toBe(text(TAKEN[resolution], "middle of one", "end of two"));
    expect([show(run.head!, "one.md"), show(run.head!, "two.md")]).toEqual(["one", "two"]);
  });

  it("is merged except for its side of the conflict with smart, and stays open until the main session names it", async () => {
    const engine = lab.open();
    const open = await untilOver(engine, await begin(engine, "smart", BOTH, accepts));
    expect(open).toMatchObject({ outcome: "degraded", conflicts: [{ files: ["same.md"], resolution: null }] });
    expect(show(open.head!, "same.md")).toBe(text("top of one", "middle of one", "end of two"));
    expect([show(open.head!, "one.md"), show(open.head!, "two.md")]).toEqual(["one", "two"]);
    const settled = await untilOver(engine, await begin(engine, "smart", BOTH, settles("top of both")));
    expect(settled).toMatchObject({ outcome: "success", conflicts: [{ resolution: "chose top of both" }] });
    expect(show(settled.head!, "same.md")).toBe(text("top of both", "middle of one", "end of two"));
  });

  it.each([{ conflictResolution: "ask" }, { mergeStrategy: "manual", conflictResolution: "first-wins" }] as const)(
    "is merged except for its side of the conflict with %j, until the user has decided",
    async (aggregation) => {
      const engine = lab.open();
      const config = { autoSpawn: true, parallelExecution: false };
      const agent = agentFor(BOTH, accepts, settles("top of two"));
      const id = await lab.begin(engine, agent, { config, phases: { aggregation } });
      const { question, evidence } = await decide(engine, id, 1);
      const run = await untilOver(engine, id);
      expect(question).toBe("one and two made conflicting changes to same.md");
      const { sides } = evidence as { sides: { ref: string }[] };
      const tops = sides.map(({ ref }) => show(ref, "same.md").split("\n")[0]);
      expect(tops).toEqual(["top of one", "top of two"]);
      expect(run).toMatchObject({
        outcome: "success",
        conflicts: [{ resolution: `${question}: take the version of two` }],
      });
      expect(show(run.head!, "same.md")).toBe(text("top of two", "middle of one", "end of two"));
      expect([show(run.head!, "one.md"), show(run.head!, "two.md")]).toEqual(["one", "two"]);
    },
  );
});

describe("work on the same file", () => {
  it("without a conflict is an overlap, which does not spoil the success", async () => {
    const engine = lab.open();
    const [analysis, plan] = mainSession(ALL) as [object, object];
    const one = writes("one", text("top", "middle of one", "end"));
    const two = writes("two", text("top", "middle", "end of two"));
    const id = await lab.begin(engine, lab.scenario([analysis, plan, merging(accepts), one, two, THREE]), {
      config: { autoSpawn: true },
    });
    const run = await untilOver(engine, id);
    expect(show(run.workers["three"]!.session.start!, "same.md")).toBe(text("top", "middle of one", "end of two"));
    const refs = ["one", "two"].map((task) => `refs/tutti/${id}/${task}/1`);
    // `three` builds on both, so it overlaps with neither.
    expect(await engine.result(id)).toMatchObject({
      outcome: "success",
      conflicts: [{ type: "overlap", files: ["same.md"], tasks: ["one", "two"], resolution: "merged", refs }],
    });
  });
});

/** The start of `three` has the work of both tasks with this top, and its own change of the top is in the result. */
function expectBuiltOn(run: Run, top: string): void {
  const { start } = run.workers["three"]!.session;
  expect(show(start!, "same.md")).toBe(text(top, "middle of one", "end of two"));
  expect([show(start!, "one.md"), show(start!, "two.md")]).toEqual(["one", "two"]);
  expect(show(run.head!, "same.md")).toBe(text("top of three", "middle of one", "end of two"));
  expect([show(run.head!, "one.md"), show(run.head!, "two.md")]).toEqual(["one", "two"]);
  expect(run.conflicts).toHaveLength(1);
  expect(run.workers["three"]).toMatchObject({ status: "completed", attempt: 1 });
}

describe("a task whose dependencies collide", () => {
  it.each(["first-wins", "last-wins"] as const)("starts with %s, and what it changes is merged", async (resolution) => {
    const engine = lab.open();
    const run = await untilOver(engine, await begin(engine, resolution, ALL, accepts));
    expect(run).toMatchObject({ outcome: "success", conflicts: [{ resolution }] });
    expectBuiltOn(run, TAKEN[resolution]);
  });

  it("starts with smart after the main session has settled the conflict", async () => {
    const store = new MemoryStore();
    const engine = lab.open(store);
    const id = await begin(engine, "smart", ALL, settles("top of both"), accepts);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", conflicts: [{ resolution: "chose top of both" }] });
    expectBuiltOn(run, "top of both");
    const types = store.read({}).map(({ type }) => type);
    const order = ["workspace:conflict", "workspace:repairing", "workspace:repaired", "orchestrator:aggregated"];
    expect(types.filter((type) => order.includes(type))).toEqual(order);
    const prompts = (await engine.transcript(id, run.mainSessionId!)).filter(({ type }) => type === "prompt");
    expect(JSON.stringify(prompts[2])).toContain(`refs/tutti/${id}/two/1`);
  });

  it("starts with ask after the user has decided and the main session has carried it out", async () => {
    const engine = lab.open();
    const id = await begin(engine, "ask", ALL, settles("top of two"), accepts);
    await decide(engine, id, 1);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success" });
    expect(run.conflicts[0]!.resolution).toContain("take the version of two");
    expectBuiltOn(run, "top of two");
    const prompts = (await engine.transcript(id, run.mainSessionId!)).filter(({ type }) => type === "prompt");
    expect(JSON.stringify(prompts[2])).toContain("take the version of two");
  });

  it("waits for the user if the main session cannot settle the conflict", async () => {
    const engine = lab.open();
    const id = await begin(engine, "smart", ALL, fails, settles("top of two"), accepts);
    await decide(engine, id, 1);
    expectBuiltOn(await untilOver(engine, id), "top of two");
  });

  it("can be retried after the repair", async () => {
    const engine = lab.open();
    const [analysis, plan] = mainSession(ALL) as [object, object];
    const broken = worker("three", {
      tools: ["Read"],
      block: { phase: "completion", data: { status: "failed", task_id: "{TASK_ID}", error: "a bad day" } },
    });
    const again = { ...THREE, match: { role: "worker", task: "three", attempt: 2 } };
    const reopened = { ...merging(accepts), match: { role: "main", phase: "aggregation", attempt: 2 } };
    const main = [analysis, plan, reopened, merging(settles("top of both"), accepts)];
    const agent = lab.scenario([...main, ONE, TWO, again, broken]);
    const id = await lab.begin(engine, agent, {
      config: { autoSpawn: true, parallelExecution: false, autoRetry: false },
      phases: { aggregation: { conflictResolution: "smart" } },
    });
    expect(await untilOver(engine, id)).toMatchObject({ outcome: "degraded" });
    await engine.order(id, "retry", { taskId: "three" });
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", workers: { three: { attempt: 2 } } });
    expect(show(run.head!, "same.md")).toBe(text("top of three", "middle of one", "end of two"));
  });

  it("does not wait for the branch if its dependencies changed different files", async () => {
    const engine = lab.open();
    const [analysis, plan] = mainSession(ALL) as [object, object];
    const apart = worker("*", { write: { "{TASK_ID}.md": "apart" }, block: done({}) });
    const agent = lab.scenario([analysis, plan, merging(accepts), apart]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true, parallelExecution: false } });
    const run = await untilOver(engine, id);
    const { start } = run.workers["three"]!.session;
    expect(lab.git("log", "-1", "--format=%s", start!)).toBe(`Combine the dependencies of three of ${id}`);
  });
});

/** Workspaces of an engine that stops after git has made a merge, before the log records it. */
function stoppingAt(isLast: (message: string) => boolean) {
  const real = createGitWorkspaces({ folder: join(lab.data, "worktrees") });
  const stopped = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const integrate: typeof real.integrate = async (cwd, runId, head, merge) => {
    const merged = await real.integrate(cwd, runId, head, merge);
    if (!isLast(merge.message)) return merged;
    stopped.resolve();
    await end.promise;
    return merged;
  };
  return { workspaces: { ...real, integrate }, stopped: stopped.promise, end: end.resolve };
}

describe("a crash between a merge and its record", () => {
  it.each([
    ["first-wins", "Merge two", "top of one"],
    ["last-wins", "Merge two", "top of two"],
    ["smart", "Merge two", "top of both"],
    ["smart", "Result of", "top of both"],
  ] as const)("with %s at %j loses nothing and merges nothing twice", async (resolution, message, top) => {
    const disk = newMemoryDisk();
    const { workspaces, stopped, end } = stoppingAt((each) => each.startsWith(message));
    const first = lab.open(new MemoryStore(disk), { workspaces });
    const turns = resolution === "smart" ? [settles("top of both"), accepts] : [accepts];
    const id = await begin(first, resolution, ALL, ...turns);
    await stopped;
    const engine = lab.open(new MemoryStore(disk));
    await engine.activate(id);
    const run = await untilOver(engine, id);
    // The store rejects what the first engine still wants to record.
    end();
    expect(run.outcome).toBe("success");
    expectBuiltOn(run, top);
    expect(run.movedRefs ?? []).toEqual([]);
    const merges = lab.git("log", "--first-parent", "--format=%s", run.head!).split("\n");
    expect(merges.filter((each) => each.startsWith("Merge two"))).toHaveLength(1);
  });
});
