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
  it("creates one run, and a repeat returns 200 with the first response, also after a restart", async () => {
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

  it("and autoStart gets the same response again, whatever the status of the run is now", async () => {
    const first = await post("go", request({ autoStart: true }));
    expect([first.status, first.json.status]).toEqual([201, "analyzing"]);
    await lab.until(first.json.orchestratorId, ({ status }) => status === "confirming");
    const again = await post("go", request({ autoStart: true }));
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  it("starts the run if the server died between creating and starting it", async () => {
    const body = request({ autoStart: true });
    await post("cut", body);
    // The log of a server that died right after it created the run.
    const [made] = lab.engine.summaries();
    const { idempotency } = made!;
    const { id } = await lab.engine.create({ ...request(), idempotency: { ...idempotency!, key: "died" } });
    const again = await post("died", body);
    expect([again.status, again.json]).toEqual([200, { orchestratorId: id, status: "analyzing" }]);
  });

  it("matches in any order of members, and returns 422 if the content differs", async () => {
    const first = await post("same", request({ customVariables: { A: 1, B: 2 } }));
    const turned = Object.fromEntries(Object.entries(request({ customVariables: { B: 2, A: 1 } })).toReversed());
    expect((await post("same", turned)).json).toEqual(first.json);
    const other = await post("same", request({ message: "write more" }));
    expect([other.status, other.json.error.code, count()]).toEqual([422, "idempotency_mismatch", 1]);
  });

  it("creates one run when it is sent many times at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post("many", request())));
    expect(answers.filter(({ status }) => status === 201).length).toBe(1);
    expect(answers.filter(({ status }) => status === 200).length).toBe(7);
    expect(new Set(answers.map(({ json }) => json.orchestratorId)).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("can be sent again after a rejection, which created no run", async () => {
    expect((await post("try", request({ templateId: "nobody" }))).status).toBe(422);
    expect((await post("try", request())).status).toBe(201);
  });

  it("that is malformed returns 400", async () => {
    expect((await post("x".repeat(256), request())).status).toBe(400);
    expect((await post("", request())).status).toBe(400);
    expect(count()).toBe(0);
  });

  it("is forgotten when its run is deleted, and a fork does not inherit it", async () => {
    const { json } = await post("gone", request());
    await lab.engine.order(json.orchestratorId, "start");
    await lab.until(json.orchestratorId, ({ status }) => status === "confirming");
    const fork = await lab.engine.fork(json.orchestratorId);
    await lab.delete(`/api/orchestrator/${json.orchestratorId}`);
    const anew = await post("gone", request());
    expect(anew.status).toBe(201);
    expect([json.orchestratorId, fork.id]).not.toContain(anew.json.orchestratorId);
  });
});
