// Live events carry at least the members that document 004 lists for their type.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_TOOLS } from "../../src/schema/worker.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab, type SocketFollower, type LiveFrame } from "./server-lab.ts";

let lab: ServerLab;
let socket: SocketFollower;
let run: string;
let failing: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  socket = await lab.socket();
  const fails = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
  const done = { phase: "completion", data: { task_id: "a", status: "success", summary: "wrote a" } };
  const good = worker("a", { tools: ["Read", "Write"], write: { "docs/a.md": "a" }, block: done });
  const [analysis, ...main] = mainSession([{ id: "a" }, { id: "c" }]);
  const reading = { ...analysis!, turns: analysis!.turns.map((turn) => ({ tools: ["Read"], ...turn })) };
  const agent = lab.lab.scenario([reading, ...main, good, goodWorker]);
  run = await lab.create(agent, { templateId: "_default", autoStart: true, config: { autoSpawn: true } });
  await lab.until(run, ({ released }) => released);
  const broken = lab.lab.scenario([...mainSession([{ id: "b" }]), worker("b", { block: fails })], "broken.json");
  failing = await lab.create(broken, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(failing, ({ released }) => released);
  await lab.delete(`/api/orchestrator/${failing}`, { removeState: false, deleteWorkers: true });
  await socket.reached(lab.engine.lastSeq());
});
afterAll(() => lab.tearDown());

const about = (type: string, id = run): LiveFrame["data"][] =>
  socket.frames.filter((frame) => frame.type === type && frame.run === id).map(({ data }) => data);
const first = (type: string, id = run) => about(type, id)[0];
const session = (taskId: string, id = run) => ({
  sessionId: lab.engine.get(id)!.workers[taskId]!.sessionId,
  orchestratorId: id,
  taskId,
});

describe("the events of a run", () => {
  it("report its creation, its start and each phase (D4-485, D4-486, D4-487)", () => {
    const { cwd } = lab.engine.get(run)!;
    expect(first("orchestrator:created")).toMatchObject({ id: run, templateId: "_default", cwd, status: "created" });
    const { mainSessionId } = lab.engine.get(run)!;
    expect(first("orchestrator:started")).toMatchObject({ id: run, mainSessionId, phase: "analysis" });
    expect(about("orchestrator:phaseChanged")).toEqual([
      { id: run, previousPhase: "analysis", currentPhase: "taskPlanning", status: "planning" },
      { id: run, previousPhase: "taskPlanning", currentPhase: "workerExecution", status: "spawning" },
      { id: run, previousPhase: "workerExecution", currentPhase: "workerExecution", status: "running" },
      { id: run, previousPhase: "workerExecution", currentPhase: "aggregation", status: "aggregating" },
    ]);
  });

  it("report its analysis, the progress of its main session, and its completion (D4-491, D4-493, D4-494)", () => {
    expect(first("orchestrator:progress")).toMatchObject({ id: run, stats: { total: 1, reads: 1 } });
    const analysis = { summary: "a small project", recommendedSplits: 2 };
    expect(first("orchestrator:analysisComplete")).toMatchObject({ id: run, analysis });
    expect(first("orchestrator:completed")).toMatchObject({
      id: run,
      status: "completed",
      aggregation: { status: "success", summary: "all in one" },
      stats: lab.engine.get(run)!.toolStats,
    });
  });

  it("report each worker from its start to its completion (D4-497, D4-498, D4-499, D4-504)", () => {
    const sessionData = session("a");
    const of = (type: string) => about(type).find((data) => (data as { taskId?: string }).taskId === "a");
    expect(of("worker:spawning")).toMatchObject(sessionData);
    expect(of("worker:spawned")).toMatchObject({ ...sessionData, task: { id: "a", title: "Title of a" } });
    expect(of("worker:started")).toMatchObject(sessionData);
    expect(of("worker:completed")).toMatchObject({ ...sessionData, output: "wrote a", outputFiles: ["docs/a.md"] });
    const order = socket.frames
      .filter(({ data }) => (data as { taskId?: string }).taskId === "a")
      .map(({ type }) => type);
    const steps = ["worker:spawning", "worker:spawned", "worker:started", "worker:completed"];
    expect(order.filter((type) => steps.includes(type))).toEqual(steps);
  });

  it("report a worker's progress with its tool calls (D4-044, D4-051, D4-503)", async () => {
    const report = {
      task_id: "d",
      status: "blocked",
      progress_percent: 40,
      current_action: "waiting for the lock",
      files_processed: 2,
      files_total: 5,
    };
    const block = JSON.stringify({ phase: "progress", data: report });
    const say = `<<<ORCHESTRATOR_RESPONSE>>>${block}<<<END_ORCHESTRATOR_RESPONSE>>>`;
    const reporting = worker("d", { tools: ["Read"], say, then: "hang" });
    const agent = lab.lab.scenario([...mainSession([{ id: "d" }]), reporting], "reporting.json");
    const id = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
    const reported = () => about("worker:progress", id).find((data) => (data as { progress?: number }).progress === 40);
    await socket.until(() => reported() !== undefined);
    const sessionData = session("d", id);
    const toolStats = { ...NO_TOOLS, total: 1, reads: 1 };
    const shown = { progress: 40, currentAction: "waiting for the lock" };
    expect(reported()).toMatchObject({ ...sessionData, ...shown, status: "blocked", toolStats });
    expect(lab.engine.get(id)!.workers["d"]).toMatchObject({ ...shown, status: "running", toolStats });
    await lab.engine.order(id, "cancel");
    await lab.until(id, ({ released }) => released);
    await socket.reached(lab.engine.lastSeq());
  });

  it("report failures and deleted sessions (D4-505, D4-509)", () => {
    expect(first("worker:failed", failing)).toMatchObject({ ...session("b", failing), error: "no luck" });
    expect(first("workers:deleted", failing)).toEqual({ orchestratorId: failing, count: 1 });
  });

  it("reach a client exactly as they are in the log", () => {
    expect(socket.frames).toEqual(lab.stored());
  });
});

describe("the events of the server itself", () => {
  it("report created, changed and deleted templates and belong to no run (D4-521, D4-522, D4-523)", async () => {
    await lab.post("/api/orchestrator/templates", { id: "mine", name: "Mine", extends: "_default" });
    await lab.put("/api/orchestrator/templates/mine", { name: "Ours" });
    await lab.delete("/api/orchestrator/templates/mine");
    await lab.engine.flush();
    await socket.reached(lab.engine.lastSeq());
    const frames = socket.frames.filter(({ type }) => type.startsWith("template:"));
    expect(frames.map(({ run: belongsTo, type, data }) => [belongsTo, type, data])).toEqual([
      [null, "template:created", { id: "mine", name: "Mine", hash: expect.any(String) }],
      [null, "template:updated", { id: "mine", name: "Ours", hash: expect.any(String) }],
      [null, "template:deleted", { id: "mine" }],
    ]);
  });
});
