// Template settings whose effect shows only in a whole run.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession } from "../lab/scenarios.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

describe("the settings of a request", () => {
  it.each([
    ["autoSpawn", "yes"],
    ["autoSpawn", null],
    ["maxWorkers", true],
    ["maxWorkers", 99],
    ["agent", true],
    ["budget", { usd: -1 }],
    ["noSuchSetting", true],
    ["toString", true],
  ])("are rejected by name if they are invalid: %s %j", async (name, value) => {
    const request = { templateId: "_default", cwd: lab.repo, message: "do it", agent: "local" };
    const created = lab.open().create({ ...request, config: { [name]: value } });
    await expect(created).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`"config.${name}" is invalid`),
    });
  });

  it("replace those of the template", async () => {
    const request = { templateId: "_default", cwd: lab.repo, message: "do it", agent: "local" };
    const config = { autoSpawn: true, retryOnError: false, maxWorkers: 3 };
    expect((await lab.open().create({ ...request, config })).template.config).toMatchObject(config);
  });
});

/** A template in the user's folder. */
function template(id: string, content: object): string {
  const folder = join(lab.data, "templates");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.json`), JSON.stringify({ id, name: id, extends: "_default", ...content }));
  return id;
}
const good = () => lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);

describe("the agent of a run", () => {
  it("is the template's unless the request names one", async () => {
    const engine = lab.open();
    const templateId = template("own", { config: { agent: good(), autoSpawn: true } });
    const request = { templateId, cwd: lab.repo, message: "do it" };
    const { id } = await engine.create(request);
    await engine.order(id, "start");
    expect((await untilOver(engine, id)).outcome).toBe("success");
    const other = await engine.create({ ...request, agent: "command:true" });
    expect(other.agent).toBe("command:true");
  });

  it("may differ in every phase, and each agent is checked before the run exists", async () => {
    const engine = lab.open();
    const workers = lab.scenario(
      [{ match: { role: "writer" }, turns: [{ write: { "w.md": "w" }, block: done({}) }] }],
      "w.json",
    );
    const templateId = template("two", {
      config: { autoSpawn: true },
      phases: { workerExecution: { agent: workers, role: "writer" } },
    });
    const id = await lab.begin(engine, lab.scenario(mainSession([{ id: "one" }])), { templateId });
    const run = await untilOver(engine, id);
    expect(run.workers["one"]).toMatchObject({ status: "completed", session: { agent: workers, role: "writer" } });
    const wrong = template("wrong", { phases: { verification: { agent: "nobody" } } });
    await expect(lab.begin(engine, good(), { templateId: wrong })).rejects.toMatchObject({ code: "agent_unknown" });
  });
});

describe("the agent of a task", () => {
  const writer = (name: string) =>
    lab.scenario(
      [{ match: { role: "worker" }, turns: [{ write: { "{TASK_ID}.md": name }, block: done({}) }] }],
      `${name}.json`,
    );

  it("is chosen by the planner from the template's list, or by the user, and all of them work in one run", async () => {
    const engine = lab.open();
    const templateId = template("team", {
      phases: {
        workerExecution: {
          agents: { first: { agent: writer("first") }, second: { agent: writer("second"), model: "m2" } },
        },
      },
    });
    const plan = [
      { id: "a", agent: "first" },
      { id: "b", agent: "second" },
      { id: "c", agent: "command:evil" },
    ];
    const id = await lab.begin(engine, lab.scenario([...mainSession(plan), goodWorker]), { templateId });
    const waiting = await engine.until(id, ({ status }) => status === "confirming");
    expect(waiting.planWarnings.join()).toContain('names the agent "command:evil", which is not configured');
    await expect(engine.order(id, "confirm", { modifications: { c: { agent: "nobody" } } })).rejects.toMatchObject({
      code: "agent_unknown",
    });
    const third = writer("third");
    await engine.order(id, "confirm", { modifications: { c: { agent: third, model: "m3" } } });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect(["a", "b", "c"].map((task) => lab.git("show", `tutti/${id}:${task}.md`))).toEqual([
      "first",
      "second",
      "third",
    ]);
    expect(run.workers["b"]!.session).toMatchObject({ model: "m2" });
    expect(run.workers["c"]!.session).toMatchObject({ agent: third, model: "m3" });
    // Another machine has to agree to the program that the user assigned here.
    const text = engine.export(id);
    await engine.cleanup(id);
    const refused: unknown = await lab
      .open(new MemoryStore())
      .import(text)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "needs_trust" });
    expect(JSON.stringify(refused)).toContain("tasks.c.agent");
  });

  it("cannot be one that the machine does not have, in the template's list", async () => {
    const templateId = template("wrong", { phases: { workerExecution: { agents: { x: { agent: "nobody" } } } } });
    await expect(lab.begin(lab.open(), good(), { templateId })).rejects.toMatchObject({ code: "agent_unknown" });
  });
});

describe("an idle worker", () => {
  it("is ended after `idleTimeout`, unless it sends heartbeats (D4-590)", async () => {
    const world = new SteeredWorld();
    const engine = lab.open(new MemoryStore(), { world });
    const alive = { phase: "heartbeat", data: { timestamp: "2026-11-15T00:00:00Z", alive: true } };
    const file = join(lab.folder, "beating.mjs");
    writeFileSync(
      file,
      `import { existsSync } from "node:fs";
       const say = (line) => console.log(JSON.stringify(line));
       const block = (value) => "<<<ORCHESTRATOR_RESPONSE>>>" + JSON.stringify(value) + "<<<END_ORCHESTRATOR_RESPONSE>>>";
       process.stdin.once("data", () => {
         if (process.env.TUTTI_TASK_ID === "mute") return;
         const timer = setInterval(() => {
           if (!existsSync(${JSON.stringify(join(lab.folder, "finish"))})) return say({ type: "assistant", text: block(${JSON.stringify(alive)}) });
           clearInterval(timer);
           say({ type: "tool", name: "Read" });
           const data = { task_id: process.env.TUTTI_TASK_ID, status: "success" };
           say({ type: "assistant", text: block({ phase: "completion", data }) });
           say({ type: "turn_end" });
         }, 50);
       });
       process.stdin.on("end", () => process.exit(0));`,
    );
    const agent = lab.scenario(mainSession([{ id: "beating" }, { id: "mute" }]));
    const id = await lab.begin(engine, agent, {
      config: { autoSpawn: true, idleTimeout: 900_000, workerTimeout: 3_600_000 },
      phases: { workerExecution: { agent: `command:${process.execPath} ${file}`, timeout: 3_600_000 } },
    });
    const { workers } = await engine.until(id, (run) =>
      ["beating", "mute"].every((task) => run.workers[task]?.session.turn != null),
    );
    const beats = async () => (await engine.transcript(id, workers["beating"]!.sessionId)).length;
    for (let i = 0; i < 3; i++) {
      // The last of these heartbeats was written after the engine had read the first.
      const before = await beats();
      await expect.poll(beats).toBeGreaterThan(before + 4);
      await world.pass(500_000);
    }
    writeFileSync(join(lab.folder, "finish"), "");
    const run = await untilOver(engine, id);
    expect(run.workers["beating"]!.status).toBe("completed");
    expect(run.workers["mute"]).toMatchObject({ status: "timeout", errorCode: "worker_idle" });
  });
});

describe("the format of answers", () => {
  it("uses the template's delimiters, and other blocks are plain text (E43)", async () => {
    const engine = lab.open();
    const responseFormat = { delimiterStart: "[[[ANSWER]]]", delimiterEnd: "[[[END]]]" };
    const templateId = template("marks", { config: { autoSpawn: true }, prompts: { responseFormat } });
    const id = await lab.begin(engine, good(), { templateId });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    const prompts = JSON.stringify(await engine.transcript(id, run.mainSessionId!));
    expect(prompts).toContain("[[[ANSWER]]]");
    expect(prompts).not.toContain("<<<ORCHESTRATOR_RESPONSE>>>");
  });

  it("requires a `task_list` block for the plan, whose prompt contains the analysis summary (D4-023, D4-024)", async () => {
    const engine = lab.open();
    const [analysis, plan, ...rest] = mainSession([{ id: "one" }]);
    const repeating = { ...plan!, turns: [...analysis!.turns, ...plan!.turns] };
    const agent = lab.scenario([analysis!, repeating, ...rest, goodWorker]);
    const user = "Plan {RECOMMENDED_SPLITS} task for: {ANALYSIS_SUMMARY}.";
    const templateId = template("asking", { prompts: { taskPlanning: { user } } });
    const id = await lab.begin(engine, agent, { templateId });
    const run = await engine.until(id, ({ status }) => status !== "analyzing" && status !== "planning");
    expect(run).toMatchObject({ status: "confirming", tasks: [{ id: "one" }] });
    const asked = (await engine.transcript(id, run.mainSessionId!)).filter(({ type }) => type === "prompt");
    expect(asked).toHaveLength(3);
    for (const each of asked.slice(1)) expect(JSON.stringify(each)).toContain("Plan 1 task for: a small project.");
    const ended = engine.events({ run: id }).flatMap((event) => (event.type === "turn:ended" ? [event.data] : []));
    expect(ended.map(({ problems }) => problems)).toEqual([
      [],
      ['None of the blocks counts: a valid "task_list" block is missing.'],
      [],
    ]);
    await engine.order(id, "cancel");
    await untilOver(engine, id);
  });

  it("requires the template's fields, and a repeated prompt names the missing ones (D4-399)", async () => {
    const engine = lab.open();
    const analysis = (data: object) => ({
      block: { phase: "analysis", data: { summary: "s", recommended_splits: 1, ...data } },
    });
    const [, plan, ...rest] = mainSession([{ id: "one" }]) as object[];
    const task = { id: "one", title: "t", description: "d", estimated_tokens: 5 };
    const agent = lab.scenario([
      { match: { role: "main", phase: "analysis" }, turns: [analysis({}), analysis({ risks: "few" })] },
      {
        match: { role: "main", phase: "task_list" },
        turns: [(plan as { turns: object[] }).turns[0], { block: { phase: "task_list", data: { tasks: [task] } } }],
      },
      ...rest,
      {
        match: { role: "worker" },
        turns: [{ write: { "a.md": "a" }, block: done({}) }, { block: done({ summary: "s" }) }],
      },
    ]);
    const prompts = Object.fromEntries(
      [
        ["analysis", { requiredFields: ["risks"] }],
        ["taskPlanning", { taskSchema: { required: ["estimated_tokens"] } }],
        ["worker", { requiredFields: ["summary"] }],
      ].map(([name, format]) => [name, { format }]),
    );
    const templateId = template("strict", { config: { autoSpawn: true }, prompts });
    const id = await lab.begin(engine, agent, { templateId });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    const problems = engine
      .events({ run: id })
      .flatMap((event) => (event.type === "turn:ended" ? event.data.problems : []));
    expect(problems).toEqual([
      "data.risks is missing.",
      "data.tasks[0].estimated_tokens is missing.",
      "data.summary is missing.",
    ]);
  });
});

describe("a project's own template", () => {
  const projectTemplate = (content: object) => {
    mkdirSync(join(lab.repo, ".tutti/templates"), { recursive: true });
    writeFileSync(
      join(lab.repo, ".tutti/templates/ours.json"),
      JSON.stringify({ id: "ours", name: "Ours", extends: "_default", ...content }),
    );
  };

  it("is read from the repository, and its programs run only after the user has allowed exactly these", async () => {
    const engine = lab.open();
    const ours = { templateId: "ours", config: { autoSpawn: true } };
    projectTemplate({});
    const id = await lab.begin(engine, good(), ours);
    expect((await untilOver(engine, id)).templateId).toBe("ours");
    projectTemplate({ hooks: { onError: "command:curl example.org" } });
    const refusal = await lab.begin(engine, good(), ours).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "needs_trust",
      details: { programs: [expect.stringContaining("curl example.org")] },
    });
    const { hash } = (refusal as { details: { hash: string } }).details;
    await expect(lab.begin(engine, good(), { ...ours, trust: "0".repeat(64) })).rejects.toMatchObject({
      code: "needs_trust",
    });
    expect((await untilOver(engine, await lab.begin(engine, good(), { ...ours, trust: hash }))).outcome).toBe(
      "success",
    );
    projectTemplate({ hooks: { onError: "command:rm -rf ~" } });
    await expect(lab.begin(engine, good(), { ...ours, trust: hash })).rejects.toMatchObject({
      code: "needs_trust",
    });
  });

  it("applies to the next run after an edit, and a run keeps the template it started with", async () => {
    const engine = lab.open();
    projectTemplate({ config: {} });
    const id = await lab.begin(engine, good(), { templateId: "ours" });
    projectTemplate({ config: { maxWorkers: 2 } });
    await engine.until(id, ({ status }) => status === "confirming");
    expect(engine.get(id)!.template.config.maxWorkers).toBe(5);
    const next = await lab.begin(engine, good(), { templateId: "ours" });
    expect(engine.get(next)!.template.config.maxWorkers).toBe(2);
    for (const each of [id, next]) {
      await engine.order(each, "cancel").catch(() => {});
      await engine.until(each, ({ released }) => released);
    }
  });
});
