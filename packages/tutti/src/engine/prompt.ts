// What a session is told: the template's words for the phase, filled with what the run knows.
import { basename } from "node:path";
import { PHASE_SCHEMAS } from "../protocol/phase-schemas.ts";
import { substituteVariables } from "../template/render.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, type Phase } from "../schema/status.ts";
import type { Prompt } from "../schema/template.ts";
import type { Worker } from "../schema/worker.ts";

export interface RenderedPrompt {
  text: string;
  variables: Record<string, string>;
}

const PROMPT_OF: Record<Phase, "analysis" | "taskPlanning" | "worker" | "aggregation" | "verification"> = {
  analysis: "analysis",
  taskPlanning: "taskPlanning",
  workerExecution: "worker",
  aggregation: "aggregation",
  verification: "verification",
};

/** The text of a turn: system text, blank line, user text; an asking after an unusable answer says first what was wrong. */
export function renderPrompt(
  run: Run,
  phase: Phase,
  worker: Worker | null,
  problems: readonly string[],
  cwd: string,
): RenderedPrompt {
  const variables = { ...promptVariables(run, cwd), ...(worker ? workerVariables(worker) : {}) };
  const prompt: Prompt = run.template.prompts[PROMPT_OF[phase]]!;
  const parts = [prompt.system, prompt.user ?? ""].map((part) => substituteVariables(part, variables).trim());
  const again = problems.length > 0 ? [complaint(problems, phase)] : [];
  return { text: [...again, ...parts].filter((part) => part !== "").join("\n\n"), variables };
}

/** Stricter than the first asking: what was wrong, and exactly what the block must hold. */
function complaint(problems: readonly string[], phase: Phase): string {
  const list = problems.map((problem) => `- ${problem}`).join("\n");
  const { required, optional } = PHASE_SCHEMAS[ANSWER_PHASE[phase]];
  const members = `its phase is "${ANSWER_PHASE[phase]}", its data must hold ${required.join(", ")} and may hold ${optional.join(", ")}`;
  return `Your last answer could not be used:\n${list}\n\nPlease answer again, with exactly one block: ${members}.`;
}

/** Built-in names win over the person's, which win over the template's. */
function promptVariables(run: Run, cwd: string): Record<string, string> {
  const ofTemplate = Object.fromEntries(
    Object.entries(run.template.variables).map(([name, value]) => [name, String(value)]),
  );
  const { delimiterStart, delimiterEnd } = run.template.prompts.responseFormat;
  return {
    CUSTOM_INSTRUCTIONS: "",
    ...ofTemplate,
    ...run.customVariables,
    USER_REQUEST: run.userRequest,
    ORIGINAL_REQUEST: run.userRequest,
    CWD: cwd,
    PROJECT_NAME: basename(run.cwd),
    TEMPLATE_NAME: run.template.name,
    ORCHESTRATOR_ID: run.id,
    DELIMITER_START: delimiterStart,
    DELIMITER_END: delimiterEnd,
    ANALYSIS_SUMMARY: run.analysis?.summary ?? "",
    ANALYSIS_JSON: run.analysis ? JSON.stringify(run.analysis) : "",
    RECOMMENDED_SPLITS: run.analysis ? String(run.analysis.recommendedSplits) : "",
    KEY_FILES: (run.analysis?.keyFiles ?? []).join(", "),
    TASK_COUNT: String(run.tasks.length),
    TASKS_JSON: JSON.stringify(run.tasks),
    WORKER_OUTPUTS: JSON.stringify(collectOutputs(run), null, 2),
    CONFLICTS: run.conflicts.length === 0 ? "none" : JSON.stringify(run.conflicts, null, 2),
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
  };
}

/** What the workers brought, in the order of the plan, failures included. */
function collectOutputs(run: Run): object[] {
  return run.tasks.flatMap((task): object[] => {
    const worker = run.workers[task.id];
    const because = run.blocked[task.id];
    if (because)
      return [{ taskId: task.id, taskTitle: task.title, status: "blocked", error: `needs ${because.join(", ")}` }];
    if (!worker) return [];
    const { status, output, outputFiles, error, toolStats, completedAt } = worker;
    return [{ taskId: task.id, taskTitle: task.title, status, output, outputFiles, error, toolStats, completedAt }];
  });
}
