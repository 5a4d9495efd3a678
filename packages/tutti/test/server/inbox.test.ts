import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const inbox = async (query = "") => (await lab.api(`/api/inbox${query}`)).json;

async function waitingPlan(name: string, ...workers: object[]): Promise<string> {
  const agent = lab.lab.scenario([...mainSession([{ id: "a" }]), ...workers], name);
  const id = await lab.create(agent, { autoStart: true });
  await lab.until(id, (run) => run.status === "confirming");
  return id;
}

describe("the inbox", () => {
  it("lists a plan until it is approved, which works once", async () => {
    const id = await waitingPlan("approve.json", goodWorker);
    const [item] = await inbox();
    expect(item).toMatchObject({
      kind: "plan",
      run: id,
      question: "Carry out this plan of 1 task?",
      evidence: { tasks: [{ id: "a" }], errors: [], estimate: { criticalPath: ["a"] }, budget: {} },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await inbox())[0].hash).toBe(item.hash);
    const other = await lab.post(`/api/inbox/${item.id}`, { approve: true, hash: "of something else" });
    expect([other.status, other.json.error.code]).toEqual([409, "wrong_state"]);
    expect((await lab.post(`/api/inbox/${item.id}`, { approve: true, hash: item.hash })).json).toEqual({
      success: true,
    });
    const again = await lab.post(`/api/inbox/${item.id}`, { approve: false });
    expect([again.status, again.json.error.code]).toEqual([404, "item_not_found"]);
    expect(await inbox()).toEqual([]);
    const run = await lab.until(id, ({ released }) => released);
    expect(run.status).toBe("completed");
  });

  it("cancels the run of a rejected plan", async () => {
    const id = await waitingPlan("reject.json", goodWorker);
    const [item] = await inbox();
    expect((await lab.post(`/api/inbox/${item.id}`, { approve: false })).json).toEqual({ success: true });
    expect(lab.engine.get(id)!.status).toBe("cancelled");
    await lab.until(id, ({ released }) => released);
  });

  it("sends each answer to the agent that asked, in the order of the questions", async () => {
    const asking = worker("a", { say: "hm", then: "ask:Which one?" }, { write: { "a.md": "a" }, block: done({}) });
    const id = await waitingPlan("ask.json", asking);
    await lab.engine.order(id, "confirm");
    await lab.until(id, (run) => Object.values(run.inbox).some(({ kind }) => kind === "question"));
    const other = await waitingPlan("other.json", goodWorker);
    const items = await inbox();
    expect(
      items.map(({ kind, run, taskId }: { kind: string; run: string; taskId: string | null }) => [kind, run, taskId]),
    ).toEqual([
      ["question", id, "a"],
      ["plan", other, null],
    ]);
    expect(items[0].question).toBe("Which one?");
    expect(await inbox("?limit=1")).toEqual([items[0]]);
    expect(await inbox(`?after=${items[0].id}`)).toEqual([items[1]]);
    expect((await lab.api("/api/inbox?after=nothing")).status).toBe(400);
    expect((await lab.post(`/api/inbox/${items[0].id}`, { text: "this one" })).json).toEqual({ success: true });
    const late = await lab.post(`/api/inbox/${items[0].id}`, { text: "no, that one" });
    expect([late.status, late.json.error.code]).toEqual([404, "item_not_found"]);
    const run = await lab.until(id, ({ released }) => released);
    expect(run.status).toBe("completed");
    const answered = lab.stored().filter(({ type, run }) => type === "inbox:answered" && run === id);
    expect(answered).toMatchObject([
      { data: { text: "approved", withdrawn: false } },
      { data: { text: "this one", withdrawn: false } },
    ]);
    await lab.post(`/api/orchestrator/${other}/cancel`);
    await lab.until(other, ({ released }) => released);
  });

  it.each([
    ["missing", undefined],
    ["an empty object", {}],
    ["a text and an option", { text: "yes", option: 0 }],
    ["a number", { text: 1 }],
    ["blank", { text: "  " }],
  ])("rejects an answer that is %s with 400", async (_, body) => {
    const { status, json } = await lab.post("/api/inbox/whatever", body);
    expect([status, json.error.code]).toEqual([400, "invalid_input"]);
  });

  it("rejects a text for a plan and an approval of a question with 400", async () => {
    const id = await waitingPlan("kinds.json", worker("a", { then: "ask:Which?" }));
    const [plan] = await inbox();
    expect((await lab.post(`/api/inbox/${plan.id}`, { text: "yes" })).status).toBe(400);
    await lab.engine.order(id, "confirm");
    const run = await lab.until(id, (now) => Object.values(now.inbox).some(({ kind }) => kind === "question"));
    const [item] = Object.keys(run.inbox);
    expect((await lab.post(`/api/inbox/${item}`, { approve: true })).status).toBe(400);
    await lab.engine.order(id, "cancel");
    await lab.until(id, ({ released }) => released);
  });
});
