// A model that plays all roles of the team templates: it reads its role and its message from Tutti's prompts.
import type { Script } from "./model-endpoint.ts";
import { inOrder } from "./script.ts";
import { mcp, run, say, write, type Step } from "./step.ts";
import { playRun } from "./tutti-run.ts";

type Message = Record<string, unknown>;

/** The task of `team-lead` and of `modes`. */
export const TEAM_TASK = "TASK-1";

export const playTeam: Script = (request) => {
  const { prompt } = request;
  if (/with the "\w+" block/.test(prompt)) return playRun({ tasks: [{ id: TEAM_TASK }] })(request);
  if (prompt.includes("There is mail for you")) return workOnMail(prompt)(request);
  if (prompt.includes("with the tool read_task")) return workWithTools(request);
  if (prompt.includes("This is your task. Delegate it now.")) return [answer(delegation())];
  if (prompt.includes("and lead a team of agents")) return [answer(report(taskIn(prompt)))];
  const message = lastMessage(prompt);
  if (prompt.includes("You are the mode")) return work(taskIn(prompt), report(taskIn(prompt)))(request);
  if (prompt.includes("the lead of a team of agents")) return [answer(verdict(message))];
  return playRole(message)(request);
};

const answer = (...messages: Message[]): Step =>
  say(messages.map((message) => `\`\`\`json\n${JSON.stringify(message, null, 1)}\n\`\`\``).join("\n\n"));

const lastMessage = (prompt: string): Message =>
  JSON.parse([...prompt.matchAll(/```json\n([^]*?)\n```/g)].at(-1)![1]!) as Message;

const taskIn = (prompt: string): string => /"taskId" is "([^"]+)"/.exec(prompt)![1]!;

const work = (taskId: string, ...messages: Message[]): Script =>
  inOrder([write(`docs/${taskId}.md`, `# ${taskId}\n`)], [answer(...messages)]);

const delegation = (): Message => ({
  taskId: TEAM_TASK,
  delegatedToMode: "code",
  objective: "Write the page.",
  expectedOutputs: [{ type: "file", path: `docs/${TEAM_TASK}.md` }],
});

const report = (taskId: string): Message => ({
  taskId,
  result: "success",
  summary: `${taskId} is done`,
  outputArtifacts: [],
  issues_encountered: [],
});

const verdict = ({ task_id: task, taskId }: Message): Message =>
  task === undefined
    ? { review_result: { taskId, approved: true, reason: "I read the page." } }
    : { message_type: "TASK_APPROVAL", task_id: task, from_agent: "ORCHESTRATOR", timestamp: STAMP };

const STAMP = "2026-01-01T00:00:00.000Z";

/** Acknowledges the assignment, then completes it. A review approves. */
function playRole({ task_id, to_agent, acceptance_criteria, files_to_review }: Message): Script {
  const common = { task_id, from_agent: to_agent, timestamp: STAMP };
  const acknowledged = { message_type: "TASK_ACKNOWLEDGMENT", ...common, status: "acknowledged" };
  const met = (acceptance_criteria as string[]).map(() => true);
  const completion = { message_type: "TASK_COMPLETION", ...common, status: "completed" };
  if (files_to_review === undefined) {
    const output = { files: [`docs/${String(task_id)}.md`], summary: "The page is written." };
    const validation = { acceptance_criteria_met: met, all_passed: true, issues: [] };
    return work(String(task_id), acknowledged, { ...completion, output, validation });
  }
  const output = {
    critical_issues: [],
    high_issues: [],
    medium_issues: [],
    low_issues: [],
    blocking_deployment: false,
  };
  const passed = { security_passed: true, production_readiness_passed: true, scalability_passed: true };
  const review = { ...completion, approval_status: "APPROVED", output, validation: { ...passed, all_passed: true } };
  return inOrder([run("ls")], [answer(acknowledged, review)]);
}

/** The task is known only from the result of `read_task`. The text of the answer says nothing about it. */
const workWithTools: Script = (request) => {
  if (request.step === 0) return [mcp("tutti", "read_task")];
  const { task_id: id, acceptance_criteria: criteria } = JSON.parse(request.results[0]!) as Message;
  const file = `docs/${String(id)}.md`;
  const met = (criteria as string[]).map(() => true);
  const report = { result: "success", summary: "written", output_files: [file], acceptance_criteria_met: met };
  const steps = [[write(file, "# A page\n")], [mcp("tutti", "attempt_completion", report)], [say("Bye.")]];
  return steps[request.step - 1]!;
};

/** Reads the box, writes the page, and appends the report to the other box with the shell. */
function workOnMail(prompt: string): Script {
  const box = /in (\S+\.json)$/m.exec(prompt)![1]!;
  const reports = /"messages" in (\S+\.json), and keep/.exec(prompt)![1]!;
  const { taskId, platform } = lastMessage(prompt);
  const file = `docs/${String(taskId)}.md`;
  const message = {
    type: "completion_report",
    taskId,
    platform,
    status: "awaiting_review",
    summary: "The page is written.",
    filesCreated: [file],
    filesModified: [],
    buildResult: { status: "not_applicable", command: "", errors: 0 },
    timestamp: STAMP,
  };
  // The engine may read the box at any time, so it is replaced as a whole.
  const program = `const fs=require("fs");const [box,json]=process.argv.slice(1);const all=JSON.parse(fs.readFileSync(box,"utf8"));all.messages.push(JSON.parse(json));fs.writeFileSync(box+".new",JSON.stringify(all));fs.renameSync(box+".new",box)`;
  const append = `node -e '${program}' '${reports}' '${JSON.stringify(message)}'`;
  return inOrder([run(`cat '${box}'`)], [write(file, "# A page\n")], [run(append)], [say("I have reported.")]);
}
