// `tutti.config.json` of the user and of a project: its validation, and its effect on runs.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tuttiJson } from "../cli/in-process.ts";
import { readProjectConfig, readUserConfig } from "../../src/config/config.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { startLocalServer } from "../../src/main/local-server.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { Lab, type JsonLine } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
  mkdirSync(lab.data);
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

const writeUserConfig = (config: unknown) => writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify(config));
const writeProjectConfig = (config: unknown) => lab.write("tutti.config.json", JSON.stringify(config));
const run = (...flags: string[]) =>
  tuttiJson<JsonLine>(["--data-dir", lab.data, "run", "x", "--cwd", lab.repo, "--yes", ...flags]);
const scripted = () => lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
const thrown = (work: () => unknown): TuttiError => {
  try {
    work();
  } catch (error) {
    return error as TuttiError;
  }
  throw new Error("nothing was thrown");
};

describe("a configuration", () => {
  it("that does not exist counts as empty", () => {
    const missing = [readUserConfig(lab.data), readProjectConfig(join(lab.folder, "nowhere"))];
    expect(missing).toEqual([{ agents: {} }, { agents: {} }]);
    writeUserConfig({});
    writeProjectConfig({});
    expect([readUserConfig(lab.data), readProjectConfig(lab.repo)]).toEqual(missing);
  });

  it.each([
    [{ agnet: "local" }, "unknown setting agnet"],
    [{ agents: { x: { agent: "claude", evn: [] } } }, "unknown setting agents.x.evn"],
    [{ agents: { "a:b": { agent: "claude" } } }, "agents.a:b: must be a name of letters"],
    [{ agents: { claude: { agent: "command:other" } } }, "must not be the name of a built-in agent"],
    [
      { agents: { x: { agent: "claude", env: ["A=b"] } } },
      "agents.x.env.0: must be the name of an environment variable",
    ],
    [{ maxWorkers: 21 }, "maxWorkers: "],
    [{ maxWorkers: "4" }, "maxWorkers: "],
    [{ server: { rateLimit: 0 } }, "server.rateLimit: "],
    [{ server: { folders: ["projects"] } }, "server.folders.0: must be an absolute path"],
    [{ server: { port: 1 } }, "unknown setting server.port"],
    [{ subSessions: { inactivity: 1 } }, "unknown setting subSessions.inactivity"],
    [{ subSessions: { pollInterval: 0 } }, "subSessions.pollInterval: "],
    ["text", "the file: "],
  ])("%j is rejected with the path of the problem", (config, problem) => {
    writeUserConfig(config);
    const error = thrown(() => readUserConfig(lab.data));
    expect([error.code, error.kind.exit]).toEqual(["usage", 2]);
    expect(error.message).toContain(problem);
    expect(error.message).toContain(join(lab.data, "tutti.config.json"));
  });

  it("of a project must not name environment variables", () => {
    writeProjectConfig({ agents: { x: { agent: "claude", env: ["HOME"] } } });
    expect(thrown(() => readProjectConfig(lab.repo)).message).toContain("unknown setting agents.x.env");
  });

  it("is rejected if it is a link to a device, which may never end, or larger than 4 MiB", () => {
    const file = join(lab.repo, "tutti.config.json");
    symlinkSync("/dev/null", file);
    expect(thrown(() => readProjectConfig(lab.repo)).message).toContain("it is not a regular file");
    rmSync(file);
    writeFileSync(file, `{}${" ".repeat(4 * 1024 * 1024)}`);
    expect(thrown(() => readProjectConfig(lab.repo)).message).toContain("it is larger than 4 MiB");
    writeFileSync(file, "{}");
    expect(readProjectConfig(lab.repo)).toMatchObject({});
  });

  it("that is not JSON refuses a run before its creation: exit 2", async () => {
    lab.write("tutti.config.json", "{ not json");
    expect(await run()).toMatchObject({
      code: 2,
      last: { error: { message: expect.stringContaining("is not valid JSON") } },
    });
    expect(await tuttiJson(["--data-dir", lab.data, "list"])).toMatchObject({ last: [] });
  });
});

describe("a user-defined agent", () => {
  it("runs under its name, and receives only the variables in its env", async () => {
    vi.stubEnv("TUTTI_TEST_NAMED", "for it");
    vi.stubEnv("TUTTI_TEST_OTHER", "not for it");
    const program = join(lab.folder, "agent.mjs");
    const seen = join(lab.folder, "seen");
    writeFileSync(
      program,
      `import { createInterface } from "node:readline";
       import { appendFileSync, writeFileSync } from "node:fs";
       const { TUTTI_TASK_ID: id, TUTTI_TEST_NAMED: named = "-", TUTTI_TEST_OTHER: other = "-" } = process.env;
       appendFileSync(${JSON.stringify(seen)}, (id ?? "main") + " " + named + " " + other + "\\n");
       const data = { analysis: { summary: "s", recommended_splits: 1 }, taskPlanning: { tasks: [{ id: "one", title: "t", description: "d" }] }, workerExecution: { task_id: id, status: "success" } };
       const names = { analysis: "analysis", taskPlanning: "task_list", workerExecution: "completion" };
       for await (const line of createInterface({ input: process.stdin })) {
         const { phase } = JSON.parse(line);
         if (id) writeFileSync("a.md", "a");
         console.log("<<<ORCHESTRATOR_RESPONSE>>>" + JSON.stringify({ phase: names[phase], data: data[phase] }) + "<<<END_ORCHESTRATOR_RESPONSE>>>");
         console.log(JSON.stringify({ type: "turn_end" }));
       }`,
    );
    const agent = `command:${process.execPath} ${program}`;
    writeUserConfig({ agents: { mine: { agent, env: ["TUTTI_TEST_NAMED"] } } });
    const { code, last } = await run("--agent", "mine");
    expect([code, last.outcome]).toEqual([0, "success"]);
    expect(readFileSync(seen, "utf8").trim().split("\n")).toEqual(["main for it -", "one for it -"]);
    // The run stores the provider, because the meaning of the name may change later.
    const providers = { mine: `command:${basename(process.execPath)}` };
    expect(lab.events()[0]).toMatchObject({ type: "orchestrator:created", data: { agent: "mine", providers } });
    expect(await run("--agent", "another")).toMatchObject({ code: 3, last: { error: { code: "agent_unknown" } } });
  });
});

describe("the settings of a run", () => {
  it("come from a flag, then the template, then the configuration of the project, then that of the user", async () => {
    writeUserConfig({ agent: "claude", template: "testing", maxWorkers: 2, agents: { mine: { agent: scripted() } } });
    lab.write(".tutti/templates/house.json", JSON.stringify({ id: "house", name: "House", extends: "_default" }));
    writeProjectConfig({ agent: "mine", template: "house" });
    lab.git("add", "-A");
    lab.git("commit", "-q", "-m", "configuration");
    const { code, lines } = await run();
    expect(code).toBe(0);
    expect(lines[0]!.data).toMatchObject({
      templateId: "house",
      agent: "mine",
      template: { config: { maxWorkers: 2 } },
    });

    const local = openLocalEngine({ dataDir: lab.data });
    const made = async (more: object) =>
      local.engine.create({ templateId: "house", cwd: lab.repo, message: "x", ...more });
    try {
      expect((await made({})).agent).toBe("mine");
      expect((await made({ agent: "local", config: { maxWorkers: 7 } })).template.config.maxWorkers).toBe(7);
      lab.write(
        ".tutti/templates/house.json",
        JSON.stringify({ id: "house", name: "House", extends: "_default", config: { agent: "local" } }),
      );
      expect((await made({})).agent).toBe("local");
    } finally {
      await local.close();
    }
  });
});

describe("a project configuration that would start programs", () => {
  it("is refused until the user agrees to exactly these programs; agents of the user need no consent", async () => {
    writeProjectConfig({ agent: "tool", agents: { tool: { agent: scripted() }, safe: { agent: "claude" } } });
    const refused = await run("--template", "_default");
    expect(refused).toMatchObject({ code: 4, last: { error: { code: "needs_trust" } } });
    const { programs, hash } = (refused.last.error as unknown as { details: { programs: string[]; hash: string } })
      .details;
    expect(programs).toEqual([`tutti.config.json agents.tool: ${JSON.stringify(scripted())}`]);
    const { code, lines } = await run("--template", "_default", "--trust", hash);
    expect(code).toBe(0);
    // The run stores the program that the user agreed to, not its name.
    expect(lines[0]!.data).toMatchObject({ agent: scripted() });
    writeProjectConfig({ agent: "tool", agents: { tool: { agent: "command:something-else" } } });
    expect(await run("--template", "_default", "--trust", hash)).toMatchObject({ code: 4 });
    writeProjectConfig({ agent: "tool" });
    writeUserConfig({ agents: { tool: { agent: scripted() } } });
    expect(await run("--template", "_default")).toMatchObject({ code: 0 });
  });
});

describe("the name of an agent in a project configuration", () => {
  const ofProject = (template: object) =>
    lab.write(
      ".tutti/templates/ours.json",
      JSON.stringify({ id: "ours", name: "Ours", extends: "_default", ...template }),
    );

  it("hides no setting with the same text from the user", async () => {
    writeProjectConfig({ agents: { all: { agent: "local" } } });
    ofProject({ config: { agent: "all", permissions: { mode: "all" } } });
    const { last } = await run("--template", "ours");
    expect(last).toMatchObject({
      error: { code: "needs_trust", details: { programs: ['config.permissions.mode: "all"'] } },
    });
  });

  it("may be the agent of a role", async () => {
    writeProjectConfig({ agents: { plain: { agent: "local" } } });
    ofProject({ roles: { BUILDER: { agent: "plain" } } });
    const local = openLocalEngine({ dataDir: lab.data });
    try {
      const { template } = await local.engine.create({ templateId: "ours", cwd: lab.repo, message: "x" });
      expect(template.roles!["BUILDER"]!.agent).toBe("local");
    } finally {
      await local.close();
    }
  });
});

describe("the server limits", () => {
  it("come from the configuration of the user if no flag sets them", async () => {
    const inside = join(lab.repo, "inside");
    writeUserConfig({ server: { rateLimit: 2, folders: [inside] } });
    const server = await startLocalServer({ dataDir: lab.data, port: 0, host: "127.0.0.1", version: "1", token: "t" });
    const create = (cwd: string) =>
      fetch(`${server.url}/api/orchestrator`, {
        method: "POST",
        headers: { authorization: "Bearer t" },
        body: JSON.stringify({ templateId: "documentation", cwd, message: "x", agent: "local" }),
      });
    try {
      // 422: the allowed folder does not exist. 403: another folder is refused before that check.
      expect((await create(inside)).status).toBe(422);
      expect((await create(lab.repo)).status).toBe(403);
      expect((await create(lab.repo)).status).toBe(429);
    } finally {
      await server.close({ leaveRunning: false });
    }
  });

  it("cannot be set by a project", () => {
    writeProjectConfig({ server: { rateLimit: 2 } });
    expect(thrown(() => readProjectConfig(lab.repo)).message).toContain("unknown setting server");
  });
});
