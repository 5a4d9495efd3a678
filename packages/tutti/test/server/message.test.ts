// Messages of the user to the sessions of an open run.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let scenarios = 0;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const say = (id: string, body: object) => lab.post(`/api/orchestrator/${id}/message`, body);
const typesOf = (id: string) => lab.engine.events({ run: id }).map(({ type }) => type);
const prompts = async (id: string, key: string): Promise<string[]> => {
  const { json } = await lab.api(`/api/orchestrator/${id}/workers/${key}/transcript`);
  return json.filter(({ type }: { type: string }) => type === "prompt").map(({ text }: { text: string }) => text);
};
const create = (sessions: object[], more: object = {}) =>
  lab.create(lab.lab.scenario(sessions, `message-${++scenarios}.json`), more);

describe("a message", () => {
  it("to a running worker is stored, and only an answer after its delivery counts", async () => {
    const answer = { tools: ["Write"], write: { "docs/a.md": "a" }, block: done({ summary: "done" }) };
    const gate = lab.lab.gate();
    const slow = worker("a", { ...answer, waitForFile: gate.file }, answer);
    const id = await create([...mainSession([{ id: "a" }, { id: "b" }]), slow, worker("b", answer)], {
      autoStart: true,
      config: { autoSpawn: true },
    });
    const { workers } = await lab.until(id, (run) => run.workers["a"]?.session.turn != null);
    const { sessionId } = workers["a"]!;
    expect((await say(id, { text: "use short words", taskId: "a" })).json).toEqual({ success: true });
    expect(typesOf(id)).toContain("message:sent");
    gate.open();
    const over = await lab.until(id, ({ released }) => released);
    expect([over.outcome, over.workers["a"]!.attempt]).toEqual(["success", 1]);
    const [first, second, ...more] = await prompts(id, sessionId);
    expect([first!.includes("use short words"), second!.includes("use short words"), more]).toEqual([false, true, []]);
    // No other session received it.
    expect((await prompts(id, over.workers["b"]!.sessionId)).join()).not.toContain("use short words");
    expect((await prompts(id, over.mainSessionId!)).join()).not.toContain("use short words");
  });

  it("with `now` interrupts an agent that cannot receive it during its turn, and resumes it with the message", async () => {
    const answer = { tools: ["Write"], write: { "docs/a.md": "a" }, block: done({ summary: "done" }) };
    const gate = lab.lab.gate();
    const slow = worker("a", { ...answer, waitForFile: gate.file });
    const id = await create([...mainSession([{ id: "a" }]), slow], { autoStart: true, config: { autoSpawn: true } });
    const { workers } = await lab.until(id, (run) => run.workers["a"]?.session.turn != null);
    const { sessionId } = workers["a"]!;
    await expect.poll(() => prompts(id, sessionId)).toHaveLength(1);
    expect((await say(id, { text: "hurry up", taskId: "a", now: true })).json).toEqual({ success: true });
    // The first turn would wait for the gate.
    await expect.poll(() => prompts(id, sessionId)).toHaveLength(2);
    gate.open();
    const over = await lab.until(id, ({ released }) => released);
    expect([over.outcome, over.workers["a"]!.attempt]).toEqual(["success", 1]);
    expect((await prompts(id, sessionId)).map((text) => text.includes("hurry up"))).toEqual([false, true]);
  });

  it("to the main session waits for its next turn, and to a task that has not started for its first turn", async () => {
    const answer = { tools: ["Write"], write: { "docs/a.md": "a" }, block: done({ summary: "done" }) };
    const id = await create([...mainSession([{ id: "a" }]), worker("a", answer)], { autoStart: true });
    await lab.until(id, ({ status }) => status === "confirming");
    await say(id, { text: "praise the heron" });
    await say(id, { text: "name no zebra", taskId: "a" });
    await lab.post(`/api/orchestrator/${id}/confirm-tasks`);
    const over = await lab.until(id, ({ released }) => released);
    const worked = await prompts(id, over.workers["a"]!.sessionId);
    expect([worked.length, worked[0]!.includes("name no zebra")]).toEqual([1, true]);
    const main = await prompts(id, over.mainSessionId!);
    expect(main.map((text) => text.includes("praise the heron")).slice(-1)).toEqual([true]);
    expect(main.join()).not.toContain("name no zebra");
    expect(over.messages.every(({ told }) => told)).toBe(true);
  });

  it("survives the engine: the next engine delivers it to the adopted session", async () => {
    const id = await create(mainSession([{ id: "a" }]));
    await say(id, { text: "be kind" });
    await lab.stop();
    await lab.start();
    await lab.engine.activate(id);
    await lab.engine.order(id, "start");
    const { mainSessionId } = await lab.until(id, ({ status }) => status === "confirming");
    expect((await prompts(id, mainSessionId!))[0]).toContain("be kind");
  });

  it("is rejected for a finished run or worker, for an unknown task, and without text", async () => {
    const answer = { tools: ["Write"], write: { "docs/a.md": "a" }, block: done({ summary: "done" }) };
    const hangs = worker("b", { say: "hm", then: "hang" });
    const tasks = [{ id: "a" }, { id: "b" }];
    const id = await create([...mainSession(tasks), worker("a", answer), hangs], {
      autoStart: true,
      config: { autoSpawn: true },
    });
    await lab.until(id, ({ workers }) => workers["a"]?.status === "completed");
    const countBefore = typesOf(id).filter((type) => type === "message:sent").length;
    expect((await say(id, { text: "again", taskId: "a" })).json.error.code).toBe("wrong_state");
    const unknown = await say(id, { text: "hello", taskId: "z" });
    expect([unknown.status, unknown.json.error.code]).toEqual([404, "task_not_found"]);
    for (const wrong of [{}, { text: " " }, { text: "x", taskId: "" }, { text: "x", to: "a" }]) {
      expect((await say(id, wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    await lab.post(`/api/orchestrator/${id}/cancel`);
    const late = await say(id, { text: "too late" });
    expect([late.status, late.json.error.code]).toEqual([409, "wrong_state"]);
    expect(typesOf(id).filter((type) => type === "message:sent").length).toBe(countBefore);
  });
});
