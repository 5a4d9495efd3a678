import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { processesOf, type JsonLine } from "../lab/lab.ts";
import { mainSession } from "../lab/scenarios.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { rehearsalScenario } from "../../src/session/drivers/script/rehearsal.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";

let lab: InProcessLab;
/** Parent of the rehearsal folders of this test, so that folders of other processes do not count. */
let temporary: string;
beforeEach(() => {
  lab = new InProcessLab();
  temporary = mkdtempSync(join(tmpdir(), "tutti-rehearse-test-"));
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesOf(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
  lab.tearDown();
});

interface Prompt {
  phase: string;
  taskId: string | null;
  text: string;
}

const rehearse = (...args: string[]) => lab.tutti(["rehearse", ...args]);
const rehearseJson = async (...args: string[]) => {
  const result = await lab.json(["rehearse", ...args]);
  const lines = result.lines as (JsonLine & { prompt?: Prompt })[];
  return { ...result, prompts: lines.flatMap(({ prompt }) => (prompt ? [prompt] : [])) };
};

describe("a rehearsal", () => {
  it("shows the lines that a template adds to the prompts it inherits", async () => {
    mkdirSync(join(lab.data, "templates"), { recursive: true });
    const { template } = new TemplateLibrary({ userFolder: join(lab.data, "templates") }).resolve("documentation");
    const worker = {
      ...template.prompts.worker,
      user: `${template.prompts.worker.user}\n\nMention walruses in {LANGUAGE} only.`,
    };
    const changed = { id: "walrus", name: "Walrus", extends: "documentation", prompts: { worker } };
    writeFileSync(join(lab.data, "templates/walrus.json"), JSON.stringify(changed));
    const { code, stdout, stderr } = await rehearse("walrus", "--tasks", "1");
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("  | …\n  | Mention walruses in English only.\n");
    // Inherited lines after the first ones are left out.
    expect(stdout).not.toContain("Change no code, no comments and no tests");
  });

  it("prints the course of a template, succeeds, and leaves no files or processes", async () => {
    const { code, stdout, stderr } = await rehearse("implementation");
    expect(code, stderr).toBe(0);
    const seen = [
      "rehearsing implementation on a sample project",
      "phases: analysis, taskPlanning, workerExecution, aggregation, verification",
      "analysing …",
      /prompt of analysis for the main session: \d+ lines, \d+ characters/,
      "| You are the main session of a run in Tutti.",
      "plan of 3 tasks:",
      "task_003  Rehearsed task that needs the others  (after task_001, task_002)",
      /prompt of workerExecution for task_00\d/,
      "task_003 completed: 1 file changed",
      "prompt of aggregation",
      "merged: ",
      "verification passed",
      "success: 3 planned, 3 completed",
    ];
    let at = 0;
    for (const each of seen) {
      const rest = stdout.slice(at);
      const found = typeof each === "string" ? rest.indexOf(each) : rest.search(each);
      expect(found, String(each)).toBeGreaterThanOrEqual(0);
      at += found;
    }
    // The middle of a prompt is shown only with `--prompts`.
    expect(stdout).not.toContain("Plan vertical slices");
  });

  it("with --prompts shows every prompt in full, with the request and the variables of the user", async () => {
    const { stdout } = await rehearse(
      "implementation",
      "--prompts",
      "--request",
      "Sell tea",
      "--var",
      "TEST_COMMAND=make",
    );
    expect(stdout).toContain("Plan vertical slices");
    expect(stdout).toContain("| Sell tea");
    expect(stdout).toContain("Tests are run with: make.");
    expect(stdout).not.toMatch(/\{[A-Z_][A-Z0-9_]*\}/);
  });

  it("with --json prints the events of the run, every prompt in full, and the outcome last", async () => {
    const { code, lines, last, prompts } = await rehearseJson("documentation", "--tasks", "5");
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 5, completed: 5 } });
    expect(lines.map(({ type }) => type)).toContain("orchestrator:tasksReady");
    expect(prompts.map(({ phase, taskId }) => taskId ?? phase).toSorted()).toEqual(
      [
        "aggregation",
        "analysis",
        "taskPlanning",
        "verification",
        ...[1, 2, 3, 4, 5].map((n) => `task_00${n}`),
      ].toSorted(),
    );
    for (const { text } of prompts) expect(text).toContain("<<<END_ORCHESTRATOR_RESPONSE>>>");
  });

  it.each([
    ["feature", 8],
    ["hotfix", 4],
    ["design-only", 2],
    ["team-lead", 3],
    ["modes", 3],
  ])("of the team %s plays every role, and opens its gate", async (id, planned) => {
    const { code, last, lines } = await rehearseJson(id);
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned, completed: planned } });
    const { template } = new TemplateLibrary({ userFolder: lab.data }).resolve(id);
    expect(lines.some(({ type }) => type === "gate:opened")).toBe(
      template.pipeline !== undefined && id !== "design-only",
    );
  });

  it("of a role that reports with tools lets it call them", async () => {
    const roles = { DESIGNER: { protocol: "tools" }, DOCUMENTATION: { protocol: "tools" } };
    const own = { id: "own", name: "Own", extends: "design-only", roles };
    mkdirSync(join(lab.data, "templates"), { recursive: true });
    writeFileSync(join(lab.data, "templates/own.json"), JSON.stringify(own));
    const { code, last, prompts } = await rehearseJson("own");
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
    const ofRoles = prompts.filter(({ taskId }) => taskId !== null);
    expect(ofRoles).toHaveLength(2);
    for (const { text } of ofRoles) expect(text).toContain("with the tool read_task");
  });

  it("of a team with a mailbox leaves its reports in the box of any lead", async () => {
    const roles = { CHIEF: { aliases: ["ORCHESTRATOR"] }, DEVELOPER: { protocol: "mailbox" } };
    const own = { id: "own", name: "Own", extends: "_default", roles, phases: { aggregation: { enabled: false } } };
    mkdirSync(join(lab.data, "templates"), { recursive: true });
    writeFileSync(join(lab.data, "templates", "own.json"), JSON.stringify(own));
    const { code, last } = await rehearseJson("own", "--tasks", "1");
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 1, completed: 1 } });
  });

  it("of one task has no aggregation phase", async () => {
    const { last, prompts } = await rehearseJson("_default", "--tasks", "1");
    expect(last).toMatchObject({ outcome: "success", census: { planned: 1 } });
    expect(prompts.map(({ phase }) => phase)).toEqual(["analysis", "taskPlanning", "workerExecution"]);
  });

  it("finds templates of the user, here one that extends subsession-doc and so has one phase (D4-123)", async () => {
    const handbook = {
      id: "handbook",
      name: "Handbook",
      extends: "subsession-doc",
      variables: { DOCS_FOLDER: "handbook" },
    };
    mkdirSync(join(lab.data, "templates"), { recursive: true });
    writeFileSync(join(lab.data, "templates", "handbook.json"), JSON.stringify(handbook));
    const { chain } = new TemplateLibrary({ userFolder: join(lab.data, "templates") }).resolve("handbook");
    expect(chain).toEqual(["handbook", "subsession-doc", "_default"]);
    const { code, last, prompts } = await rehearseJson("handbook");
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 0 } });
    expect(prompts.map(({ phase }) => phase)).toEqual(["analysis"]);
    expect(prompts[0]!.text).toContain("handbook/README.md");
  });

  it("exits with 3 for an unknown template or folder, and with 2 for an invalid flag", async () => {
    const unknown = await rehearse("no-such-template");
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining("template_not_found") });
    expect((await rehearse("_default", "--tasks", "0")).code).toBe(2);
    expect((await rehearse("_default", "--var", "nonsense")).code).toBe(2);
    expect((await rehearse("_default", "--cwd", join(lab.folder, "nowhere"))).code).toBe(3);
  });

  it("that is interrupted ends at once and deletes its files", async () => {
    const child = lab.start(["rehearse", "documentation", "--tasks", "40"], { TMPDIR: temporary });
    let shown = "";
    let isInterrupted = false;
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      // The line may arrive in two pieces.
      shown += text;
      if (isInterrupted || !shown.includes("task_001 started")) return;
      isInterrupted = true;
      child.kill("SIGINT");
    });
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(130);
    expect(shown).toContain("Nothing of this rehearsal is stored");
    expect(shown).not.toContain("tutti attach");
  });

  it("starts only the scripted agent, whatever agent the run names", async () => {
    const [analysis] = mainSession([]);
    const scenario = lab.scenario([{ ...analysis, turns: [{ then: "exit:7" }] }]).replace("script:", "");
    const local = openLocalEngine({ dataDir: lab.data, scenario });
    const { engine } = local;
    try {
      const agent = "command:/no/such/agent";
      const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent });
      await engine.order(id, "start");
      const { errors } = await engine.until(id, (run) => run.errors.length > 0);
      expect(errors.map(({ error }) => error).join()).toContain("exited with 7");
    } finally {
      await local.close();
    }
  });
});

describe("a template of a project", () => {
  const template = {
    id: "ours",
    name: "Ours",
    extends: "implementation",
    config: { agent: "command:/no/such/agent" },
    phases: {
      taskPlanning: { validation: { minTasks: 4 } },
      verification: { agent: "claude", role: "reviewer" },
    },
    hooks: { onError: "command:touch /should/not/happen" },
    prompts: {
      responseFormat: { delimiterStart: "[[[", delimiterEnd: "]]]" },
      analysis: { format: { requiredFields: ["summary", "licence"] } },
      taskPlanning: { format: { taskSchema: { required: ["owner", "scope"] } } },
      worker: { format: { requiredFields: ["reviewed_by", "metrics"] } },
    },
  };

  it("gets the members that only it requires, in blocks and tasks", () => {
    lab.write(".tutti/templates/ours.json", JSON.stringify(template));
    const { template: ours } = new TemplateLibrary().resolve("ours", lab.repo);
    const scenario = Scenario.parse(rehearsalScenario(ours));
    const data = (phase: string) => scenario.sessions.find(({ match }) => match.phase === phase)!.turns[0]!.block!.data;
    expect(data("analysis")).toMatchObject({ licence: expect.any(String), summary: expect.any(String) });
    expect(data("workerExecution")).toMatchObject({ reviewed_by: expect.any(String), metrics: {} });
    const { tasks } = data("taskPlanning") as { tasks: object[] };
    expect(tasks).toHaveLength(4);
    for (const task of tasks) expect(task).toMatchObject({ owner: expect.any(String), scope: [expect.any(String)] });
  });

  it("is rehearsed unchanged, starts none of the programs it names, and leaves the project unchanged", async () => {
    lab.write(".tutti/templates/ours.json", JSON.stringify(template));
    const fingerprint = lab.fingerprint();
    const { code, last, prompts, stdout } = await rehearseJson("ours", "--cwd", lab.repo);
    expect(code, stdout).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 4, completed: 4 } });
    for (const { text } of prompts) expect(text).toContain("\n[[[\n");
    expect(lab.fingerprint()).toBe(fingerprint);
    const { stdout: words } = await rehearse("ours", "--cwd", lab.repo);
    expect(words).toContain("verification would be done by claude");
    expect(words).toContain("onError would run command:touch /should/not/happen");
  });

  it("that is not valid is refused with the reason", async () => {
    lab.write(".tutti/templates/odd.json", JSON.stringify({ id: "odd", name: "Odd", config: { maxWorkers: 99 } }));
    const { code, stderr } = await rehearse("odd", "--cwd", lab.repo);
    expect(code).toBe(2);
    expect(stderr).toContain("maxWorkers");
  });
});
