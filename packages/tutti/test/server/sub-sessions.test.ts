// Sub-sessions over HTTP and in the live events.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab, type SocketFollower } from "./server-lab.ts";

let lab: ServerLab;
let socket: SocketFollower;
let main: string;
let finishedWorker: string;
let run: string;
let poll: () => Promise<void>;
beforeAll(async () => {
  lab = await ServerLab.open();
  const { subSessions } = lab.engine;
  poll = subSessions.poll.bind(subSessions);
  // A poll of its own every few seconds could come between two steps of a test.
  subSessions.poll = () => Promise.resolve();
  socket = await lab.socket();
  const hangs = worker("stays", { tools: ["Read"], then: "hang" });
  const agent = lab.lab.scenario([...mainSession([{ id: "stays" }, { id: "done" }]), hangs, goodWorker]);
  run = await lab.create(agent, { autoStart: true, config: { autoSpawn: true }, budget: { depth: 2 } });
  await lab.until(run, ({ workers }) => workers["done"]?.status === "completed");
  await lab.until(run, ({ workers }) => workers["stays"]?.session.turn != null);
  const state = lab.engine.get(run)!;
  main = state.mainSessionId!;
  finishedWorker = state.workers["done"]!.sessionId;
});
afterAll(() => lab.tearDown());

const at = (id: string, rest = ""): string => `/api/subsession/${encodeURIComponent(id)}${rest}`;
const ofParent = (id: string): string => `/api/subsession/parent/${encodeURIComponent(id)}`;
const register = (childSessionId: string, parentSessionId: string, more: object = {}) =>
  lab.post("/api/subsession/register", { childSessionId, parentSessionId, ...more });
const eventsOf = async (type: string, child?: string): Promise<Record<string, unknown>[]> => {
  await socket.reached(lab.engine.lastSeq());
  const frames = socket.frames.filter((frame) => frame.type === `subsession:${type}`);
  expect(frames.every(({ run }) => run === null)).toBe(true);
  const all = frames.map(({ data }) => data as Record<string, unknown>);
  return child === undefined ? all : all.filter((data) => data["childSessionId"] === child);
};
const time = expect.stringMatching(/^\d{4}-.*Z$/);

describe("sub-sessions over HTTP", () => {
  it("are registered with any ids, and listed by parent (D4-479, D4-481, D4-510)", async () => {
    const { status, json } = await register("any child", "any/parent", { taskToolId: "toolu_1" });
    expect(status).toBe(200);
    expect(json).toEqual({
      childSessionId: "any child",
      parentSessionId: "any/parent",
      taskToolId: "toolu_1",
      status: "active",
      lastAssistantMessage: null,
      messageCount: 0,
      error: null,
      createdAt: time,
      lastActivityAt: time,
    });
    expect((await lab.api(ofParent("any/parent"))).json).toEqual([json]);
    expect(await eventsOf("registered", "any child")).toEqual([
      { childSessionId: "any child", parentSessionId: "any/parent", taskToolId: "toolu_1", timestamp: time },
    ]);
  });

  it("belong to the run whose session started them, and nest up to its limit", async () => {
    expect((await register("level-1", main)).json).toMatchObject({ orchestratorId: run });
    expect((await register("level-2", "level-1")).json).toMatchObject({ orchestratorId: run });
    const { status, json } = await register("level-3", "level-2");
    expect([status, json.error.code]).toEqual([409, "budget_exhausted"]);
    expect((await lab.api(ofParent(main))).json).toMatchObject([{ childSessionId: "level-1" }]);
  });

  it("are orphaned at the next poll if the parent is unknown, and then cannot return a result (D4-512, D4-515, E48)", async () => {
    await register("lonely", "nobody at all");
    await poll();
    expect((await lab.api(ofParent("nobody at all"))).json).toMatchObject([{ status: "orphaned" }]);
    const both = { childSessionId: "lonely", parentSessionId: "nobody at all" };
    expect(await eventsOf("statusChanged", "lonely")).toEqual([
      { ...both, previousStatus: "active", newStatus: "orphaned", timestamp: time },
    ]);
    expect(await eventsOf("orphaned", "lonely")).toEqual([{ ...both, timestamp: time }]);
    expect((await lab.post(at("lonely", "/force-return"))).status).toBe(409);
  });

  it("return their last message to the parent once when forced (D4-482, D4-514)", async () => {
    await register(finishedWorker, main);
    const { status, json } = await lab.post(at(finishedWorker, "/force-return"));
    expect(status).toBe(200);
    expect(json).toMatchObject({ success: true, message: expect.stringContaining("wrote done") });
    expect(lab.engine.get(run)!.messages).toMatchObject([{ taskId: null, text: json.formatted }]);
    const returned = await eventsOf("resultReturned", finishedWorker);
    expect(returned).toEqual([
      {
        childSessionId: finishedWorker,
        parentSessionId: main,
        messageLength: json.message.length,
        timestamp: time,
      },
    ]);
    const again = await lab.post(at(finishedWorker, "/force-return"));
    expect(again.json).toEqual({ success: true, alreadyReturned: true, message: json.message });
    expect(lab.engine.get(run)!.messages).toHaveLength(1);
  });

  it("report an unreachable session, and a rejected request changes nothing", async () => {
    await register("unseen", main);
    const refused = await lab.post(at("unseen", "/force-return"));
    expect([refused.status, refused.json.error.code]).toEqual([409, "wrong_state"]);
    expect((await lab.delete(at("unseen"), { archiveSession: true })).status).toBe(409);
    const list = (await lab.api(ofParent(main))).json as { childSessionId: string; status: string }[];
    expect(list.find(({ childSessionId }) => childSessionId === "unseen")).toMatchObject({ status: "active" });
    await register("late", "gone by now");
    const orphaned = await lab.post(at("late", "/force-return"));
    expect([orphaned.status, orphaned.json]).toEqual([200, { success: false, orphaned: true, message: "" }]);
  });

  it("are unregistered, and the session is archived on request (D4-483, D4-511, D4-517)", async () => {
    await register("short", main);
    // No session of that name can be archived, so the whole request is rejected.
    expect(await lab.delete(at("short"), { archiveSession: true })).toMatchObject({
      status: 409,
      json: { error: { code: "wrong_state" } },
    });
    expect(await lab.delete(at("short"))).toMatchObject({ status: 200, json: { success: true } });
    expect(await eventsOf("unregistered", "short")).toEqual([
      { childSessionId: "short", parentSessionId: main, timestamp: time },
    ]);
    expect((await lab.delete(at("short"))).json.error.code).toBe("session_not_found");
    // Another test may have registered it already.
    await register(finishedWorker, main);
    await lab.until(run, ({ workers }) => workers["done"]!.session.state === "over");
    await expect.poll(async () => (await lab.delete(`${at(finishedWorker)}?archiveSession=true`)).status).toBe(200);
    expect(await eventsOf("archived", finishedWorker)).toEqual([{ childSessionId: finishedWorker, timestamp: time }]);
  });

  it("are counted (D4-484)", async () => {
    await register("counted", main);
    const { json } = await lab.api("/api/subsession/stats");
    expect(Object.keys(json)).toEqual(["total", "byStatus", "parents", "pendingTaskSpawns", "isMonitoring"]);
    expect(json.total).toBe(Object.values(json.byStatus as Record<string, number>).reduce((a, b) => a + b, 0));
    expect(json.byStatus.active).toBeGreaterThan(0);
  });

  it("of a session are watched on request, and an unknown session is not found (D4-480, D4-518)", async () => {
    const { status, json } = await lab.post(`/api/subsession/watch/${encodeURIComponent(main)}`);
    expect([status, json]).toEqual([200, { success: true }]);
    expect((await lab.api("/api/subsession/stats")).json.isMonitoring).toBe(true);
    await lab.engine.flush();
    expect(await eventsOf("monitoring:started")).toEqual([{ timestamp: time }]);
    for (const path of ["/api/subsession/watch/nobody", at("nobody", "/force-return")]) {
      const answer = await lab.post(path);
      expect([answer.status, answer.json.error.code]).toEqual([404, "session_not_found"]);
    }
    expect((await lab.api(ofParent("nobody"))).status).toBe(404);
  });
});
