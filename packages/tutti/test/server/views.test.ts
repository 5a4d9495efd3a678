// The graph, timeline and usage of a run, and the message protocols.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FOLD_VERSION } from "../../src/run/apply.ts";
import type { RunTimeline, RunUsage } from "../../src/schema/api/run-values.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let ended: string;
let running: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }];
  const fails = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
  const worker = { match: { role: "worker", task: "c" }, turns: [{ block: fails }] };
  const asks = { match: { role: "worker", task: "b" }, turns: [{ then: "ask:Which?" }, ...goodWorker.turns] };
  const agent = lab.lab.scenario([...mainSession(tasks), worker, asks, goodWorker]);
  ended = await lab.create(agent, { autoStart: true, budget: { usd: 5 } });
  await lab.until(ended, ({ status }) => status === "confirming");
  await lab.engine.order(ended, "pause");
  await lab.engine.order(ended, "resume");
  await lab.engine.order(ended, "confirm");
  const asking = await lab.until(ended, ({ inbox }) => Object.values(inbox).some(({ kind }) => kind === "question"));
  await lab.engine.answer(Object.values(asking.inbox).find(({ kind }) => kind === "question")!.id, { text: "This" });
  const hangs = { match: { role: "worker" }, turns: [{ say: "hm", then: "hang" }] };
  const slow = lab.lab.scenario([...mainSession([{ id: "a" }]), hangs], "slow.json");
  running = await lab.create(slow, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(running, ({ workers }) => workers["a"]?.session.turn != null);
  await lab.until(ended, ({ released }) => released);
});
afterAll(() => lab.tearDown());

const get = async (id: string, view: string) => (await lab.api(`/api/orchestrator/${id}/${view}`)).json;
const post = (path: string, body: unknown) => lab.post(`/api/protocols/${path}`, body);

describe("a run without its log", () => {
  it("is its folded state, the version of the fold and the position to continue from", async () => {
    const { fold, seq, run, warnings } = await get(ended, "snapshot");
    expect([fold, seq, warnings]).toEqual([FOLD_VERSION, lab.engine.lastSeq(), []]);
    expect(run).toEqual(JSON.parse(JSON.stringify(lab.engine.get(ended))));
  });

  it("can be followed by the end of its log, and listed alone", async () => {
    const events = await get(ended, "events");
    for (const tail of [0, 1, 5, 9999]) {
      expect(await get(ended, `events?tail=${tail}`)).toEqual(tail === 0 ? [] : events.slice(-tail));
    }
    const listed = (await lab.api(`/api/runs?ids=${running},orch_nobody`)).json;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([running]);
  });
});

describe("the graph of a run", () => {
  it("has a node for every task, an edge for every dependency, and the longest chain", async () => {
    const { nodes, edges, parallelGroups, criticalPath } = await get(ended, "graph");
    expect(nodes.map(({ id, standing, group }: Record<string, unknown>) => [id, standing, group])).toEqual([
      ["a", "completed", 0],
      ["b", "completed", 1],
      ["c", "failed", 0],
    ]);
    expect(nodes[0]).toMatchObject({ title: "Title of a", progress: 100, attempt: 1 });
    expect(nodes[0].sessionId).toBe(lab.engine.get(ended)!.workers["a"]!.sessionId);
    expect([edges, parallelGroups]).toEqual([[{ from: "a", to: "b" }], [["a", "c"], ["b"]]]);
    expect(criticalPath).toEqual(["a", "b"]);
  });

  it("is empty before there is a plan, and partial for an invalid plan", async () => {
    const created = await lab.create("local");
    expect(await get(created, "graph")).toEqual({ nodes: [], edges: [], parallelGroups: [], criticalPath: [] });
    const loop = [
      { id: "x", dependencies: ["y", "nobody"] },
      { id: "y", dependencies: ["x"] },
    ];
    const id = await lab.create(lab.lab.scenario(mainSession(loop), "loop.json"), { autoStart: true });
    await lab.until(id, ({ status }) => status === "confirming");
    const graph = await get(id, "graph");
    expect(graph.nodes.map(({ standing, group }: Record<string, unknown>) => [standing, group])).toEqual([
      ["neverStarted", null],
      ["neverStarted", null],
    ]);
    expect([graph.edges.length, graph.criticalPath]).toEqual([2, []]);
  });
});

describe("the timeline of a run", () => {
  it("lists phases, pauses, sessions and turns in order, each with start and end", async () => {
    const { phases, pauses, sessions } = await get(ended, "timeline");
    const names = ["analysis", "taskPlanning", "workerExecution", "aggregation", "verification"];
    expect(phases.map(({ phase }: { phase: string }) => phase)).toEqual(names);
    for (const [i, { startedAt, endedAt }] of phases.entries()) {
      expect(endedAt >= startedAt).toBe(true);
      if (i > 0) expect(startedAt).toBe(phases[i - 1].endedAt);
    }
    expect(pauses).toEqual([{ reason: "person", startedAt: expect.any(String), endedAt: expect.any(String) }]);
    const endings = Object.fromEntries(
      (sessions as RunTimeline["sessions"]).map(({ taskId, ending, turns }) => {
        expect(turns.length).toBeGreaterThan(0);
        for (const turn of turns) expect(turn.endedAt).not.toBeNull();
        return [taskId ?? "main", ending];
      }),
    );
    expect(endings).toEqual({
      main: "orchestrator:completed",
      a: "worker:completed",
      b: "worker:completed",
      c: "worker:failed",
    });
  });

  it("lists each wait for the user, with the task that it held up and the time of the answer", async () => {
    const { waits, sessions } = (await get(ended, "timeline")) as RunTimeline;
    const events: { type: string; timestamp: string; data: { itemId?: string } }[] = await get(ended, "events");
    expect(waits.map(({ kind, taskId }) => `${kind} ${taskId}`).toSorted()).toEqual([
      "failure c",
      "plan null",
      "question b",
    ]);
    const question = waits.find(({ kind }) => kind === "question")!;
    expect(question.sessionId).toBe(sessions.find(({ taskId }) => taskId === "b")!.sessionId);
    for (const { itemId, startedAt, endedAt } of waits.filter(({ kind }) => kind !== "failure")) {
      expect(startedAt <= endedAt!).toBe(true);
      const answer = events.find(({ type, data }) => type === "inbox:answered" && data.itemId === itemId)!;
      expect(endedAt).toBe(answer.timestamp);
    }
  });

  it("has no end for entries that are still open", async () => {
    const { phases, sessions } = await get(running, "timeline");
    expect(phases.at(-1)).toMatchObject({ phase: "workerExecution", endedAt: null });
    const worker = sessions.find(({ taskId }: { taskId: string | null }) => taskId === "a");
    expect(worker).toMatchObject({ endedAt: null, ending: null, turns: [{ turn: 1, endedAt: null }] });
  });
});

describe("the usage of a run", () => {
  it("is listed by session and adds up to the total of the run", async () => {
    const { usage, toolStats, turns, budget, sessions } = await get(ended, "usage");
    const run = lab.engine.get(ended)!;
    expect([usage, turns, budget]).toEqual([run.usage, run.turns, { usd: 5 }]);
    const sum = (of: (session: RunUsage["sessions"][number]) => number) =>
      (sessions as RunUsage["sessions"]).reduce((total, session) => total + of(session), 0);
    expect(sum((session) => session.usage.inputTokens)).toBe(200);
    expect(usage.inputTokens).toBe(200);
    expect(sum((session) => session.toolStats.total)).toBe(toolStats.total);
    expect(sum((session) => session.turns)).toBe(turns);
    expect(sessions.map(({ taskId }: { taskId: string | null }) => taskId).toSorted()).toEqual(["a", "b", "c", null]);
  });
});

describe("the protocols", () => {
  it("are four, each with a valid schema for all its messages", async () => {
    const { json: rows } = await lab.api("/api/protocols");
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(["response", "mailbox", "delegation", "messages"]);
    for (const { schema: path, messages } of rows) {
      for (const profile of ["strict", "lenient"]) {
        const { status, json } = await lab.api(`${path}?profile=${profile}`);
        expect(status).toBe(200);
        expect(Object.keys(json.$defs)).toEqual(messages);
        const check = new Ajv2020({ strict: false, validateFormats: false }).compile(json);
        expect(check("no message at all")).toBe(false);
      }
    }
    const { json } = await lab.api("/api/protocols/response/schema.json");
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(json);
    expect(check({ phase: "completion", data: { task_id: "a", status: "success" } })).toBe(true);
    expect(check({ phase: "completion", data: { task_id: "a", status: "marvellous" } })).toBe(false);
    expect((await lab.api("/api/protocols/response/schema.json?profile=odd")).status).toBe(400);
  });

  it("validate one message, a list, or the text of an answer, and report every problem with its path", async () => {
    const good = { phase: "completion", data: { task_id: "a", status: "success" } };
    const bad = { phase: "completion", data: { status: "marvellous" } };
    expect((await post("response/validate", good)).json).toEqual({ valid: true, messages: 1, problems: [] });
    const list = (await post("response/validate", [good, bad])).json;
    expect([list.valid, list.messages]).toEqual([false, 2]);
    expect(list.problems.map(({ path }: { path: string }) => path)).toContain("[1].data.task_id");
    const text = `I did it.\n<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify(bad)}\n<<<END_ORCHESTRATOR_RESPONSE>>>`;
    const answer = (await post("response/validate", JSON.stringify(text))).json;
    expect(answer.problems[0].path).toMatch(/^block 1\./);
    for (const nothing of ["[]", '"no block here"']) {
      const { json } = await post("response/validate", nothing);
      expect([json.valid, json.messages, json.problems.length]).toEqual([false, 0, 1]);
    }
  });

  it("validate at most 1,000 messages at a time", async () => {
    const list = (count: number) => Array.from({ length: count }, () => ({}));
    expect((await post("messages/validate", list(1000))).status).toBe(200);
    const block = "<<<ORCHESTRATOR_RESPONSE>>>{}<<<END_ORCHESTRATOR_RESPONSE>>>";
    for (const body of [list(1001), JSON.stringify(block.repeat(1001))]) {
      const { status, json } = await post("response/validate", body);
      expect([status, json.error.message]).toEqual([400, expect.stringContaining("Send at most 1000")]);
    }
  });

  it("are read strictly, or leniently on request", async () => {
    const message = { type: "task_assignment", task_id: "T1" };
    const strict = (await post("mailbox/validate", message)).json;
    const lenient = (await post("mailbox/validate?profile=lenient", message)).json;
    expect(strict.problems.length).toBeGreaterThanOrEqual(lenient.problems.length);
    expect(strict.valid).toBe(false);
    expect((await post("mailbox/validate", undefined)).status).toBe(400);
  });
});
