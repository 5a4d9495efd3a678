// The gate and the messages over the public interface.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServerLab } from "../server/server-lab.ts";
import { rejection, reviews, teamScenario } from "./team-scenario.ts";

let lab: ServerLab;
beforeEach(async () => {
  lab = await ServerLab.open();
});
afterEach(() => lab.tearDown());

const api = (path: string, more: object = {}) => lab.ask(`/api/orchestrator${path}`, { headers: lab.bearer, ...more });

/** A run of `hotfix` whose reviews all reject, with these policies, until it has ended. */
async function rejected(environments: object, more: object = {}): Promise<string> {
  const members = { extends: "hotfix", gate: { environments, ...more }, team: { rejectionLimit: 0 } };
  lab.local.templates.create({ id: "own", name: "own", ...members });
  const agent = lab.lab.scenario(teamScenario([reviews(rejection("no"))]));
  const id = await lab.create(agent, { templateId: "own", autoStart: true, config: { autoSpawn: true } });
  await lab.until(id, ({ released }) => released);
  return id;
}

const override = (id: string, environment: string, more: object = {}) =>
  api(`/${id}/gate/override`, { method: "POST", body: { environment, reason: "an outage" }, ...more });
const retry = (id: string) => api(`/${id}/retry`, { method: "POST", body: { taskId: "deployment" } });

describe("an override", () => {
  it("lets an admin open the gate of the target where the template allows it, and stays visible", async () => {
    const id = await rejected({ live: { override: true }, staging: { override: false } }, { environment: "live" });
    expect(await retry(id)).toMatchObject({ status: 409, json: { error: { code: "gate_closed" } } });
    expect(await override(id, "staging")).toMatchObject({ status: 409, json: { error: { code: "gate_closed" } } });
    expect((await override(id, "elsewhere")).status).toBe(400);
    const { token } = lab.tokens.create({ name: "ann", role: "operate" });
    expect((await override(id, "live", { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
    const { status, json } = await override(id, "live");
    expect(status).toBe(200);
    expect(json[0]).toMatchObject({
      environment: "live",
      state: "overridden",
      approvedBy: "the user",
      reasons: ["an outage"],
    });
    expect((await retry(id)).status).toBe(200);
    const run = await lab.until(
      id,
      ({ workers, released }) => released && workers["deployment"]?.status === "completed",
    );
    expect(run.workers["deployment"]!.session.start).toBe(json[0].commit);
    const gate = await api(`/${id}/gate`);
    expect(gate.json[0].overrides).toMatchObject([{ by: "the user", reason: "an outage", commit: json[0].commit }]);
    const result = await api(`/${id}/result`);
    expect(result.json.warnings.join(" ")).toContain("overridden by the user");
  });
});

describe("the messages of a run", () => {
  it("are listed with their states and times", async () => {
    const id = await rejected({});
    const { status, json } = await api(`/${id}/messages`);
    expect(status).toBe(200);
    const [assignment, ...rest] = json;
    expect(assignment).toMatchObject({
      type: "TASK_ASSIGNMENT",
      protocol: "messages",
      from: "ORCHESTRATOR",
      to: "DEVELOPER",
      taskId: "developer",
      state: "acted",
    });
    for (const time of ["queuedAt", "deliveredAt", "acknowledgedAt", "actedAt"])
      expect(Date.parse(assignment[time])).toBeGreaterThan(0);
    expect((await api(`/${id}/messages?after=${assignment.id}&limit=1`)).json).toEqual(rest.slice(0, 1));
  });
});
