// The built-in templates: their promises, and a run of each with scripted agents.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Lab } from "../lab/lab.ts";
import { mainSession } from "../lab/scenarios.ts";
import { judgeAnswer } from "../../src/protocol/response/judge-answer.ts";
import { scanBlocks } from "../../src/protocol/response/response-scanner.ts";
import { ANSWERS } from "../../src/schema/answer.ts";
import { ANSWER_PHASE, PHASES, type Phase } from "../../src/schema/status.ts";
import { Template } from "../../src/schema/template.ts";
import { findWarnings } from "../../src/template/check/find-warnings.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { loadTemplate } from "./built-in.ts";
import { substituteVariables } from "../../src/template/render.ts";
import { BUILT_IN_VARIABLES } from "../../src/template/variables.ts";

const WITH_WORKERS = ["_default", "documentation", "exploration", "implementation", "refactoring", "testing"];
const WITH_SUB_AGENTS = ["subsession-doc", "subsession-task"];
const GALLERY = [...WITH_WORKERS, ...WITH_SUB_AGENTS];
/** Their runs are in test/team. */
const TEAMS = ["feature", "hotfix", "design-only", "team-lead", "modes"];

const PROMPTS = {
  analysis: "analysis",
  taskPlanning: "taskPlanning",
  workerExecution: "worker",
  aggregation: "aggregation",
  verification: "verification",
} as const satisfies Record<Phase, keyof Template["prompts"]>;

describe("the built-in templates", () => {
  it.each([...GALLERY, ...TEAMS])("%s has the metadata that a user needs to choose one", (id) => {
    const template = loadTemplate(id);
    expect(template).toMatchObject({ id, author: "system", icon: template.ui.icon });
    expect(template.description).toMatch(/^[A-Z].+\.$/);
    expect(template.tags.length).toBeGreaterThan(0);
    expect(template.version).toBe(WITH_SUB_AGENTS.includes(id) ? "2.0.0" : "1.0.0");
  });

  it("extend _default, subsession-doc directly (D4-123)", () => {
    const chain = (id: string): string[] => {
      const parent = loadTemplate(id).extends;
      return parent === undefined ? [id] : [id, ...chain(parent)];
    };
    for (const id of GALLERY) expect(chain(id).at(-1)).toBe("_default");
    expect(chain("_default")).toEqual(["_default"]);
    expect(chain("subsession-doc")).toEqual(["subsession-doc", "_default"]);
    expect(chain("refactoring")).toEqual(["refactoring", "implementation", "_default"]);
  });

  it("keep the documented limits in _default, and templates for real work allow more time", () => {
    const base = loadTemplate("_default");
    expect(base.config).toMatchObject({ maxWorkers: 5, workerTimeout: 300_000 });
    expect(base.phases).toMatchObject({
      analysis: { timeout: 120_000 },
      taskPlanning: { timeout: 180_000 },
      aggregation: { timeout: 300_000 },
      verification: { enabled: false, timeout: 180_000 },
    });
    for (const id of WITH_WORKERS.slice(1)) {
      expect(loadTemplate(id).config.workerTimeout, id).toBeGreaterThanOrEqual(1_200_000);
    }
  });

  it.each(WITH_SUB_AGENTS)("%s leaves everything to one session and its own sub-agents", (id) => {
    const { config, phases, prompts, ui } = loadTemplate(id);
    expect(config).toMatchObject({
      useSubSessions: true,
      inactivityThreshold: 60_000,
      confirmationDelay: 30_000,
      workerTimeout: 600_000,
    });
    expect(PHASES.filter((phase) => phases[phase].enabled)).toEqual(["analysis"]);
    expect(ui.progressStyle).toBe("simple");
    for (const kind of ["Explore", "general-purpose", "Plan", "Bash"]) {
      expect(prompts.analysis.system).toContain(kind);
    }
  });

  it.each([...GALLERY, ...TEAMS])("%s has no warnings", (id) => {
    expect(findWarnings(loadTemplate(id))).toEqual([]);
  });

  it.each(WITH_WORKERS)("%s forbids additional agents in every prompt", (id) => {
    const { prompts } = loadTemplate(id);
    for (const name of Object.values(PROMPTS)) expect(prompts[name]!.system).toContain("Start no agents of your own");
  });

  it.each(GALLERY)("%s shows in every prompt a valid block of its phase, which is not accepted as an answer", (id) => {
    const { prompts } = loadTemplate(id);
    const delimiters = prompts.responseFormat;
    const variables = {
      DELIMITER_START: delimiters.delimiterStart,
      DELIMITER_END: delimiters.delimiterEnd,
      TASK_ID: "task_001",
    };
    for (const phase of PHASES) {
      const prompt = prompts[PROMPTS[phase]]!;
      const text = substituteVariables(`${prompt.system}\n\n${prompt.user}`, variables);
      const blocks = scanBlocks(text, delimiters);
      const samples = blocks.flatMap((block) => (block.ok ? [block] : []));
      expect(samples, phase).toHaveLength(blocks.length);
      expect(samples.at(-1)?.phase).toBe(ANSWER_PHASE[phase]);
      for (const sample of samples) {
        expect(ANSWERS[sample.phase as keyof typeof ANSWERS].safeParse(sample.data).error).toBeUndefined();
      }
      for (const member of prompt.format?.requiredFields ?? []) expect(samples.at(-1)!.data).toHaveProperty(member);
      const asked = { prompt: text, delimiters, phase: ANSWER_PHASE[phase], taskId: "task_001" };
      expect(judgeAnswer({ blocks, ...asked }).answer, phase).toBeNull();
    }
  });
});

describe.concurrent("a run of a built-in template", () => {
  const labs: Lab[] = [];
  afterAll(() => {
    for (const lab of labs) lab.tearDown();
  });

  /** The file that the worker of each template creates. */
  const RESULT: Record<string, string> = {
    _default: "result/{TASK_ID}.txt",
    documentation: "docs/{TASK_ID}.md",
    exploration: "exploration/{TASK_ID}.md",
    implementation: "src/{TASK_ID}.js",
    refactoring: "src/{TASK_ID}.js",
    testing: "test/{TASK_ID}.test.js",
  };

  const worker = (file: string) => ({
    match: { role: "worker" },
    turns: [
      {
        tools: ["Write"],
        write: { [file]: "done\n" },
        block: {
          phase: "completion",
          data: { task_id: "{TASK_ID}", status: "success", summary: "wrote it", output_files: [file] },
        },
      },
    ],
  });

  const TASKS = [{ id: "task_001" }, { id: "task_002" }, { id: "task_003", dependencies: ["task_001", "task_002"] }];

  const AGGREGATION = {
    status: "success",
    summary: "in one",
    merged_output: "three pages that agree",
    conflicts: [
      { type: "duplicate_work", description: "task_001 and task_002 explain the same", resolution: "kept one" },
      {
        type: "file_collision",
        description: "two pages of one name",
        files: ["docs/task_002.md"],
        resolution: "renamed",
      },
    ],
  };
  const VERIFICATION = {
    status: "passed_with_warnings",
    summary: "read all of it",
    issues: [
      { severity: "error", description: "a broken link", location: "docs/task_002.md:1", suggested_fix: "mend it" },
      { severity: "warning", description: "a long sentence" },
      { severity: "info", description: "a picture would help" },
    ],
    auto_fixed: ["the spelling of task_001"],
  };

  /** A main session that answers with the given data, and corrects a page during verification. */
  const criticalSession = () => [
    ...mainSession(TASKS, AGGREGATION).filter(({ match }) => match.phase !== "verification"),
    {
      match: { role: "main", phase: "verification" },
      turns: [{ write: { "docs/task_001.md": "put right\n" }, block: { phase: "verification", data: VERIFICATION } }],
    },
  ];

  const VARIABLES = ["--var", "DOCS_FOLDER=handbook", "--var", "CUSTOM_INSTRUCTIONS=Mention the weather."];

  /** The sessions of each run, and its command-line options. */
  function scriptOf(id: string): [sessions: object[], options: string[]] {
    if (WITH_SUB_AGENTS.includes(id)) return [mainSession([]).slice(0, 1), []];
    if (id === "documentation") return [[...criticalSession(), worker(RESULT[id]!)], VARIABLES];
    return [[...mainSession(TASKS), worker(RESULT[id]!)], []];
  }

  async function carryOut(id: string) {
    const lab = new Lab();
    labs.push(lab);
    const [sessions, options] = scriptOf(id);
    const agent = lab.scenario(sessions);
    const run = ["run", "make it better", "--cwd", lab.repo, "--template", id, "--agent", agent, "--yes", ...options];
    const { code, last } = await lab.json(run);
    return { lab, code, last, sent: sentPrompts(lab) };
  }

  /** Each template is run once; the first test that needs the run starts it. */
  const runs = new Map<string, ReturnType<typeof carryOut>>();
  function runOf(id: string): ReturnType<typeof carryOut> {
    const run = runs.get(id) ?? carryOut(id);
    runs.set(id, run);
    return run;
  }

  it.each(WITH_WORKERS)("%s ends in success, and no variable of its prompts is left open (D4-132)", async (id) => {
    const { code, last, sent } = await runOf(id);
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 3, completed: 3 } });
    expect(last.outputFiles).toEqual(TASKS.map((task) => RESULT[id]!.replace("{TASK_ID}", task.id)));
    expect(new Set(sent.map(({ phase }) => phase))).toEqual(
      new Set(PHASES.filter((phase) => loadTemplate(id).phases[phase].enabled)),
    );
    for (const { phase, text } of sent) expect(text.match(/\{[A-Z_][A-Z0-9_]*\}/g), `${id} ${phase}`).toBeNull();
  });

  it.each(WITH_SUB_AGENTS)("%s ends in success after its one phase", async (id) => {
    const { code, last, sent } = await runOf(id);
    expect(code).toBe(0);
    expect(last).toMatchObject({ outcome: "success", census: { planned: 0 } });
    expect(sent.map(({ phase }) => phase)).toEqual(["analysis"]);
    expect(sent[0]!.text.match(/\{[A-Z_][A-Z0-9_]*\}/g)).toBeNull();
  });

  it("gives each phase the results of the phases before it (D4-056, D4-069, D4-133, D4-134, D4-137, D4-138, D4-140, D4-141, D4-142, D4-143)", async () => {
    const { sent } = await runOf("documentation");
    const prompt = (phase: Phase) => sent.find((each) => each.phase === phase)!;
    expect(prompt("analysis").text).toContain("make it better");
    expect(prompt("analysis").text).toContain(prompt("analysis").cwd);
    expect(prompt("taskPlanning").text).toContain("a small project");
    expect(prompt("taskPlanning").text).toContain("Recommended number of tasks: 3");
    expect(prompt("workerExecution").text).toContain("Do task_00");
    expect(prompt("workerExecution").text).toContain("make it better");
    expect(prompt("aggregation").text).toContain("Number of tasks: 3");
    expect(prompt("aggregation").text).toContain("wrote it");
    for (const { id } of TASKS) expect(prompt("aggregation").text).toContain(`docs/${id}.md`);
    expect(prompt("verification").text).toContain("Title of task_003");
    expect(prompt("verification").text).toContain("three pages that agree");
  });

  it("records the collisions and duplicate work that its aggregation found (D4-057, D4-058)", async () => {
    const { lab } = await runOf("documentation");
    const merged = lab.events().find(({ type }) => type === "orchestrator:aggregated");
    expect(merged).toMatchObject({ data: { aggregation: AGGREGATION } });
  });

  it("shows the issues of its verification with their severity, and its result contains the correction (D4-071, D4-072)", async () => {
    const { lab, last } = await runOf("documentation");
    expect(last.verification).toEqual(VERIFICATION);
    for (const result of [last.branch, last.commit])
      expect(lab.git("show", `${result}:docs/task_001.md`)).toBe("put right");
    expect(lab.git("show", `${last.branch}:docs/task_002.md`)).toBe("done");
  });

  it("fills in the variables of the template, and the user's value wins (D4-144)", async () => {
    const { sent } = await runOf("documentation");
    for (const { phase, text } of sent) {
      expect(text, phase).toContain("under handbook/");
      if (phase === "analysis" || phase === "workerExecution") expect(text).toContain("in English");
      if (phase !== "aggregation" && phase !== "verification") expect(text).toContain("Mention the weather.");
    }
  });
});

describe("docs/templates.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/templates.md"), "utf8");

  it("names every built-in template, every setting and every variable", () => {
    const schema = z.toJSONSchema(Template, { io: "input", unrepresentable: "any" });
    const names = [...GALLERY, ...membersOf(schema), ...Object.keys(BUILT_IN_VARIABLES)];
    expect(names.filter((name) => !new RegExp(`\\b${name.replace("$", "")}\\b`).test(page))).toEqual([]);
  });

  it("shows a valid template", () => {
    const [, example] = /```json\n([^]+?)```/.exec(page)!;
    const library = new TemplateLibrary();
    expect(library.validate(JSON.parse(example!))).toMatchObject({ valid: true });
  });
});

/** Returns the names of all members at any depth of a JSON schema. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "properties" in schema ? Object.keys(schema.properties as object) : [];
  return [...own, ...Object.values(schema).flatMap(membersOf)];
}

interface Sent {
  phase: Phase;
  text: string;
  /** The folder of the session that received it. */
  cwd: string;
}

/** Returns every prompt of the lab's runs, read from the session folders. */
function sentPrompts(lab: Lab): Sent[] {
  const folder = join(lab.data, "sessions");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /requests\/turn-\d+\.json$/.test(name))
    .map((name) => {
      const { input } = readJson(join(folder, name)) as { input: string };
      const { phase, text } = JSON.parse(input) as { phase: Phase; text: string };
      const { cwd } = readJson(join(folder, name, "../../spec.json")) as { cwd: string };
      return { phase, text, cwd };
    });
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
