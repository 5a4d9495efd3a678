// Reads prompts. Every variable of a prompt may be missing or have an unexpected type.

export type PromptPhase = "analysis" | "taskPlanning" | "workerExecution" | "aggregation" | "verification";

export interface AgentPrompt {
  phase: PromptPhase | null;
  /** The phase as the prompt spells it, for the error message if `phase` is null. */
  phaseName: string;
  text: string;
  variables: Record<string, unknown>;
  taskId: string;
}

const PHASES = new Set<string>([
  "analysis",
  "taskPlanning",
  "workerExecution",
  "aggregation",
  "verification",
] satisfies PromptPhase[]);
/** Words of requests for documentation, in the most common languages of users. */
const ABOUT_DOCUMENTATION =
  /docu|dokum|\bdocs?\b|readme|reference|\bexplain|\bdescribe|overview|onboarding|handbook|api guide|\bguide\b|文档|文檔|ドキュメント|문서|документ/i;

export function readPrompt(
  message: Record<string, unknown>,
  environment: Record<string, string | undefined>,
): AgentPrompt {
  const variables = isRecord(message["variables"]) ? message["variables"] : {};
  const phase = typeof message["phase"] === "string" ? message["phase"] : "";
  // A worker has only one phase, so a prompt to a worker may omit it.
  const phaseName = phase === "" && environment["TUTTI_ROLE"] === "worker" ? "workerExecution" : phase;
  return {
    phase: isPhase(phaseName) ? phaseName : null,
    phaseName,
    text: typeof message["text"] === "string" ? message["text"] : "",
    variables,
    taskId: textVariable(variables, "TASK_ID") || (environment["TUTTI_TASK_ID"] ?? ""),
  };
}

/**
 * A documentation template decides. With another template, the words of the request and of the task decide. The text of
 * the prompt is the last resort, because templates of every kind mention documentation somewhere.
 */
export function isAboutDocumentation({ variables, text }: AgentPrompt): boolean {
  if (/docu|docs?\b/i.test(textVariable(variables, "TEMPLATE_NAME"))) return true;
  const words = ["USER_REQUEST", "TASK_TITLE", "TASK_DESCRIPTION"]
    .map((name) => textVariable(variables, name))
    .join("\n")
    .trim();
  return ABOUT_DOCUMENTATION.test(words === "" ? text : words);
}

/** Returns "" for a variable that is not a string. */
export function textVariable(variables: Record<string, unknown>, name: string): string {
  const value = variables[name];
  return typeof value === "string" ? value : "";
}

/** Accepts a list or its JSON text, and returns an empty list for anything else. */
export function listVariable(variables: Record<string, unknown>, name: string): unknown[] {
  const value = variables[name];
  if (Array.isArray(value)) return value;
  try {
    const parsed: unknown = JSON.parse(textVariable(variables, name));
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function isPhase(name: string): name is PromptPhase {
  return PHASES.has(name);
}
