// Requests for runs that are sent more than once.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let agent: string;
beforeEach(async () => {
  lab = await ServerLab.open();
  agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
});
afterEach(() => lab.tearDown());

const request = (more: object = {}) => ({
  templateId: "documentation",
  cwd: lab.lab.repo,
  message: "write",
  agent,
  ...more,
});
const post = (key: string, body: unknown) =>
  lab.api("/api/orchestrator", { method: "POST", body, headers: { "idempotency-key": key } });
const count = () => lab.engine.summaries().length;

describe("a request with an Idempotency-Key", () => {
  it("makes one run, and is answered 200 with the first answer when it is repeated, also after a restart", async () => {
    const first = await post("one", request());
    expect(first.status).toBe(201);
    const again = await post("one", request());
    expect([again.status, again.json]).toEqual([200, first.json]);
    await lab.post(`/api/orchestrator/${first.json.orchestratorId}/cancel`);
    await lab.until(first.json.orchestratorId, ({ released }) => released);
    await lab.stop();
    await lab.start();
    const later = await post("one", request());
    expect([later.status, later.json, count()]).toEqual([200, first.json, 1]);
    expect((await post("two", request())).status).toBe(201);
    expect(count()).toBe(2);
  });

  it("that also starts the run says so again, however far the run has come", async () => {
    const first = await post("go", request({ autoStart: true }));
    expect([first.status, first.json.status]).toEqual([201, "analyzing"]);
    await lab.until(first.json.orchestratorId, ({ status }) => status === "confirming");
    const again = await post("go", request({ autoStart: true }));
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  it("finishes what was begun if the server died between making the run and starting it", async () => {
    const body = request({ autoStart: true });
    await post("cut", body);
    // The log as it would be if the server had died right after the run was made.
    const [made] = lab.engine.summaries();
    const { idempotency } = made!;
    const { id } = await lab.engine.create({ ...request(), idempotency: { ...idempotency!, key: "died" } });
    const again = await post("died", body);
    expect([again.status, again.json]).toEqual([200, { orchestratorId: id, status: "analyzing" }]);
  });

  it("is the same request whatever the order of its members, and refused with 422 if it says something else", async () => {
    const first = await post("same", request({ customVariables: { A: 1, B: 2 } }));
    const turned = Object.fromEntries(Object.entries(request({ customVariables: { B: 2, A: 1 } })).toReversed());
    expect((await post("same", turned)).json).toEqual(first.json);
    const other = await post("same", request({ message: "write more" }));
    expect([other.status, other.json.error.code, count()]).toEqual([422, "idempotency_mismatch", 1]);
  });

  it("makes one run when it is sent many times at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post("many", request())));
    expect(answers.filter(({ status }) => status === 201).length).toBe(1);
    expect(answers.filter(({ status }) => status === 200).length).toBe(7);
    expect(new Set(answers.map(({ json }) => json.orchestratorId)).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("that was refused made nothing, so it can be sent again", async () => {
    expect((await post("try", request({ templateId: "nobody" }))).status).toBe(422);
    expect((await post("try", request())).status).toBe(201);
  });

  it("with a name that is none is refused with 400", async () => {
    expect((await post("x".repeat(256), request())).status).toBe(400);
    expect((await post("", request())).status).toBe(400);
    expect(count()).toBe(0);
  });

  it("is forgotten with its run, and not inherited by a fork", async () => {
    const { json } = await post("gone", request());
    await lab.engine.start(json.orchestratorId);
    await lab.until(json.orchestratorId, ({ status }) => status === "confirming");
    const fork = await lab.engine.fork(json.orchestratorId);
    await lab.delete(`/api/orchestrator/${json.orchestratorId}`);
    const anew = await post("gone", request());
    expect(anew.status).toBe(201);
    expect([json.orchestratorId, fork.id]).not.toContain(anew.json.orchestratorId);
  });
});
