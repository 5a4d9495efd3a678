import { basename } from "node:path";
import { PHASE_SCHEMAS } from "../../protocol/response/phase-schemas.ts";
import { describeInterfaces } from "../../run/plan/interfaces.ts";
import { outlineOf } from "../../run/plan/outline.ts";
import { WIDEN } from "../../run/plan/sparse-scope.ts";
import { taskReport } from "../../run/plan/task-report.ts";
import { workerOf } from "../../run/lookup.ts";
import { overlaps } from "../../run/outcome/overlaps.ts";
import { describeUse } from "../../run/outcome/used-names.ts";
import { describeOpponents } from "../../run/emerging.ts";
import { isRepairing } from "../../run/rules/collisions.ts";
import { undeclaredChanges } from "../../run/rules/scope.ts";
import { speaksMessages } from "../../run/team/decide-team-answer.ts";
import { isPlanningAgain } from "../../run/team/cycle.ts";
import { isLedByDelegation, speaksDelegation } from "../../run/team/delegation.ts";
import { dutyOf } from "../../run/team/lead-duty.ts";
import { delegationNotes, renderModePrompt, renderOrchestratorPrompt } from "./delegation-prompt.ts";
import { REPAIR_PROMPT } from "../merging/repair-prompt.ts";
import { reworkNote } from "../merging/rework-prompt.ts";
import { protocolOf } from "../../run/team/team.ts";
import { renderLeadPrompt, renderMailPrompt, renderTeamPrompt, renderToolPrompt } from "./team-prompt.ts";
import { substituteVariables } from "../../template/render.ts";
import { promptVariables } from "../../template/variables.ts";
import type { TaskReport } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { ANSWER_PHASE, type Phase } from "../../schema/status.ts";
import { workingRoles } from "../../schema/team/roles.ts";
import type { Prompt } from "../../schema/template.ts";
import type { Owed, Worker } from "../../schema/worker.ts";

interface RenderedPrompt {
  text: string;
  /** Rendered on access: some grow with the plan, and most agents need none. */
  readonly variables: Record<string, string>;
}

/** The part of `Owed` that is rendered before the template's text. */
export type PromptContext = Pick<Owed, "problems" | "note" | "interrupted" | "waitedSince">;

export const PROMPT_OF: Record<Phase, "analysis" | "taskPlanning" | "worker" | "aggregation" | "verification"> = {
  analysis: "analysis",
  taskPlanning: "taskPlanning",
  workerExecution: "worker",
  aggregation: "aggregation",
  verification: "verification",
};

/**
 * The parts are separated by blank lines: problems with the last answer, results to build on, messages of the user,
 * system text, user text and `instructions`.
 */
export function renderPrompt(
  run: Run,
  phase: Phase,
  worker: Worker | null,
  asking: PromptContext | null,
  cwd: string,
  isSparse = false,
): RenderedPrompt {
  const isRepair = phase === "aggregation" && isRepairing(run);
  const about = isRepair ? { ...run, conflicts: run.conflicts.filter(({ resolution }) => resolution === null) } : run;
  const orchestrates = isLedByDelegation(run) && (phase === "taskPlanning" || phase === "workerExecution");
  const isLead = worker === null && (phase === "workerExecution" || orchestrates);
  const subject = isLead ? (dutyOf(run)?.worker ?? null) : worker;
  const builtIn = { ...builtInVariables(about, cwd), ...(subject ? workerVariables(subject) : {}) };
  const known = promptVariables(run.template.variables, run.customVariables, builtIn);
  const prompt: Prompt = isRepair ? REPAIR_PROMPT : run.template.prompts[PROMPT_OF[phase]]!;
  const parts = [prompt.system, prompt.user ?? ""].map((part) => substituteVariables(part, known).trim());
  const delegates = worker === null ? orchestrates : speaksDelegation(run, worker);
  const speaksToTeam = worker !== null && (speaksMessages(run, worker) || delegates);
  const isByTool = worker !== null && protocolOf(run, worker.task) === "tools";
  const first = [
    ...(asking ? preamble(asking, phase, isByTool ? REPORT_AGAIN : speaksToTeam || isLead ? null : prompt) : []),
    ...(worker && asking?.interrupted ? describeOpponents(run, worker.taskId) : []),
    ...scopeOf(run),
    ...(isSparse ? [SPARSE] : []),
    ...(phase === "aggregation" ? factsOf(run) : []),
    ...(phase === "taskPlanning" && isPlanningAgain(run) ? earlierCycles(run) : []),
    ...earlierRun(run),
    ...(worker ? [...dependenciesOf(run, worker), ...reworkNote(run, worker)] : []),
    ...(worker ? describeInterfaces(run, worker.taskId) : []),
    ...messagesTo(run, worker?.taskId ?? null),
    ...(phase === "verification" ? checksOf(run) : []),
  ];
  const last = isRepair ? "" : instructions(run, phase);
  const hasMail = worker !== null && protocolOf(run, worker.task) === "mailbox";
  const ofRole = speaksToTeam
    ? (hasMail ? renderMailPrompt : isByTool ? renderToolPrompt : renderTeamPrompt)(run, worker)
    : null;
  const ofMode = delegates ? (worker === null ? renderOrchestratorPrompt(run) : renderModePrompt(run, worker)) : null;
  const ofTeam = ofMode ?? (isLead ? renderLeadPrompt(run) : ofRole);
  const notes = worker && protocolOf(run, worker.task) === "response" ? delegationNotes(run, worker) : [];
  const body = ofTeam === null ? [...parts, last, ...notes] : [ofTeam];
  const text = [...first, ...body].filter((part) => part !== "").join("\n\n");
  return {
    text,
    get variables() {
      const names = Object.keys(known).filter((name) => worker === null || !RUN_LISTS.has(name));
      return Object.fromEntries(names.map((name) => [name, textOf(known, name)]));
    },
  };
}

/** Lists of all tasks. With every turn of every worker, they would cost the square of the number of tasks. */
const RUN_LISTS: ReadonlySet<string> = new Set(["TASKS_JSON", "WORKER_OUTPUTS", "CONFLICTS"]);

const textOf = (variables: Record<string, unknown>, name: string): string =>
  substituteVariables(`{${name}}`, variables);

const PAUSED = "You were paused in the middle of this turn. Your changes are still in the folder. Continue from there.";

const WAITED =
  "You ended your last turn while sub-sessions of yours were still at work. All of them have ended now. Use their results, complete the request and answer.";

const REPORT_AGAIN = "Report again with the tool attempt_completion.";

/** `prompt` is null for a role that answers with messages. A text is the request for another answer. */
function preamble(asking: PromptContext, phase: Phase, prompt: Prompt | string | null): string[] {
  return [
    ...(asking.problems.length > 0 ? [complaint(asking.problems, phase, prompt)] : []),
    ...(asking.interrupted ? [PAUSED] : []),
    ...(asking.waitedSince === undefined ? [] : [WAITED]),
    ...(asking.note === null ? [] : [asking.note]),
  ];
}

const SPARSE = `This folder contains only the files of your scope and of the folders above it. The others exist, too. Check out a folder that you need with: ${WIDEN} FOLDER`;

const scopeOf = ({ scope = [] }: Run): string[] =>
  scope.length === 0
    ? []
    : [`Change files only in: ${scope.join(", ")}. Changes anywhere else do not become part of the result.`];

/** Facts from the trees of the tasks (`overlaps`, `usedNames`), so that the main session need not rely on reports. */
function factsOf(run: Run): string[] {
  const conflicts = run.conflicts.map(
    ({ files, tasks, resolution }) =>
      `- ${tasks.join(" and ")} changed the same lines of ${files.join(", ")} (${resolution ?? "open"})`,
  );
  const shared = overlaps(run).map(
    ({ files, tasks }) => `- ${tasks.join(" and ")} changed the same files without a conflict: ${files.join(", ")}`,
  );
  const sentences = [...(run.usedNames?.names ?? []).map((use) => `${describeUse(use)}.`), ...undeclaredChanges(run)];
  const facts = [...conflicts, ...shared, ...sentences.map((sentence) => `- ${sentence}`)];
  return facts.length === 0 ? [] : [`Facts from the work of the tasks:\n${facts.join("\n")}`];
}

/**
 * Workers get the description of the run that this one `follows` too, because they do not see the main conversation.
 */
function earlierRun({ follows }: Run): string[] {
  if (!follows) return [];
  const { run, request, outcome, tasks } = follows;
  const about = `This request follows the run ${run}. The current folder contains its result.`;
  const lines = tasks.flatMap(describeTask);
  return [[about, `Its request: ${request}`, `Its outcome: ${outcome}`, "Its tasks:", ...lines].join("\n")];
}

/** Describes the `dependencies` of `task`: the workspace starts from their work. */
function dependenciesOf(run: Run, { task }: Worker): string[] {
  if (task.dependencies.length === 0) return [];
  const { places } = outlineOf(run);
  // In the order of the plan. A search through all tasks would cost the square of their number.
  const known = [...new Set(task.dependencies)].flatMap((id) => places.get(id) ?? []).sort((a, b) => a - b);
  const lines = known.map((place) => taskReport(run, run.tasks[place]!));
  if (lines.length === 0) return [];
  const about = "Your task depends on these tasks. The current folder contains the work of those that completed.";
  return [[about, ...lines.flatMap(describeTask)].join("\n")];
}

/** For a run that plans again and again: describes the tasks of earlier cycles with `taskReport`. */
function earlierCycles(run: Run): string[] {
  const about = `This is cycle ${run.cycle} of a run that plans again and again. The current folder contains the work so far. Plan the next tasks, or answer with an empty list of tasks if nothing is left to do. The tasks so far:`;
  return [[about, ...run.tasks.flatMap((task) => describeTask(taskReport(run, task)))].join("\n")];
}

function describeTask({ id, title, status, summary, files, warnings = [] }: TaskReport): string[] {
  const indent = (text: string): string => text.replaceAll("\n", "\n  ");
  return [
    `- ${id}: ${title} (${status})`,
    ...(summary === "" ? [] : [`  Summary: ${indent(summary)}`]),
    ...(files.length === 0 ? [] : [`  Files: ${files.join(", ")}`]),
    ...warnings.map((warning) => `  Warning: ${indent(warning)}`),
  ];
}

/** `MAX_OUTPUT` is in characters, for each command. */
const MAX_OUTPUT = 3000;

/** Shows the output only of a command with another `exitCode` than 0. */
function checksOf({ checks }: Run): string[] {
  if (!checks || checks.commands.length === 0) return [];
  const lines = checks.commands.map(({ name, run, exitCode, durationMs, output }) => {
    const head = `- ${name}: \`${run}\` ended with exit code ${exitCode} after ${durationMs} ms`;
    return exitCode === 0 ? head : `${head}. The end of its output:\n\n${output.slice(-MAX_OUTPUT)}\n`;
  });
  return [`Tutti ran these commands in this folder. Their exit codes count more than any claim.\n${lines.join("\n")}`];
}

/** Every turn contains all messages, because a replacement session has seen none of them. */
function messagesTo(run: Run, taskId: string | null): string[] {
  const messages = run.messages.filter((message) => message.taskId === taskId);
  const ofUser = messages.filter(({ from, isReminder }) => from === undefined && !isReminder);
  // A new attempt has a new deadline, so it is not `overdue`.
  const isOverdue = taskId !== null && workerOf(run, taskId)?.overdue !== undefined;
  const reminders = isOverdue ? messages.filter(({ isReminder }) => isReminder).slice(-1) : [];
  const results = messages.filter(({ from }) => from !== undefined);
  return [
    ...(ofUser.length === 0 ? [] : [`Messages from the user:\n${ofUser.map(({ text }) => `- ${text}`).join("\n")}`]),
    ...(results.length === 0
      ? []
      : [
          `Results of your sub-sessions, which are not messages from the user:\n\n${results.map(({ text }) => text).join("\n\n")}`,
        ]),
    ...reminders.map(({ text }) => text),
  ];
}

/** Below `LEAST_PROGRESS_SECONDS` an agent reports instead of working. */
const LEAST_PROGRESS_SECONDS = 10;

function instructions(run: Run, phase: Phase): string {
  const { phases } = run.template;
  const { tools } = phases[phase];
  const lines: string[] = [];
  if (tools && tools.required.length > 0) lines.push(`Use these tools: ${tools.required.join(", ")}.`);
  if (tools?.subagentType !== undefined) lines.push(`For sub-agents use the type ${tools.subagentType}.`);
  if (phase === "workerExecution") {
    const { progressReporting, progressInterval } = phases.workerExecution;
    const seconds = Math.max(LEAST_PROGRESS_SECONDS, Math.round(progressInterval / 1000));
    lines.push(progressReporting ? `Report progress about every ${seconds} seconds.` : "Do not report progress.");
  }
  if (phase === "aggregation") lines.push(STRATEGIES[phases.aggregation.conflictResolution]);
  if (phase === "taskPlanning") lines.push(INTERFACES, choiceOfRoles(run), choiceOfAgents(run));
  return lines.filter((line) => line !== "").join(" ");
}

const INTERFACES =
  'If tasks rely on the same files, the data may contain "interfaces": [{"name": …, "owner": the id of the one task that may change the files, "files": […]}].';

/** Returns an empty text if one role does every task. */
function choiceOfRoles({ template: { roles = {} } }: Run): string {
  const names = workingRoles(roles);
  if (names.length < 2) return "";
  return `Give each task a "role", which carries it out: ${names.join(", ")}. A task may also have "acceptance_criteria": sentences by which its work is judged.`;
}

/** Returns an empty text if the template has no `agents`. */
function choiceOfAgents(run: Run): string {
  const listed = Object.entries(run.template.phases.workerExecution.agents ?? {});
  if (listed.length === 0) return "";
  const entries = listed.map(([name, { model, strengths, price }]) =>
    [`- ${name}`, model && `model ${model}`, strengths, price && `price: ${price}`].filter(Boolean).join("; "),
  );
  return `A task may have an "agent" from this list. Choose the cheapest one whose strengths fit the task. A task without an "agent" uses the usual one. A task may also have a "model" of its agent.\n${entries.join("\n")}`;
}

const STRATEGIES = {
  ask: 'Do not resolve conflicts yourself. List each conflict with its options and set the status to "needs_input".',
  "first-wins": "If two results conflict, keep the result of the earlier task.",
  "last-wins": "If two results conflict, keep the result of the later task.",
  smart: "If two results conflict, resolve the conflict in the way that serves the request best.",
} as const;

/** Lists the `problems` and the exact fields of the block, which is stricter than the first prompt. */
function complaint(problems: readonly string[], phase: Phase, prompt: Prompt | string | null): string {
  const list = problems.map((problem) => `- ${problem}`).join("\n");
  if (prompt === null || typeof prompt === "string")
    return `Your last answer could not be used:\n${list}\n\n${prompt ?? "Answer again with your messages."}`;
  const { format } = prompt;
  const known = PHASE_SCHEMAS[ANSWER_PHASE[phase]];
  const required = [...new Set([...known.required, ...(format?.requiredFields ?? [])])];
  const optional = [...new Set([...known.optional, ...(format?.optionalFields ?? [])])];
  const members = `Its phase must be "${ANSWER_PHASE[phase]}". Its data must contain ${required.join(", ")} and may contain ${optional.join(", ")}.`;
  return `Your last answer could not be used:\n${list}\n\nAnswer again with exactly one block. ${members}`;
}

function builtInVariables(run: Run, cwd: string): Record<string, unknown> {
  const { delimiterStart, delimiterEnd } = run.template.prompts.responseFormat;
  return {
    USER_REQUEST: run.userRequest,
    ORIGINAL_REQUEST: run.userRequest,
    CWD: cwd,
    PROJECT_NAME: basename(run.cwd),
    TEMPLATE_NAME: run.template.name,
    ORCHESTRATOR_ID: run.id,
    DELIMITER_START: delimiterStart,
    DELIMITER_END: delimiterEnd,
    ANALYSIS_SUMMARY: run.analysis?.summary ?? "",
    ANALYSIS_JSON: () => (run.analysis ? JSON.stringify(run.analysis) : ""),
    RECOMMENDED_SPLITS: run.analysis?.recommendedSplits,
    KEY_FILES: run.analysis?.keyFiles ?? [],
    TASK_COUNT: run.tasks.length,
    TASKS_JSON: () => JSON.stringify(run.tasks),
    WORKER_OUTPUTS: () => JSON.stringify(collectOutputs(run), null, 2),
    CONFLICTS: () => (run.conflicts.length === 0 ? "none" : JSON.stringify(run.conflicts, null, 2)),
    MERGED_OUTPUT: run.aggregation?.merged_output ?? run.aggregation?.summary ?? "",
  };
}

function workerVariables({ task, attempt }: Worker): Record<string, string> {
  return {
    TASK_ID: task.id,
    TASK_TITLE: task.title,
    TASK_DESCRIPTION: task.description,
    TASK_SCOPE: JSON.stringify(task.scope),
    TASK_PRIORITY: String(task.priority),
    TASK_ATTEMPT: String(attempt),
    TASK_TYPE: "general",
  };
}

/** In the order of the plan, with failed and `blocked` tasks. */
function collectOutputs(run: Run): object[] {
  return run.tasks.flatMap((task): object[] => {
    const worker = run.workers[task.id];
    const because = run.blocked[task.id];
    if (because)
      return [{ taskId: task.id, taskTitle: task.title, status: "blocked", error: `needs ${because.join(", ")}` }];
    if (!worker) return [];
    const { status, summary, output, outputFiles, reportedWarnings: warnings, error, toolStats, completedAt } = worker;
    const result = { status, summary, output, outputFiles, warnings, error, toolStats, completedAt };
    return [{ taskId: task.id, taskTitle: task.title, ...result }];
  });
}
