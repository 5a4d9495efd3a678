// `POST /api/orchestrator`: accepted requests, and the status of each rejection.
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import type { Template } from "../../src/schema/template.ts";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
let agent: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
});
afterAll(() => lab.tearDown());

describe("creating a run", () => {
  const post = (body: unknown) => lab.post("/api/orchestrator", body);
  const sound = () => ({ templateId: "documentation", cwd: lab.lab.repo, message: "write", agent });

  it("returns 201 with its id and status, and starts it only with autoStart (D4-457)", async () => {
    const { status, json } = await post({ ...sound(), customVariables: { A: "b" } });
    expect(status).toBe(201);
    expect(json).toEqual({ orchestratorId: expect.stringMatching(/^orch_[a-z0-9]{12}$/), status: "created" });
    const run = lab.engine.get(json.orchestratorId)!;
    expect([run.customVariables, run.template.config.maxWorkers]).toEqual([{ A: "b" }, 5]);
    const started = await post({ ...sound(), autoStart: true });
    expect(started.json.status).toBe("analyzing");
    for (const { orchestratorId } of [json, started.json]) {
      await lab.post(`/api/orchestrator/${orchestratorId}/cancel`);
      await lab.until(orchestratorId, ({ released }) => released);
    }
  });

  it("overrides every setting of a template that the request names and keeps the others", async () => {
    const config = { maxRetries: 1, autoRetry: true, failedDependency: "continue", budget: { turns: 50, tokens: 9 } };
    const { json } = await post({
      ...sound(),
      config,
      budget: { usd: 2.5, tokens: 1000, minutes: 10, descendants: 8 },
    });
    const { template } = lab.engine.get(json.orchestratorId)!;
    const templateConfig = lab.local.templates.resolve("documentation").template.config;
    const budget = { ...templateConfig.budget, turns: 50, usd: 2.5, tokens: 1000, minutes: 10, descendants: 8 };
    expect(template.config).toEqual({ ...templateConfig, ...config, budget });
  });

  it("accepts variables of any type", async () => {
    const customVariables = { A: 1, B: [true, null], C: { d: "e" } };
    const { status, json } = await post({ ...sound(), customVariables });
    expect(status).toBe(201);
    expect(lab.engine.get(json.orchestratorId)!.customVariables).toEqual(customVariables);
  });

  it("returns 403 until the user trusts the programs of the project's own template", async () => {
    const template = { id: "mine", name: "Mine", extends: "documentation", config: { agent: "command:./agent" } };
    lab.lab.write(".tutti/templates/mine.json", JSON.stringify(template));
    const seqBefore = lab.engine.lastSeq();
    const { status, json } = await post({ ...sound(), templateId: "mine" });
    expect([status, json.error.code, lab.engine.lastSeq()]).toEqual([403, "needs_trust", seqBefore]);
    const { programs, hash } = json.error.details;
    expect(programs).toEqual(['config.agent: "command:./agent"']);
    expect((await post({ ...sound(), templateId: "mine", trust: "0".repeat(64) })).status).toBe(403);
    expect((await post({ ...sound(), templateId: "mine", trust: hash })).status).toBe(201);
  });

  it("uses the built-in agent if none is named", async () => {
    const { status, json } = await post({ ...sound(), agent: undefined });
    expect(status).toBe(201);
    expect(lab.engine.get(json.orchestratorId)!.agent).toBe("local");
  });

  it("gives phases and roles the agents that the request names, and rejects the others", async () => {
    const roles = { DEVELOPER: { agent: "claude", model: "opus" }, TESTER: { agent: "local", model: "small" } };
    const pipeline = [{ id: "p", role: "DEVELOPER", title: "P", requirements: ["r"], acceptanceCriteria: ["c"] }];
    const phases = { analysis: { enabled: false }, taskPlanning: { enabled: false } };
    lab.local.templates.create({ id: "pair", name: "Pair", extends: "documentation", roles, pipeline, phases });
    const templateOf = async (templateId: string, chosen: object) => {
      const { status, json } = await post({ ...sound(), templateId, roles: chosen });
      return status === 201 ? lab.engine.get(json.orchestratorId)!.template : [json.error.code, json.error.message];
    };
    const { phases: chosen } = (await templateOf("documentation", { analysis: "local" })) as Template;
    expect([chosen.analysis.agent, chosen.workerExecution.agent]).toEqual(["local", undefined]);
    // A model belongs to its agent. In a team the phases without a lead are those of the run's agent.
    const pair = (await templateOf("pair", { DEVELOPER: "local", TESTER: "local", aggregation: "local" })) as Template;
    expect(pair.roles).toMatchObject({ DEVELOPER: { agent: "local" }, TESTER: { agent: "local", model: "small" } });
    expect([pair.roles!["DEVELOPER"]!.model, pair.phases.aggregation.agent]).toEqual([undefined, "local"]);
    // A phase that is off, a role that does not exist, and the workers of a team, which have roles.
    const names = "aggregation, verification, DEVELOPER, TESTER";
    for (const name of ["analysis", "WRITER", "workerExecution"])
      expect(await templateOf("pair", { [name]: "local" })).toEqual([
        "invalid_input",
        `The template "pair" starts no agent for "${name}". Choose from ${names}.`,
      ]);
    expect(await templateOf("feature", { analysis: "local" })).toEqual([
      "invalid_input",
      expect.stringContaining('"analysis". Choose from ORCHESTRATOR, '),
    ]);
    const startable = { DEVELOPER: "local" };
    expect(await templateOf("pair", { ...startable, TESTER: "outside" })).toEqual([
      "invalid_input",
      'A request cannot give "TESTER" the agent "outside". Name another.',
    ]);
    expect(await templateOf("pair", { ...startable, TESTER: "nobody" })).toEqual(["agent_unknown", expect.any(String)]);
  });

  it.each([
    ["without a template", { templateId: undefined }, "templateId"],
    ["without a folder", { cwd: undefined }, "cwd"],
    ["with a relative folder", { cwd: "repo" }, "cwd"],
    ["with an empty request", { message: "  " }, "message"],
    ["with an empty agent", { agent: "" }, "agent"],
    ["with zero workers", { config: { maxWorkers: 0 } }, "config.maxWorkers"],
    ["with an unknown setting", { config: { maxWorker: 1 } }, "config"],
    ["with a setting out of bounds", { config: { maxRetries: 6 } }, "config.maxRetries"],
    ["with a setting of the wrong type", { config: { autoSpawn: "yes" } }, "config.autoSpawn"],
    ["with a budget of zero", { budget: { usd: 0 } }, "budget.usd"],
    ["with an unknown budget", { budget: { pounds: 1 } }, "budget"],
    ["with a trust that is not a hash", { trust: 1 }, "trust"],
    ["with an unknown member", { priority: 1 }, ""],
    ["with a string for a boolean", { autoStart: "yes" }, "autoStart"],
  ])("returns 400 %s, with the path of the problem", async (_, change, path) => {
    const { status, json } = await post({ ...sound(), ...change });
    expect(status).toBe(400);
    expect(json.error.code).toBe("invalid_input");
    expect(json.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it.each([
    ["a list", "[]"],
    ["empty", ""],
    ["half an object", '{"templateId":'],
    ["not UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ])("returns 400 if the body is %s", async (_, body) => {
    const { status, json } = await post(body);
    expect([status, json.error.code]).toEqual([400, "invalid_input"]);
  });

  it.each([
    ["template", { templateId: "nobody" }, "template_not_found"],
    ["agent", { agent: "nobody" }, "agent_unknown"],
    ["folder", { cwd: "/nowhere/at/all" }, "folder_not_found"],
  ])("returns 422 for an unknown %s", async (_, change, code) => {
    const seqBefore = lab.engine.lastSeq();
    const { status, json } = await post({ ...sound(), ...change });
    expect([status, json.error.code, lab.engine.lastSeq()]).toEqual([422, code, seqBefore]);
  });

  // Only root can give a folder to another user.
  it.skipIf(process.getuid?.() !== 0)("returns 422 with git's sentence for a repository of another user", async () => {
    const cwd = join(lab.lab.folder, "of-another");
    lab.lab.git("clone", "--quiet", ".", cwd);
    for (const path of [cwd, join(cwd, ".git")]) chownSync(path, 12_345, 12_345);
    const { status, json } = await post({ ...sound(), cwd });
    expect([status, json.error.code]).toEqual([422, "repository_unusable"]);
    expect(json.error.message).toContain("detected dubious ownership");
  });

  it.each([
    ["a branch named tutti", "refs/heads/tutti", /has a branch "tutti".* Rename it with "git branch -m tutti/],
    [
      "a ref named refs/tutti",
      "refs/tutti",
      /has a ref "refs\/tutti".* Delete it with "git update-ref -d refs\/tutti"/,
    ],
  ])("returns 422 with a remedy for a repository with %s", async (_, ref, sentence) => {
    const cwd = join(lab.lab.folder, ref.replaceAll("/", "-"));
    lab.lab.git("clone", "--quiet", ".", cwd);
    lab.lab.git("-C", cwd, "update-ref", ref, "HEAD");
    const answers = [await post({ ...sound(), cwd })];
    lab.lab.git("-C", cwd, "pack-refs", "--all");
    answers.push(await post({ ...sound(), cwd }));
    for (const { status, json } of answers)
      expect([status, json.error]).toEqual([
        422,
        { code: "repository_unusable", message: expect.stringMatching(sentence) },
      ]);
    lab.lab.git("-C", cwd, "update-ref", "-d", ref);
    expect((await post({ ...sound(), cwd })).status).toBe(201);
  });

  it("returns 422 for a git folder without files, and accepts a folder without git", async () => {
    const { status, json } = await post({ ...sound(), cwd: join(lab.lab.repo, ".git") });
    expect([status, json.error.code]).toEqual([422, "not_a_repository"]);
    const cwd = join(lab.lab.folder, "plain");
    mkdirSync(cwd);
    expect((await post({ ...sound(), cwd })).status).toBe(201);
  });

  it("returns 413 for a body above 1 MiB, with and without a Content-Length", async () => {
    const body = JSON.stringify({ ...sound(), message: "x".repeat(1024 * 1024) });
    expect((await post(body)).status).toBe(413);
    const headers = { "transfer-encoding": "chunked" };
    const { status, json } = await lab.api("/api/orchestrator", { method: "POST", body, headers });
    expect([status, json.error.code]).toEqual([413, "payload_too_large"]);
  });

  it("does not block other requests", async () => {
    const requests = Array.from({ length: 24 }, (_, i) => (i % 2 ? lab.api("/api/orchestrator") : post(sound())));
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(
      requests.map((_, i) => (i % 2 ? 200 : 201)),
    );
  });
});
