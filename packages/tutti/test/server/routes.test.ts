// Responses of the routes to valid and invalid requests.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab, VERSION } from "./server-lab.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const iso = expect.stringMatching(ISO);

let lab: ServerLab;
let agent: string;
/** A run that has ended, one whose plan waits for confirmation, and one that was only created. */
let ended: string;
let confirming: string;
let created: string;

beforeAll(async () => {
  lab = await ServerLab.open();
  const [analysis, ...plan] = mainSession([{ id: "task_001" }, { id: "task_002", dependencies: ["task_001"] }]);
  const found = { key_files: ["a.ts"], estimated_complexity: "low", components: ["api"], notes: "n", warnings: ["w"] };
  const data = { summary: "a small project", recommended_splits: 2, ...found };
  const looked = { ...analysis, turns: [{ say: "I looked around.", block: { phase: "analysis", data } }] };
  // Its first worker is lost with the engine, and the next engine retries the task.
  const lost = { match: { role: "worker", task: "task_001", attempt: 1 }, turns: [{ say: "first try", then: "hang" }] };
  agent = lab.lab.scenario([looked, ...plan, lost, goodWorker]);
  ended = await lab.create(agent, { autoStart: true, customVariables: { TONE: "dry" }, config: { maxWorkers: 3 } });
  await lab.until(ended, (run) => run.status === "confirming");
  await lab.engine.order(ended, "confirm");
  const { sessionId } = (await lab.until(ended, (run) => run.workers["task_001"]?.session.turn != null)).workers[
    "task_001"
  ]!;
  const transcript = async () => JSON.stringify(await lab.engine.transcript(ended, sessionId));
  await vi.waitFor(async () => expect(await transcript()).toContain("first try"), { timeout: 600_000 });
  await lab.stop();
  await lab.start();
  await lab.engine.activate(ended);
  await lab.until(ended, (run) => run.released);
  confirming = await lab.create(agent, { autoStart: true });
  await lab.until(confirming, (run) => run.status === "confirming");
  created = await lab.create(agent);
});
afterAll(() => lab.tearDown());

const get = async (path: string) => lab.api(`/api${path}`);

describe("health", () => {
  it("needs no token", async () => {
    const { status, json } = await lab.ask("/api/health");
    expect([status, json]).toEqual([200, { status: "ok", version: VERSION }]);
  });
});

describe("the list of runs", () => {
  it("contains summaries, oldest first", async () => {
    const { status, json } = await get("/orchestrator");
    expect(status).toBe(200);
    expect(json.slice(0, 3).map(({ id }: { id: string }) => id)).toEqual([ended, confirming, created]);
    expect(json[0]).toEqual({
      id: ended,
      status: "completed",
      currentPhase: "verification",
      templateId: "documentation",
      cwd: lab.lab.repo,
      userRequest: "write it down",
      agent,
      outcome: "success",
      taskCount: 2,
      completedTasks: 2,
      skippedTasks: 0,
      usage: { inputTokens: 200, outputTokens: 40, usd: 0.02 },
      createdAt: iso,
      updatedAt: iso,
      startedAt: iso,
      completedAt: iso,
    });
  });

  it("contains whole states with full=1 (D4-459)", async () => {
    const [{ json: list }, { json: one }] = [
      await get("/orchestrator?full=1&limit=1"),
      await get(`/orchestrator/${ended}`),
    ];
    expect(list).toEqual([one]);
  });

  it("is filtered by status and paged with after", async () => {
    const ids = async (query: string) => (await get(`/orchestrator?${query}`)).json.map(({ id }: { id: string }) => id);
    expect(await ids("status=confirming")).toEqual([confirming]);
    expect(await ids("limit=2")).toEqual([ended, confirming]);
    expect(await ids(`limit=1&after=${confirming}`)).toEqual([created]);
    const all = await ids("");
    expect(await ids(`after=${all.at(-1)}`)).toEqual([]);
  });

  it.each(["status=happy", "limit=0", "limit=-1", "limit=x", "limit=99999999", "after=orch_nobody", "full=yes"])(
    "returns 400 for %s",
    async (query) => {
      const { status, json } = await get(`/orchestrator?${query}`);
      expect([status, json.error.code]).toEqual([400, "invalid_input"]);
    },
  );
});

describe("one run", () => {
  it("is its whole state under the names of document 004 (D4-260, D4-262, D4-263, D4-264, D4-265, D4-266, D4-268, D4-269, D4-458)", async () => {
    const { status, json } = await get(`/orchestrator/${ended}`);
    const prefix = `local___orch_${ended.slice(5)}`;
    expect(status).toBe(200);
    expect(json).toMatchObject({
      id: ended,
      templateId: "documentation",
      template: { id: "documentation", prompts: expect.anything(), config: { maxWorkers: 3 } },
      mainSessionId: expect.stringContaining(`${prefix}_main`),
      cwd: lab.lab.repo,
      userRequest: "write it down",
      status: "completed",
      currentPhase: "verification",
      analysis: {
        summary: "a small project",
        recommendedSplits: 2,
        keyFiles: ["a.ts"],
        estimatedComplexity: "low",
        components: ["api"],
        notes: "n",
        warnings: ["w"],
      },
      parallelGroups: [["task_001"], ["task_002"]],
      workers: { task_001: `${prefix}_worker_task_001_r1`, task_002: `${prefix}_worker_task_002` },
      customVariables: { TONE: "dry" },
      errors: [],
      inbox: {},
      createdAt: iso,
      updatedAt: iso,
      startedAt: iso,
      completedAt: iso,
    });
    expect(json.tasks[1]).toEqual({
      id: "task_002",
      title: "Title of task_002",
      description: "Do task_002",
      scope: [],
      priority: 5,
      dependencies: ["task_001"],
    });
    expect(json.stats).toMatchObject({ totalTools: 4, reads: 2, writes: 2, edits: 0, bash: 0, task: 0, other: 0 });
    expect(json.workerStates.task_002.status).toBe("completed");
    const run = lab.engine.get(ended)!;
    expect(json.runSeq).toBe(run.runSeq);
    for (const time of ["createdAt", "updatedAt", "startedAt", "completedAt"] as const)
      expect(json[time], time).toBe(new Date(run[time]!).toISOString());
    expect(json).not.toHaveProperty("owed");
  });

  it("returns its log as frames, in pages", async () => {
    const all = lab.stored().filter(({ run }) => run === ended);
    expect((await get(`/orchestrator/${ended}/events`)).json).toEqual(all);
    const middle = all[4]!.seq;
    const { json } = await get(`/orchestrator/${ended}/events?after=${middle}&limit=3`);
    expect(json).toEqual(all.slice(5, 8));
    expect((await get(`/orchestrator/${ended}/events?after=${all.at(-1)!.seq}`)).json).toEqual([]);
    expect((await get(`/orchestrator/${ended}/events?after=-1`)).status).toBe(400);
  });

  it("returns its outcome at any time", async () => {
    const { json } = await get(`/orchestrator/${ended}/result`);
    expect(json).toMatchObject({ id: ended, outcome: "success", census: { planned: 2, completed: 2 } });
    expect(json.outputFiles).toEqual(["docs/task_001.md", "docs/task_002.md"]);
    expect((await get(`/orchestrator/${created}/result`)).json.outcome).toBeNull();
  });
});

describe("workers", () => {
  it("are listed with the newest attempt of each task, without the main session (D4-100, D4-272, D4-273, D4-274, D4-275, D4-277, D4-472)", async () => {
    const { json } = await get(`/orchestrator/${ended}/workers`);
    expect(json.map(({ taskId, attempt }: { taskId: string; attempt: number }) => [taskId, attempt])).toEqual([
      ["task_001", 2],
      ["task_002", 1],
    ]);
    expect(json[1]).toMatchObject({
      sessionId: `local___orch_${ended.slice(5)}_worker_task_002`,
      orchestratorId: ended,
      taskId: "task_002",
      task: { id: "task_002" },
      status: "completed",
      progress: 100,
      output: "wrote task_002",
      outputFiles: ["docs/task_002.md"],
      error: null,
      retryCount: 0,
      startedAt: iso,
      completedAt: iso,
      lastPollAt: iso,
      pausedAt: null,
    });
    const kinds = ["total", "reads", "writes", "edits", "bash", "search", "web", "task", "glob", "grep", "failed"];
    expect(Object.keys(json[1].toolStats)).toEqual(kinds);
    expect(json[1].toolStats).toMatchObject({ total: 2, reads: 1, writes: 1 });
    expect(json[1]).toHaveProperty("currentAction");
    expect(json[1]).toHaveProperty("output");
    expect(json[1]).toHaveProperty("outputPreview");
  });

  it("are returned by session key (D4-473)", async () => {
    const [first] = (await get(`/orchestrator/${ended}/workers`)).json;
    expect((await get(`/orchestrator/${ended}/workers/${first.sessionId}`)).json).toEqual(first);
  });

  it("are returned for older attempts too, as the log has them (D4-473)", async () => {
    const { status, json } = await get(`/orchestrator/${ended}/workers/local___orch_${ended.slice(5)}_worker_task_001`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ taskId: "task_001", attempt: 1, status: "failed", errorCode: "session_lost" });
    expect(json.error).toEqual(expect.stringMatching(/./));
  });

  it("have aggregated statistics under a name that no worker can have (D4-478)", async () => {
    const { status, json } = await get(`/orchestrator/${ended}/workers/stats`);
    expect(status).toBe(200);
    expect(json).toEqual({
      totalWorkers: 2,
      completed: 2,
      failed: 0,
      running: 0,
      pending: 0,
      paused: 0,
      cancelled: 0,
      timeout: 0,
      totalProgress: 200,
      toolStats: {
        total: 4,
        reads: 2,
        writes: 2,
        edits: 0,
        bash: 0,
        search: 0,
        web: 0,
        task: 0,
        glob: 0,
        grep: 0,
        failed: 0,
      },
      averageProgress: 100,
      totalRetries: 0,
      quiet: [],
    });
    expect((await get(`/orchestrator/${created}/workers/stats`)).json).toMatchObject({
      totalWorkers: 0,
      averageProgress: 0,
    });
  });

  it("have transcripts in pages, like older attempts and the main session", async () => {
    const base = `/orchestrator/${ended}/workers/local___orch_${ended.slice(5)}`;
    const { json } = await get(`${base}_worker_task_002/transcript`);
    expect(json.map(({ n }: { n: number }) => n)).toEqual(json.map((_: unknown, i: number) => i + 1));
    expect(json[0]).toMatchObject({ n: 1, type: "prompt", turn: 1 });
    expect(json.map(({ type }: { type: string }) => type)).toContain("tool");
    expect((await get(`${base}_worker_task_002/transcript?after=1&limit=2`)).json).toEqual(json.slice(1, 3));
    expect((await get(`${base}_worker_task_002/transcript?after=${json.length}`)).json).toEqual([]);
    for (const tail of [0, 2, json.length, 9000]) {
      const last = tail === 0 ? [] : json.slice(-tail);
      expect((await get(`${base}_worker_task_002/transcript?tail=${tail}`)).json).toEqual(last);
    }
    // `find` searches the values of all entries, in pages or from the end.
    const tools = json.filter(({ name }: { name?: string }) => name !== undefined);
    const find = `find=${tools[0].name.toUpperCase()}`;
    const same = json.filter((entry: object) => JSON.stringify(entry).includes(tools[0].name));
    expect((await get(`${base}_worker_task_002/transcript?${find}`)).json).toEqual(same);
    expect((await get(`${base}_worker_task_002/transcript?${find}&tail=1`)).json).toEqual(same.slice(-1));
    expect((await get(`${base}_worker_task_002/transcript?${find}&limit=1&after=${same[0].n}`)).json).toEqual(
      same.slice(1, 2),
    );
    expect((await get(`${base}_worker_task_002/transcript?find=prompt_1_of_nothing`)).json).toEqual([]);
    const old = await get(`${base}_worker_task_001/transcript`);
    expect(JSON.stringify(old.json)).toContain("first try");
    const main = await get(`${base}_main/transcript`);
    expect(JSON.stringify(main.json)).toContain("I looked around.");
    expect((await get(`${base}_main/transcript?limit=none`)).status).toBe(400);
  });
});

describe("an unknown resource", () => {
  it.each([
    ["GET", "/orchestrator/orch_nobody", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/start", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/cancel", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/pause", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/resume", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/confirm-tasks", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/request-changes", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/decisions", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/retry", "run_not_found"],
    ["DELETE", "/orchestrator/orch_nobody", "run_not_found"],
    ["GET", "/orchestrator/orch_nobody/workers/stats", "run_not_found"],
    ["POST", "/orchestrator/orch_nobody/workers/x/pause", "run_not_found"],
    ["POST", "/orchestrator/ENDED/workers/x/cancel", "worker_not_found"],
    ["POST", "/orchestrator/ENDED/workers/x/pause", "worker_not_found"],
    ["POST", "/orchestrator/ENDED/workers/x/resume", "worker_not_found"],
    ["POST", "/orchestrator/ENDED/workers/x/retry", "worker_not_found"],
    ["GET", "/orchestrator/templates/nobody", "template_not_found"],
    ["GET", "/templates/nobody", "template_not_found"],
    ["GET", "/templates/nobody/export", "template_not_found"],
    ["DELETE", "/templates/nobody", "template_not_found"],
    ["POST", "/templates/nobody/preview", "template_not_found"],
    ["GET", "/orchestrator/orch_nobody/events", "run_not_found"],
    ["GET", "/orchestrator/orch_nobody/result", "run_not_found"],
    ["GET", "/orchestrator/orch_nobody/workers", "run_not_found"],
    ["GET", "/orchestrator/orch_nobody/workers/x", "run_not_found"],
    ["GET", "/orchestrator/orch_nobody/workers/x/transcript", "run_not_found"],
    ["GET", "/orchestrator/ENDED/workers/x", "worker_not_found"],
    ["GET", "/orchestrator/ENDED/workers/..%2f..%2ftoken/transcript", "worker_not_found"],
    ["POST", "/inbox/plan_orch_nobody", "item_not_found"],
    ["POST", "/inbox/nothing", "item_not_found"],
    ["GET", "/events?run=orch_nobody", "run_not_found"],
    ["GET", "/nowhere", "not_found"],
    ["GET", "", "not_found"],
    ["PUT", "/orchestrator/ENDED", "not_found"],
    ["OPTIONS", "/orchestrator", "not_found"],
    ["POST", "/health", "not_found"],
  ])("%s /api%s returns 404", async (method, path, code) => {
    const body = path.includes("plan_") ? { approve: true } : path.startsWith("/inbox") ? { text: "x" } : undefined;
    const headers = { accept: "text/event-stream" };
    const { status, json } = await lab.api(`/api${path.replace("ENDED", ended)}`, { method, body, headers });
    expect([status, json.error.code]).toEqual([404, code]);
    expect(Object.keys(json.error).filter((key) => key !== "details")).toEqual(["code", "message"]);
  });
});

describe("a run in the wrong state", () => {
  it.each([
    ["starting a run twice", "ENDED/start"],
    ["cancelling a run that has ended", "ENDED/cancel"],
    ["confirming a run without a plan", "CREATED/confirm-tasks"],
    ["confirming a plan twice", "ENDED/confirm-tasks"],
    ["pausing a run that has ended", "ENDED/pause"],
    ["pausing a run that was not started", "CREATED/pause"],
    ["resuming a run that is not paused", "ENDED/resume"],
    ["cancelling a worker of a run that has ended", "ENDED/workers/KEY_worker_task_002/cancel"],
    ["pausing a worker of a run that has ended", "ENDED/workers/KEY_worker_task_002/pause"],
    ["resuming a worker of a run that has ended", "ENDED/workers/KEY_worker_task_002/resume"],
    ["retrying a task that completed", "ENDED/workers/KEY_worker_task_002/retry"],
    ["steering an older attempt", "ENDED/workers/KEY_worker_task_001/cancel"],
  ])("rejects %s with 409", async (_, path) => {
    // An earlier test's run may still end, so only these runs count.
    const places = () => [ended, created].map((id) => lab.engine.get(id)!.runSeq);
    const placesBefore = places();
    const { status, json } = await lab.post(
      `/api/orchestrator/${path
        .replace("ENDED", ended)
        .replace("CREATED", created)
        .replace("KEY", `local___orch_${ended.slice(5)}`)}`,
    );
    expect([status, json.error.code, places()]).toEqual([409, "wrong_state", placesBefore]);
  });

  it("rejects an invalid plan with 422, and shows its errors in the state", async () => {
    const unsound = lab.lab.scenario(
      [...mainSession([{ id: "a", dependencies: ["nobody"] }]), goodWorker],
      "unsound.json",
    );
    const id = await lab.create(unsound, { autoStart: true });
    await lab.until(id, (run) => run.status === "confirming");
    const { status, json } = await lab.post(`/api/orchestrator/${id}/confirm-tasks`);
    expect([status, json.error.code]).toEqual([422, "invalid_plan"]);
    expect((await get(`/orchestrator/${id}`)).json.errors).toMatchObject([
      { phase: "taskPlanning", code: "invalid_plan", error: expect.stringContaining("nobody") },
    ]);
    expect((await get("/inbox")).json.find((item: { run: string }) => item.run === id).question).toContain("nobody");
    await lab.post(`/api/orchestrator/${id}/cancel`);
    await lab.until(id, (run) => run.released);
  });
});

describe("steering a run", () => {
  it("starts, confirms and cancels it (D4-460, D4-463)", async () => {
    const slow = lab.lab.scenario(
      [...mainSession([{ id: "a" }, { id: "b" }]), worker("*", { then: "hang" })],
      "slow.json",
    );
    const id = await lab.create(slow);
    expect((await lab.post(`/api/orchestrator/${id}/start`)).json).toEqual({ success: true });
    expect(lab.engine.get(id)!.startedAt).not.toBeNull();
    await lab.until(id, (run) => run.status === "confirming");
    const { status, json } = await lab.post(`/api/orchestrator/${id}/confirm-tasks`, { modifications: {} });
    expect(status).toBe(200);
    expect(json).toEqual({ workersCreated: expect.any(Number), tasksQueued: expect.any(Number), skipped: 0 });
    expect(json.workersCreated + json.tasksQueued).toBe(2);
    await lab.until(id, (run) => run.workers["a"]?.status === "running");
    expect((await lab.post(`/api/orchestrator/${id}/cancel`)).json).toEqual({ success: true });
    expect(lab.engine.get(id)!.status).toBe("cancelled");
    await lab.until(id, (run) => run.released);
  });
});
