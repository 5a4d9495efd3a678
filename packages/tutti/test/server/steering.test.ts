import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let scenarios = 0;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const DONE = { success: true };
const order = (id: string, what: string, body?: unknown) => lab.post(`/api/orchestrator/${id}/${what}`, body);
const run = (id: string) => lab.engine.get(id)!;
const keyOf = (id: string, task: string) => run(id).workers[task]!.sessionId;

async function waitingPlan(tasks: ScriptedTask[], sessions: object[], more: object = {}): Promise<string> {
  const agent = lab.lab.scenario([...mainSession(tasks), ...sessions], `scenario-${++scenarios}.json`);
  const id = await lab.create(agent, { autoStart: true, ...more });
  await lab.until(id, ({ status }) => status === "confirming");
  return id;
}

const failing = (task: string, attempt: number) => ({
  match: { role: "worker", task, attempt },
  turns: [{ block: { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } } }],
});
const hanging = worker("*", { say: "hm", then: "hang" });

async function end(id: string): Promise<void> {
  await order(id, "cancel");
  await lab.until(id, ({ released }) => released);
}

describe("a run", () => {
  it("is paused and resumes in the same status and phase (D4-271, D4-461, D4-462)", async () => {
    const id = await waitingPlan([{ id: "a" }], [goodWorker]);
    expect((await order(id, "pause")).json).toEqual(DONE);
    const { json } = await lab.api(`/api/orchestrator/${id}`);
    expect(json).toMatchObject({
      status: "paused",
      _previousStatus: "confirming",
      _previousPhase: "taskPlanning",
      pausedFrom: { reason: "person", status: "confirming" },
    });
    expect((await order(id, "pause")).status).toBe(409);
    expect((await order(id, "confirm-tasks")).status).toBe(409);
    expect((await order(id, "resume")).json).toEqual(DONE);
    expect(run(id).status).toBe("confirming");
    await order(id, "confirm-tasks");
    expect((await lab.until(id, ({ released }) => released)).outcome).toBe("success");
  });

  it("that has ended loses its state and leaves the lists when it is deleted (D4-465)", async () => {
    const id = await waitingPlan([{ id: "a" }], [hanging]);
    await order(id, "confirm-tasks");
    await lab.until(id, ({ workers }) => workers["a"]?.status === "running");
    expect((await lab.delete(`/api/orchestrator/${id}`)).json).toEqual(DONE);
    expect((await lab.api(`/api/orchestrator/${id}`)).status).toBe(404);
    expect((await lab.api(`/api/orchestrator/${id}/events`)).status).toBe(404);
    expect(lab.stored().filter((frame) => frame.run === id)).toEqual([]);
  });

  it("keeps its state when it is deleted with removeState false, in the body or in the query (D4-465)", async () => {
    const id = await waitingPlan([{ id: "a" }], [goodWorker]);
    expect((await lab.delete(`/api/orchestrator/${id}?removeState=false&archiveWorkers=0`)).json).toEqual(DONE);
    expect(run(id).status).toBe("cancelled");
    const options = { removeState: false, deleteWorkers: true };
    expect((await lab.delete(`/api/orchestrator/${id}`, options)).json).toEqual(DONE);
    const frames = lab.stored().filter((frame) => frame.run === id);
    expect(frames.map(({ type }) => type)).toContain("workers:deleted");
    expect(frames.filter(({ type }) => type === "workers:archived").length).toBe(1);
    for (const wrong of ["?removeState=maybe", "?keep=1"]) {
      expect((await lab.delete(`/api/orchestrator/${id}${wrong}`)).status).toBe(400);
    }
    expect((await lab.delete(`/api/orchestrator/${id}`, { removeState: "no" })).status).toBe(400);
    expect(run(id).status).toBe("cancelled");
  });
});

describe("a run whose main session dies three times", () => {
  const dies = (phase: string) =>
    [1, 2, 3].map((attempt) => ({ match: { role: "main", phase, attempt }, turns: [{ then: "crash" }] }));

  it("waits with an inbox item, and continues by a retry without a task, a resume or the answer", async () => {
    for (const way of ["retry", "resume", "answer"]) {
      const sessions = [...dies("analysis"), ...mainSession([{ id: "a" }]), goodWorker];
      const agent = lab.lab.scenario(sessions, `scenario-${++scenarios}.json`);
      const id = await lab.create(agent, { autoStart: true });
      await lab.until(id, ({ status }) => status === "paused");
      const { json: items } = await lab.api(`/api/inbox`);
      const item = items.find(({ run }: { run: string }) => run === id);
      expect(item).toMatchObject({ kind: "failure", taskId: null, options: ["try it again", "cancel the run"] });
      const body = way === "retry" ? { taskId: null } : undefined;
      const given = way === "answer" ? lab.post(`/api/inbox/${item.id}`, { option: 0 }) : order(id, way, body);
      expect((await given).status).toBe(200);
      await lab.until(id, ({ status }) => status === "confirming");
      expect((await order(id, "retry", { taskId: null })).status).toBe(409);
      await end(id);
    }
  });
});

describe("a plan", () => {
  it("is confirmed with skips, priorities, edits, additions and removals (D4-464)", async () => {
    const id = await waitingPlan(
      [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c", dependencies: ["x"] }, { id: "x" }],
      [goodWorker],
    );
    const { json: items } = await lab.api("/api/inbox");
    const { hash } = items.find((item: { run: string }) => item.run === id);
    const stale = await order(id, "confirm-tasks", { hash: "of another plan" });
    expect([stale.status, run(id).status]).toEqual([409, "confirming"]);
    const { status, json } = await order(id, "confirm-tasks", {
      modifications: {
        a: { skip: true, satisfied: true },
        b: { priority: 1, title: "Better", description: "Do it well", scope: ["docs"] },
        c: { dependencies: [] },
      },
      added: [{ id: "d", title: "One more", description: "Do it too" }],
      removed: ["x"],
      budget: { usd: 5 },
      hash,
    });
    expect(status).toBe(200);
    expect(json).toEqual({ workersCreated: expect.any(Number), tasksQueued: expect.any(Number), skipped: 1 });
    expect(json.workersCreated + json.tasksQueued).toBe(3);
    const over = await lab.until(id, ({ released }) => released);
    expect(over.tasks.map((task) => task.id)).toEqual(["a", "b", "c", "d"]);
    expect(over.tasks[1]).toMatchObject({ priority: 1, title: "Better", description: "Do it well", scope: ["docs"] });
    expect([over.skipped, over.budget, over.outcome]).toEqual([{ a: { satisfied: true } }, { usd: 5 }, "success"]);
    const { json: result } = await lab.api(`/api/orchestrator/${id}/result`);
    expect(result.census).toMatchObject({ planned: 4, completed: 3, skipped: 1 });
  });

  it("blocks tasks that depend on a skipped task unless that counts as done (D4-464)", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }], [goodWorker]);
    await order(id, "confirm-tasks", { modifications: { a: { skip: true } } });
    const over = await lab.until(id, ({ released }) => released);
    expect([over.blocked, over.outcome]).toEqual([{ b: ["a"] }, "degraded"]);
  });

  it("assigns agents and models to tasks; an agent that does not exist is rejected", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b" }], [goodWorker]);
    const unknown = await order(id, "confirm-tasks", { modifications: { a: { agent: "nobody" } } });
    expect([unknown.status, unknown.json.error.code, run(id).status]).toEqual([422, "agent_unknown", "confirming"]);
    const agent = lab.lab.scenario([goodWorker], "assigned.json");
    expect((await order(id, "confirm-tasks", { modifications: { a: { agent, model: "small" } } })).status).toBe(200);
    const over = await lab.until(id, ({ released }) => released);
    expect(over.workers["a"]!.session).toMatchObject({ agent, model: "small" });
    const { json } = await lab.api(`/api/orchestrator/${id}`);
    expect(json.workerStates.a.task).toMatchObject({ agent, model: "small" });
  });

  it("rejects invalid changes and stays unchanged", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b", dependencies: ["a"] }], [goodWorker]);
    const refused: [number, object][] = [
      [400, { modifications: { a: { skip: "yes" } } }],
      [400, { modifications: { a: { priority: 11 } } }],
      [400, { modifications: { a: { done: true } } }],
      [400, { added: [{ id: "c" }] }],
      [400, { removed: "a" }],
      [400, { modifications: { a: { model: "--unsafe" } } }],
      [400, { budget: { usd: -1 } }],
      [400, { changes: {} }],
      [422, { modifications: { z: { skip: true } } }],
      [422, { modifications: { a: { dependencies: ["b"] } } }],
      [422, { removed: ["a"] }],
      [422, { added: [{ id: "a", title: "A", description: "again" }] }],
    ];
    const seqBefore = lab.engine.lastSeq();
    for (const [expected, body] of refused) {
      const { status, json } = await order(id, "confirm-tasks", body);
      const code = expected === 400 ? "invalid_input" : "invalid_plan";
      expect([status, json.error.code], JSON.stringify(body)).toEqual([expected, code]);
    }
    expect(lab.engine.lastSeq()).toBe(seqBefore);
    await end(id);
  });

  it("is changed without being confirmed, and reviewed again", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b" }], [goodWorker]);
    const [seen] = Object.values(run(id).inbox);
    const edit = (body: object) => order(id, "edit-plan", body);
    expect((await edit({ modifications: { a: { skip: true } } })).status).toBe(400);
    expect((await edit({ removed: ["z"] })).json.error.code).toBe("invalid_plan");
    expect((await edit({ removed: ["b"], hash: "of another plan" })).status).toBe(409);
    const body = { modifications: { a: { title: "Shorter" } }, removed: ["b"], hash: seen!.hash };
    expect((await edit(body)).json).toEqual(DONE);
    expect(run(id)).toMatchObject({ status: "confirming", tasks: [{ id: "a", title: "Shorter" }] });
    const [item] = Object.values(run(id).inbox);
    expect(item).toMatchObject({ kind: "plan", question: "Carry out this plan of 1 task?" });
    expect(item!.hash).not.toBe(seen!.hash);
    expect((await order(id, "confirm-tasks", { hash: seen!.hash })).status).toBe(409);
    expect((await order(id, "confirm-tasks", { hash: item!.hash })).status).toBe(200);
    await end(id);
    expect((await edit({ removed: ["a"] })).status).toBe(409);
  });

  it("is made again with the changes that the user requests", async () => {
    const gate = lab.lab.gate();
    const [analysis, planning, ...others] = mainSession([{ id: "a" }]) as { turns: object[] }[];
    const turns = [...planning!.turns, { ...planning!.turns[0], waitForFile: gate.file }];
    const agent = lab.lab.scenario([analysis!, { ...planning, turns }, ...others, goodWorker]);
    const id = await lab.create(agent, { autoStart: true });
    await lab.until(id, ({ status }) => status === "confirming");
    expect((await order(id, "request-changes", { text: " " })).status).toBe(400);
    expect((await order(id, "request-changes")).status).toBe(400);
    expect((await order(id, "request-changes", { text: "one page only" })).json).toEqual(DONE);
    expect(run(id).status).toBe("planning");
    gate.open();
    await lab.until(id, ({ status }) => status === "confirming");
    const main = await lab.api(`/api/orchestrator/${id}/workers/${run(id).mainSessionId}/transcript`);
    expect(JSON.stringify(main.json)).toContain("one page only");
    await end(id);
    expect((await order(id, "request-changes", { text: "two" })).status).toBe(409);
  });
});

describe("a worker", () => {
  it("is paused, resumed, cancelled and retried by its key (D4-276, D4-277, D4-474, D4-475, D4-476, D4-477)", async () => {
    const first = { match: { role: "worker", task: "a", attempt: 1 }, turns: [{ say: "hm", then: "hang" }] };
    const id = await waitingPlan([{ id: "a" }], [first, goodWorker]);
    await order(id, "confirm-tasks");
    await lab.until(id, ({ workers }) => workers["a"]?.session.turn != null);
    const key = keyOf(id, "a");
    const steer = (what: string) => order(id, `workers/${key}/${what}`);
    expect((await steer("resume")).status).toBe(409);
    expect((await steer("pause")).json).toEqual(DONE);
    const pausedAt = new Date(run(id).workers["a"]!.session.pausedAt!).toISOString();
    const { json: paused } = await lab.api(`/api/orchestrator/${id}/workers/${key}`);
    expect(paused).toMatchObject({ status: "paused", pausedAt, retryCount: 0 });
    expect((await lab.api(`/api/orchestrator/${id}/workers/stats`)).json).toMatchObject({ paused: 1, running: 0 });
    expect((await steer("pause")).status).toBe(409);
    expect((await steer("resume")).json).toEqual(DONE);
    expect(run(id).workers["a"]!.status).toBe("running");
    expect((await steer("retry")).status).toBe(409);
    expect((await steer("cancel")).json).toEqual(DONE);
    const over = await lab.until(id, ({ released }) => released);
    expect([over.status, over.workers["a"]!.status]).toEqual(["error", "cancelled"]);
    expect((await steer("retry")).json).toEqual(DONE);
    const again = await lab.until(id, ({ released, outcome }) => released && outcome === "success");
    expect(again.workers["a"]).toMatchObject({ attempt: 2, retryCount: 1, status: "completed" });
    const { json: workers } = await lab.api(`/api/orchestrator/${id}/workers`);
    expect(workers).toMatchObject([{ taskId: "a", retryCount: 1, pausedAt: null }]);
    const older = await lab.api(`/api/orchestrator/${id}/workers/${key}`);
    expect(older.json).toMatchObject({ attempt: 1, status: "cancelled" });
    expect((await lab.api(`/api/orchestrator/${id}/workers/stats`)).json).toMatchObject({ totalRetries: 1 });
  });

  it("is retried by its task, once per failure", async () => {
    const id = await waitingPlan([{ id: "a" }, { id: "b" }], [failing("a", 1), goodWorker]);
    await order(id, "confirm-tasks");
    expect((await lab.until(id, ({ released }) => released)).outcome).toBe("degraded");
    expect((await order(id, "retry", { taskId: "nobody" })).json.error.code).toBe("task_not_found");
    expect((await order(id, "retry", {})).status).toBe(400);
    expect((await order(id, "retry", { taskId: "b" })).status).toBe(409);
    expect((await order(id, "retry", { taskId: "a" })).json).toEqual(DONE);
    expect((await lab.until(id, ({ released, outcome }) => released && outcome !== "degraded")).outcome).toBe(
      "success",
    );
  });

  it("without output for the template's limit is quiet (D4-258, D4-259)", async () => {
    const id = await waitingPlan([{ id: "a" }], [hanging], { config: { progressDetectionInterval: 1000 } });
    await order(id, "confirm-tasks");
    await lab.until(id, ({ workers }) => workers["a"]?.session.turn != null);
    const quiet = async () => (await lab.api(`/api/orchestrator/${id}/workers/stats`)).json.quiet;
    vi.useFakeTimers({ now: run(id).workers["a"]!.lastActivityAt! + 999, toFake: ["Date"] });
    try {
      expect(await quiet()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
    await expect.poll(quiet).toEqual([keyOf(id, "a")]);
    expect(run(id).workers["a"]!.status, "nothing else follows").toBe("running");
    const { config } = lab.local.templates.resolve("documentation").template;
    expect(config.progressDetectionInterval).toBe(30_000);
    await end(id);
  });
});

describe("decisions", () => {
  it("are made by index and rejected if none is pending", async () => {
    const conflicts = [
      { type: "naming", description: "Which style?", options: ["camel", "snake"] },
      { type: "layout", description: "Where does it go?" },
    ];
    const needs = { status: "needs_input", summary: "two styles", conflicts };
    const agreed = { status: "success", summary: "all in one" };
    const main = mainSession([{ id: "a" }, { id: "b" }], needs).map((session) => {
      if (session.match.phase !== "aggregation") return session;
      const turns = [needs, agreed].map((data) => ({ block: { phase: "aggregation", data } }));
      return { ...session, turns };
    });
    const agent = lab.lab.scenario([...main, goodWorker], "needs.json");
    const id = await lab.create(agent, { templateId: "_default", autoStart: true, config: { autoSpawn: true } });
    await lab.until(id, ({ status }) => status === "paused");
    const wrong: object[] = [
      {},
      { decisions: [] },
      { decisions: [{ index: 0 }] },
      { decisions: [{ index: 0, option: 0, text: "x" }] },
      { decisions: [{ index: 0, option: 2 }] },
      { decisions: [{ index: 5, text: "x" }] },
    ];
    for (const body of wrong) expect((await order(id, "decisions", body)).status, JSON.stringify(body)).toBe(400);
    expect((await order(id, "resume")).status).toBe(409);
    const decisions = [
      { index: 0, option: 1 },
      { index: 1, text: "in docs" },
    ];
    expect((await order(id, "decisions", { decisions })).json).toEqual(DONE);
    const over = await lab.until(id, ({ released }) => released);
    expect(over.decisions.map(({ answer }) => answer)).toEqual(["snake", "in docs"]);
    expect((await order(id, "decisions", { decisions })).status).toBe(409);
  });
});
