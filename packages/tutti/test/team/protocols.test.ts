// One run whose roles speak all protocols: the messages of each are kept in one list, and each task ends with a verdict.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { agentOf } from "../lab/lab.ts";
import { report, reports } from "./mailbox-scenario.ts";
import { acknowledgment, completion, leads, role, say, verdict } from "./team-scenario.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Scenario } from "../../src/session/drivers/script/scenario.ts";

let lab: EngineLab;
let engine: Engine;
beforeEach(() => {
  lab = new EngineLab();
  engine = lab.open();
});
afterEach(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

const promptsOf = async (id: string, session: string): Promise<string[]> =>
  (await engine.transcript(id, session)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));

const ROLES = {
  TEAM_LEAD: {},
  WRITER: { aliases: ["author"] },
  DEVELOPER: { protocol: "mailbox" },
  DESIGNER: { protocol: "messages" },
  code: { protocol: "delegation" },
  TESTER: { agent: agentOf("command", "tool-user.ts", "--delegating") },
  AUDITOR: { protocol: "tools" },
};
const PLANNED = {
  writing: "author",
  mailed: "DEVELOPER",
  assigned: "DESIGNER",
  delegated: "code",
  tools: "TESTER",
  called: "AUDITOR",
};

const tasks = Object.entries(PLANNED).map(([id, name]) => ({
  id,
  title: `Do ${id}`,
  description: `Write ${id}.md.`,
  scope: [`${id}.md`],
  priority: 1,
  dependencies: [],
  role: name,
  acceptance_criteria: [`${id}.md exists.`],
}));

const newTask = (taskId: string, mode: string, context = "Be brief.") => ({
  taskId,
  delegatedToMode: mode,
  objective: `Write ${taskId}.md.`,
  context,
});
const ownReport = {
  taskId: "{TASK_ID}",
  result: "success",
  summary: "wrote {TASK_ID}.md",
  outputArtifacts: [],
  issues_encountered: [],
};
const file = { "{TASK_ID}.md": "by {TASK_ID}\n" };
const block = { phase: "completion", data: { task_id: "{TASK_ID}", status: "success", summary: "wrote {TASK_ID}.md" } };

const DONE = { result: "success", summary: "wrote {TASK_ID}.md", acceptance_criteria_met: [true] };

const sessions = [
  {
    match: { role: "main", phase: "taskPlanning" },
    turns: [{ block: { phase: "task_list", data: { total_tasks: 6, tasks } } }],
  },
  leads(verdict()),
  { match: { role: "WRITER" }, turns: [{ tools: ["Write"], write: file, block }] },
  { match: { role: "DEVELOPER" }, turns: [reports(report())] },
  {
    match: { role: "AUDITOR" },
    turns: [
      { tools: ["Write"], write: file, calls: [{ tool: "read_task" }, { tool: "attempt_completion", with: DONE }] },
    ],
  },
  role("DESIGNER", { say: say(acknowledgment("DESIGNER"), completion("DESIGNER")), write: file }),
  role(
    "code",
    { say: say(newTask("by-mail", "DEVELOPER")), write: file },
    { say: say(newTask("by-message", "DESIGNER")) },
    { say: say(newTask("by-message", "DESIGNER", "Add a title.")) },
    { say: say(newTask("by-block", "WRITER")) },
    { say: say(newTask("by-tool", "AUDITOR")) },
    { say: say(ownReport) },
  ),
];

describe("a team whose roles speak different protocols", () => {
  it("completes one run, in which each role gets and answers its task in its own protocol", async () => {
    lab.userTemplate("mixed", {
      extends: "_default",
      config: { maxWorkers: 6 },
      phases: { analysis: { enabled: false }, aggregation: { enabled: false } },
      roles: ROLES,
    });
    const id = await lab.begin(engine, lab.scenario(Scenario.parse({ sessions }).sessions), { templateId: "mixed" });
    const planned = await engine.until(id, ({ status }) => status === "confirming");
    expect(planned.tasks.map((task) => task.role)).toEqual([
      "WRITER",
      "DEVELOPER",
      "DESIGNER",
      "code",
      "TESTER",
      "AUDITOR",
    ]);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "completed", outcome: "success" });
    const [plan] = await promptsOf(id, run.mainSessionId!);
    expect(plan).toContain("WRITER, DEVELOPER, DESIGNER, code, TESTER, AUDITOR");

    const messages = run.teamMessages!.map(
      ({ taskId, type, from, to, protocol, state }) => `${taskId}: ${type} ${from} ${to} ${protocol} ${state}`,
    );
    const of = (task: string) =>
      messages.filter((each) => each.startsWith(`${task}: `)).map((each) => each.slice(task.length + 2));
    expect(of("writing")).toEqual([]);
    expect(of("tools")).toEqual([]);
    expect(of("mailed")).toEqual([
      "task_assignment TEAM_LEAD DEVELOPER mailbox acted",
      "completion_report DEVELOPER TEAM_LEAD mailbox acted",
      "review_result TEAM_LEAD DEVELOPER mailbox acted",
    ]);
    expect(of("assigned")).toEqual([
      "TASK_ASSIGNMENT TEAM_LEAD DESIGNER messages acted",
      "TASK_ACKNOWLEDGMENT DESIGNER TEAM_LEAD messages acted",
      "TASK_COMPLETION DESIGNER TEAM_LEAD messages acted",
      "TASK_APPROVAL TEAM_LEAD DESIGNER messages acted",
    ]);
    expect(of("delegated")).toEqual([
      "new_task TEAM_LEAD code delegation acted",
      "attempt_completion code TEAM_LEAD delegation acted",
      "TASK_APPROVAL TEAM_LEAD code messages acted",
    ]);
    expect(of("called")).toEqual([
      "TASK_ASSIGNMENT TEAM_LEAD AUDITOR tools acted",
      "TASK_COMPLETION AUDITOR TEAM_LEAD tools acted",
      "TASK_APPROVAL TEAM_LEAD AUDITOR tools acted",
    ]);
    // Tasks that a role delegates to roles with other protocols: each has its own messages, and its parent one report.
    expect(of("by-block")).toEqual(["attempt_completion WRITER code delegation acted"]);
    expect(of("by-mail")).toEqual([
      "task_assignment code DEVELOPER mailbox acted",
      "completion_report DEVELOPER code mailbox acted",
      "attempt_completion DEVELOPER code delegation acted",
      "review_result code DEVELOPER mailbox acted",
    ]);
    expect(of("by-tool")).toEqual([
      "TASK_ASSIGNMENT code AUDITOR tools acted",
      "TASK_COMPLETION AUDITOR code tools acted",
      "attempt_completion AUDITOR code delegation acted",
      "TASK_APPROVAL code AUDITOR tools acted",
    ]);
    const once = [
      "TASK_ASSIGNMENT code DESIGNER messages acted",
      "TASK_ACKNOWLEDGMENT DESIGNER code messages acted",
      "TASK_COMPLETION DESIGNER code messages acted",
      "attempt_completion DESIGNER code delegation acted",
    ];
    expect(of("by-message")).toEqual([...once, ...once, "TASK_APPROVAL code DESIGNER messages acted"]);
    const assignments = run.teamMessages!.filter(({ type, to }) => type === "TASK_ASSIGNMENT" && to === "DESIGNER");
    expect(assignments.map(({ body }) => (body["context"] as { notes?: string[] }).notes)).toEqual([
      undefined,
      ["Be brief."],
      ["Add a title."],
    ]);
    const [mail] = run.teamMessages!.filter(({ taskId }) => taskId === "by-mail");
    expect(mail!.body["instructions"]).toBe("Write by-mail.md.\n\nBe brief.");
    const files = lab.git("ls-tree", "--name-only", run.head!).split("\n");
    const tasksOfCode = ["by-mail.md", "by-message.md", "by-block.md", "by-tool.md"];
    expect(files).toEqual(
      expect.arrayContaining(["writing.md", "mailed.md", "delegated.md", "tools.txt", "called.md", ...tasksOfCode]),
    );
  });
});
