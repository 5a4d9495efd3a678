// `rehearsalScenario` lets scripted agents answer every phase of a template and do the least that counts as work.
// Entries match by phase only, because a template may rename the roles.
import type { Scenario, ScenarioTurn } from "./scenario.ts";
import { boxOf, isAuditor, leadOf, type TeamRole } from "../../../schema/team/roles.ts";
import type { Prompt, Template } from "../../../schema/template.ts";

type Data = Record<string, unknown>;

const DEFAULT_TASKS = 3;

/** `rehearsedTemplate` would start no other program. It has no parent template. */
export function rehearsedTemplate(template: Template): object {
  const copy = structuredClone(template);
  delete copy.extends;
  delete copy.config.agent;
  for (const phase of Object.values(copy.phases)) delete phase.agent;
  for (const role of Object.values(copy.roles ?? {})) delete role.agent;
  return { ...copy, hooks: {} };
}

export function rehearsalScenario(template: Template, taskCount = defaultTaskCount(template)): Scenario {
  const { analysis, taskPlanning, worker, aggregation, verification } = template.prompts;
  return {
    sessions: [
      ...(template.roles ? [...orchestrate(template, taskCount), LEAD] : []),
      ...Object.entries(template.roles ?? {}).flatMap(([name, role]) => playRole(template, name, role)),
      play("analysis", analysis, analysisTurn(template, taskCount)),
      play("taskPlanning", taskPlanning, planningTurn(taskPlanning, taskCount)),
      play("workerExecution", worker, WORKER_TURN),
      play("aggregation", aggregation, AGGREGATION_TURN),
      play("verification", verification, VERIFICATION_TURN),
    ],
  };
}

/** DEFAULT_TASKS, within the limits of the template. */
function defaultTaskCount(template: Template): number {
  const { minTasks, maxTasks } = template.phases.taskPlanning.validation;
  return Math.max(1, minTasks, Math.min(maxTasks, DEFAULT_TASKS));
}

interface RehearsedTurn extends ScenarioTurn {
  block: { phase: string; data: Data };
}

/** Adds fields that only this template requires. */
function play(phase: string, prompt: Prompt | undefined, turn: RehearsedTurn): Scenario["sessions"][number] {
  const data = withRequired(turn.block.data, prompt?.format?.requiredFields);
  return { match: { phase }, turns: [{ ...turn, block: { ...turn.block, data } }] };
}

/** Adds a text for each missing field. `data` has the fields of the protocol; the types of others are unknown. */
function withRequired(data: Data, names: readonly string[] = []): Data {
  return { ...Object.fromEntries(names.map((name) => [name, `${name}, as rehearsed`])), ...data };
}

const LEAD: Scenario["sessions"][number] = {
  match: { role: "main", phase: "workerExecution" },
  turns: [{ tools: ["Read"], say: JSON.stringify({ message_type: "TASK_APPROVAL", task_id: "{TASK_ID}" }) }],
};

/** A main session that delegates gives one task to each mode in turn, and accepts what returns. */
function orchestrate({ roles = {} }: Template, taskCount: number): Scenario["sessions"] {
  const lead = leadOf(roles);
  if (roles[lead]?.protocol !== "delegation") return [];
  const modes = Object.keys(roles).filter((name) => name !== lead);
  const tasks = Array.from({ length: taskCount }, (_, i) => ({
    taskId: `TASK-${String(i + 1).padStart(3, "0")}`,
    delegatedToMode: modes[i % modes.length],
    objective: `Rehearsed task of ${modes[i % modes.length]}`,
    acceptanceCriteria: ["The page exists."],
  }));
  const report = { taskId: "{ORCHESTRATOR_ID}", result: "success", summary: "as rehearsed" };
  return [
    {
      match: { role: "main", phase: "taskPlanning" },
      turns: [{ say: tasks.map((task) => JSON.stringify(task)).join("\n") }],
    },
    { match: { role: "main", phase: "workerExecution" }, turns: [{ tools: ["Read"], say: JSON.stringify(report) }] },
  ];
}

/** A role with a message protocol acknowledges its task and completes it. An `isAuditor` role approves. */
function playRole({ roles }: Template, name: string, { protocol, workspace }: TeamRole): Scenario["sessions"] {
  if (protocol === "mailbox") return [{ match: { role: name }, turns: [mailTurn(boxOf(leadOf(roles ?? {})))] }];
  if (protocol === "response") return [];
  if (protocol === "tools") return [{ match: { role: name }, turns: [toolTurn(workspace === "read" ? {} : PAGES)] }];
  if (protocol === "delegation") {
    const report = { taskId: "{TASK_ID}", result: "success", summary: "as rehearsed" };
    return [{ match: { role: name }, turns: [{ tools: ["Read"], say: JSON.stringify(report), write: PAGES }] }];
  }
  const about = { task_id: "{TASK_ID}", from_agent: name, timestamp: "2026-01-01T00:00:00.000Z" };
  const path = "rehearsal/{TASK_ID}.md";
  const approval = {
    approval_status: "APPROVED",
    output: { summary: "as rehearsed", critical_issues: [], high_issues: [], blocking_deployment: false },
    validation: {
      security_passed: true,
      production_readiness_passed: true,
      scalability_passed: true,
      all_passed: true,
    },
  };
  const work = { output: { files: [path], summary: `wrote ${path}` }, validation: { all_passed: true, issues: [] } };
  const completion = isAuditor(roles, name) ? approval : work;
  const messages = [
    { message_type: "TASK_ACKNOWLEDGMENT", ...about, status: "acknowledged", understood: true },
    { message_type: "TASK_COMPLETION", ...about, status: "completed", ...completion },
  ];
  const say = messages.map((message) => JSON.stringify(message)).join("\n");
  const turn = { tools: ["Read"], say, ...(workspace === "read" ? {} : { write: { [path]: PAGE } }) };
  return [{ match: { role: name }, turns: [turn] }];
}

function analysisTurn(template: Template, taskCount: number): RehearsedTurn {
  const data = {
    summary: "A rehearsal: nothing was analysed.",
    recommended_splits: taskCount,
    key_files: ["README.md"],
    estimated_complexity: "low",
    components: ["a part, as rehearsed"],
    notes: "The answers of a rehearsal are made up; the prompts are real.",
    warnings: [],
  };
  const turn = { tools: ["Read"], block: { phase: "analysis", data } };
  // Without workers the main session does the work.
  return template.phases.workerExecution.enabled ? turn : { ...turn, write: { "rehearsal/analysis.md": PAGE } };
}

function planningTurn(prompt: Prompt, taskCount: number): RehearsedTurn {
  const ids = Array.from({ length: taskCount }, (_, i) => `task_${String(i + 1).padStart(3, "0")}`);
  const first = ids.slice(0, -1);
  const last = ids.slice(-1);
  const tasks = ids.map((id) => rehearsedTask(id, last.includes(id) ? first : [], prompt));
  const data = {
    total_tasks: taskCount,
    tasks,
    parallelizable_groups: [first, last].filter((group) => group.length > 0),
    execution_order: ids,
  };
  return { block: { phase: "task_list", data } };
}

function rehearsedTask(id: string, dependencies: string[], prompt: Prompt): Data {
  const task = {
    id,
    title: dependencies.length > 0 ? "Rehearsed task that needs the others" : `Rehearsed task ${id}`,
    description: `Writes rehearsal/${id}.md.`,
    scope: [`rehearsal/${id}.md`],
    priority: 5,
    dependencies,
    estimated_tokens: 1000,
  };
  return withRequired(task, prompt.format?.taskSchema.required);
}

const PAGE = "Written in a rehearsal.\n";
const PAGES = { "rehearsal/{TASK_ID}.md": PAGE };

const WORKER_TURN: RehearsedTurn = {
  tools: ["Read", "Write"],
  write: { "rehearsal/{TASK_ID}.md": PAGE },
  block: {
    phase: "completion",
    data: {
      task_id: "{TASK_ID}",
      status: "success",
      summary: "wrote rehearsal/{TASK_ID}.md",
      output_files: ["rehearsal/{TASK_ID}.md"],
      output: "as rehearsed",
      warnings: [],
      metrics: {},
    },
  },
};

/** A role that works on the mailbox leaves its report in the box of its lead. */
const mailTurn = (box: string): ScenarioTurn => ({
  tools: ["Read", "Write"],
  write: {
    "rehearsal/{TASK_ID}.md": PAGE,
    [`{TUTTI_MAILBOX}/to-${box}.json`]: JSON.stringify({
      messages: [
        {
          type: "completion_report",
          taskId: "{TASK_ID}",
          platform: "custom",
          status: "awaiting_review",
          summary: "wrote rehearsal/{TASK_ID}.md",
          filesCreated: ["rehearsal/{TASK_ID}.md"],
          filesModified: [],
          buildResult: { status: "not_applicable", command: "", errors: 0 },
          timestamp: "2026-01-01T00:00:00.000Z",
        },
      ],
      lastRead: null,
    }),
  },
  say: "The report is in the mailbox.",
});

/** A role with the protocol `tools` reads its task and reports it with calls. */
const toolTurn = (write: Record<string, string>): ScenarioTurn => ({
  tools: ["Read"],
  write,
  calls: [
    { tool: "read_task", with: {} },
    {
      tool: "attempt_completion",
      with: { result: "success", summary: "as rehearsed", output_files: Object.keys(write) },
    },
  ],
});

const AGGREGATION_TURN: RehearsedTurn = {
  tools: ["Read"],
  block: {
    phase: "aggregation",
    data: {
      status: "success",
      summary: "the rehearsed work is in one place",
      conflicts: [],
      merged_output: "one page per task in rehearsal/",
      output_files: ["rehearsal/"],
    },
  },
};

const VERIFICATION_TURN: RehearsedTurn = {
  tools: ["Read"],
  block: {
    phase: "verification",
    data: { status: "passed", summary: "as rehearsed", issues: [], auto_fixed: [] },
  },
};
