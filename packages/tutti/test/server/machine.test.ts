// The routes about the server's machine: checks, settings, notifications, costs and rehearsals.
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { done, mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab, VERSION } from "./server-lab.ts";

const usage = { inputTokens: 1000, outputTokens: 100, usd: 0.5 };

let lab: ServerLab;
beforeAll(async () => {
  lab = await ServerLab.open();
});
afterAll(() => lab.tearDown());

const write = (config: object) => writeFileSync(join(lab.lab.data, "tutti.config.json"), JSON.stringify(config));

describe("the machine", () => {
  it("is checked as by `tutti doctor`", async () => {
    const { status, json } = await lab.api("/api/doctor");
    expect([status, json.ok]).toEqual([200, true]);
    expect(json.checks).toContainEqual(expect.objectContaining({ name: "git", status: "ok" }));
    expect(json.checks).toContainEqual(expect.objectContaining({ name: "agent local", status: "ok" }));
  });

  it("shows its settings without the secrets in them", async () => {
    write({
      agent: "fast",
      agents: { fast: { agent: "command:/opt/fast --quiet" } },
      retention: { days: 30 },
      notifications: { webhooks: [{ url: "https://hooks.example.org/T0/secret" }], allowHosts: ["hooks.example.org"] },
    });
    const { json, text } = await lab.api("/api/settings");
    expect(json).toMatchObject({
      version: VERSION,
      dataDir: lab.lab.data,
      agent: "fast",
      template: null,
      agents: [{ name: "fast", agent: "command:/opt/fast --quiet" }],
      retention: { days: 30 },
      notifications: { targets: [expect.stringContaining("hooks.example.org")] },
    });
    expect(text).not.toContain("secret");
    write({ unknown: true });
    expect(await lab.api("/api/settings")).toMatchObject({ status: 400, json: { error: { code: "usage" } } });
    write({});
  });

  it("shows neither a secret in the command of an agent, nor the variables of agents, nor parts of addresses", async () => {
    const key = ["sk", "-ant-", "api03-", "Q7".repeat(40)].join("");
    vi.stubEnv("MACHINE_TEST_KEY", "value-of-the-variable-8812");
    vi.stubEnv("MACHINE_TEST_SIGN", "value-that-signs-8813");
    write({
      agents: { fast: { agent: `command:/opt/fast --key ${key} --token=${lab.token}`, env: ["MACHINE_TEST_KEY"] } },
      notifications: {
        webhooks: [{ url: "https://hooks.example.org/T0/path-4712?key=query-4713", secretEnv: "MACHINE_TEST_SIGN" }],
        allowHosts: ["hooks.example.org"],
        command: `/opt/notify --key ${key}`,
      },
    });
    const { token } = lab.tokens.create({ name: "operator", role: "operate" });
    const { status, json, text } = await lab.ask("/api/settings", { headers: { authorization: `Bearer ${token}` } });
    vi.unstubAllEnvs();
    write({});
    expect([status, json.agents]).toEqual([
      200,
      [{ name: "fast", agent: expect.stringMatching(/^command:\/opt\/fast /) }],
    ]);
    expect(json.notifications.targets).toHaveLength(2);
    for (const secret of [key, lab.token, "8812", "8813", "4712", "4713"]) expect(text).not.toContain(secret);
    expect((await lab.ask("/api/settings")).status).toBe(401);
  });

  it("is closed to tokens that only view", async () => {
    const { token } = lab.tokens.create({ name: "wall", role: "view" });
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ["/api/doctor", "/api/settings"]) expect((await lab.ask(path, { headers })).status).toBe(403);
    expect((await lab.ask("/api/notify/test", { method: "POST", headers })).status).toBe(403);
    expect((await lab.ask("/api/usage", { headers })).status).toBe(200);
  });

  it("sends a test notification to every target, and says that there is none", async () => {
    const file = join(lab.lab.folder, "notified.txt");
    write({ notifications: { command: `sh -c "cat > '${file}'"` } });
    const sent = await lab.post("/api/notify/test");
    expect(sent.json).toEqual({
      ok: true,
      targets: [{ target: expect.any(String), ok: true, detail: expect.any(String) }],
    });
    write({});
    expect((await lab.post("/api/notify/test")).json).toEqual({ ok: false, targets: [] });
  });
});

describe("the usage of all runs", () => {
  it("is summed by day, run, agent, model, template and repository, and a fork pays only its own turns", async () => {
    const tasks = [{ id: "a", model: "small" }, { id: "b" }];
    const finish = { write: { "{TASK_ID}.md": "x" }, block: done({}), usage };
    const agent = lab.lab.scenario([...mainSession(tasks), worker("*", finish)]);
    const id = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
    await lab.until(id, ({ released }) => released);
    const fork = await lab.post(`/api/runs/${id}/fork`);
    expect(fork.status).toBe(201);
    const rows = async (by: string) => (await lab.api(`/api/usage?by=${by}`)).json;
    const total = { inputTokens: 2000, outputTokens: 200, usd: 1 };
    const today = new Date().toISOString().slice(0, 10);
    expect(await rows("run")).toEqual([{ key: id, runs: 1, turns: 6, ...total }]);
    expect(await rows("day")).toEqual([
      { key: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), runs: 1, turns: 6, ...total },
    ]);
    expect((await rows("day"))[0].key <= today).toBe(true);
    expect(await rows("template")).toEqual([{ key: "documentation", runs: 1, turns: 6, ...total }]);
    expect(await rows("repository")).toEqual([{ key: lab.lab.repo, runs: 1, turns: 6, ...total }]);
    expect(await rows("agent")).toEqual([{ key: agent, runs: 1, turns: 6, ...total }]);
    expect(await rows("model")).toMatchObject([
      { key: "default", turns: 5, usd: 0.5 },
      { key: "small", turns: 1, usd: 0.5 },
    ]);
    expect((await lab.api("/api/usage?by=model&after=default")).json).toHaveLength(1);
  });
});

describe("a rehearsal", () => {
  it("returns the plan, every prompt and the outcome, and leaves nothing behind", async () => {
    const body = { message: "Describe the till", tasks: 2 };
    const { status, json } = await lab.post("/api/templates/documentation/rehearse", body);
    expect([status, json.status, json.outcome]).toEqual([200, "completed", "success"]);
    expect(json.tasks).toHaveLength(2);
    expect(json.census).toMatchObject({ planned: 2, completed: 2 });
    const prompts: { phase: string; text: string }[] = json.prompts;
    expect(prompts.filter(({ phase }) => phase === "workerExecution")).toHaveLength(2);
    expect(prompts[0]!.text).toContain("Describe the till");
    expect(
      (await lab.api("/api/runs")).json.map(({ userRequest }: { userRequest: string }) => userRequest),
    ).not.toContain("Describe the till");
    // The prompts name the folder of the rehearsal, which is gone.
    const [folder = ""] = new RegExp(`${tmpdir()}/tutti-rehearsal-\\w+`).exec(JSON.stringify(prompts)) ?? [];
    expect([folder === "", existsSync(folder)]).toEqual([false, false]);
    expect((await lab.post("/api/templates/nobody/rehearse", {})).status).toBe(404);
  });
});
