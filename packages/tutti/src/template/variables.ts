import type { Template } from "../schema/template.ts";

interface BuiltInVariable {
  meaning: string;
  /** `ofWorker` variables are defined only in the worker prompt. */
  ofWorker?: true;
  /** An `open` variable is empty unless the template or the user sets it. All others cannot be set. */
  open?: true;
  sample: string;
}

export const BUILT_IN_VARIABLES = {
  USER_REQUEST: { meaning: "The request, as the user wrote it.", sample: "Describe every module of the project." },
  ORIGINAL_REQUEST: { meaning: "The same as USER_REQUEST.", sample: "Describe every module of the project." },
  CWD: { meaning: "The folder that the session works in.", sample: "/projects/example" },
  PROJECT_NAME: { meaning: "The name of the project's folder.", sample: "example" },
  CUSTOM_INSTRUCTIONS: {
    meaning: "Further instructions, from the template or the user; empty if there are none.",
    open: true,
    sample: "",
  },
  TEMPLATE_NAME: { meaning: "The name of the template.", sample: "Example" },
  ORCHESTRATOR_ID: { meaning: "The id of the run.", sample: "orch_abc123def456" },
  DELIMITER_START: { meaning: "The delimiter before a block.", sample: "<<<ORCHESTRATOR_RESPONSE>>>" },
  DELIMITER_END: { meaning: "The delimiter after a block.", sample: "<<<END_ORCHESTRATOR_RESPONSE>>>" },
  ANALYSIS_SUMMARY: { meaning: "The summary of the analysis.", sample: "A library of two modules." },
  ANALYSIS_JSON: {
    meaning: "The whole answer of the analysis, as JSON.",
    sample: '{"summary":"A library of two modules.","recommendedSplits":2}',
  },
  RECOMMENDED_SPLITS: { meaning: "The number of tasks that the analysis recommends.", sample: "2" },
  KEY_FILES: { meaning: "The important files according to the analysis.", sample: "src/a.ts, src/b.ts" },
  TASK_COUNT: { meaning: "The number of tasks in the plan.", sample: "2" },
  TASKS_JSON: { meaning: "The tasks of the plan, as JSON.", sample: '[{"id":"task_001","title":"Module A"}]' },
  WORKER_OUTPUTS: {
    meaning: "The reports of all workers, as JSON.",
    sample: '[{"taskId":"task_001","status":"completed"}]',
  },
  CONFLICTS: { meaning: "The conflicts between the work of tasks, as JSON, or the word none.", sample: "none" },
  MERGED_OUTPUT: {
    meaning: "The description of the merged result by the aggregation.",
    sample: "Both modules described.",
  },
  TASK_ID: { meaning: "The id of the task.", ofWorker: true, sample: "task_001" },
  TASK_TITLE: { meaning: "The title of the task.", ofWorker: true, sample: "Module A" },
  TASK_DESCRIPTION: {
    meaning: "The goal of the task.",
    ofWorker: true,
    sample: "Describe what module A is for.",
  },
  TASK_SCOPE: { meaning: "The files that the task is about, as JSON.", ofWorker: true, sample: '["src/a.ts"]' },
  TASK_PRIORITY: { meaning: "The priority of the task.", ofWorker: true, sample: "1" },
  TASK_ATTEMPT: { meaning: "The number of the attempt, counted from 1.", ofWorker: true, sample: "1" },
  TASK_TYPE: { meaning: "The kind of the task, if the plan names one.", ofWorker: true, sample: "documentation" },
} as const satisfies Record<string, BuiltInVariable>;

export function builtInVariable(name: string): BuiltInVariable | undefined {
  return Object.hasOwn(BUILT_IN_VARIABLES, name)
    ? BUILT_IN_VARIABLES[name as keyof typeof BUILT_IN_VARIABLES]
    : undefined;
}

/** `custom` values of the user override the template's, and `builtIn` values override both. */
export function promptVariables(
  ofTemplate: Template["variables"],
  custom: Readonly<Record<string, unknown>>,
  builtIn: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { ...EMPTY, ...ofTemplate, ...custom, ...builtIn };
}

const EMPTY = Object.fromEntries(
  Object.entries(BUILT_IN_VARIABLES).flatMap(([name, variable]) => ("open" in variable ? [[name, ""]] : [])),
);
