// Scripted roles of `team-lead`: the lead plans and reviews, the developer leaves its reports in the mailbox.
import { Scenario } from "../../src/session/drivers/script/scenario.ts";

type Members = Record<string, unknown>;

export const report = (more: Members = {}): Members => ({
  type: "completion_report",
  taskId: "{TASK_ID}",
  platform: "web",
  status: "awaiting_review",
  summary: "wrote {TASK_ID}.md",
  filesCreated: ["{TASK_ID}.md"],
  filesModified: [],
  buildResult: { status: "success", command: "npm run build", errors: 0 },
  timestamp: "2026-01-01T00:00:00.000Z",
  ...more,
});

export const FAILED_BUILD = { status: "failed", command: "npm run build", errors: 2, output: "TS2304: x is missing" };

/** A turn of the developer that changes a file and writes the whole box. */
export const reports = (...messages: Members[]) => ({
  tools: ["Write"],
  write: {
    "{TASK_ID}.md": `by the developer\n`,
    "{TUTTI_MAILBOX}/to-team-lead.json": JSON.stringify({ messages, lastRead: null }),
  },
  say: "Done.",
});

export const review = (approved: boolean, reason = "checked") => ({
  say: JSON.stringify({ review_result: { taskId: "{TASK_ID}", approved, reason } }),
});

const task = (id: string, dependencies: string[] = []) => ({
  id,
  title: `Write ${id}`,
  description: `Write ${id}.md.`,
  scope: [`${id}.md`],
  priority: 1,
  dependencies,
  acceptance_criteria: [`${id}.md exists.`],
});

const plans = (cycles: readonly Members[][]) => ({
  match: { role: "main", phase: "taskPlanning" },
  turns: cycles.map((tasks) => ({ block: { phase: "task_list", data: { tasks } } })),
});

export const TASKS = [task("task-001"), task("task-002", ["task-001"])];

interface Roles {
  developer?: object[];
  lead?: object[];
  plan?: Members[];
  /** The plans of a continuous run, instead of `plan`. */
  cycles?: Members[][];
}

export function mailboxScenario(roles: Roles = {}) {
  const { developer = [reports(report())], lead = [review(true)], plan = TASKS, cycles = [plan] } = roles;
  const sessions = [
    plans(cycles),
    { match: { role: "main" }, turns: lead },
    { match: { role: "DEVELOPER" }, turns: developer },
  ];
  return Scenario.parse({ sessions }).sessions;
}
