// One prompt, with its variables read as what they are expected to be. Every variable may be absent or of another kind.

export type RequestPhase = "analysis" | "taskPlanning" | "workerExecution" | "aggregation" | "verification";

export interface Request {
  phase: RequestPhase | null;
  /** The phase as the prompt names it, for an honest answer when it is unknown. */
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
] satisfies RequestPhase[]);
/** Words that make a request one for documentation, in the languages people ask in most. */
const ABOUT_DOCUMENTATION =
  /docu|dokum|\bdocs?\b|readme|reference|\bexplain|\bdescribe|overview|onboarding|handbook|api guide|\bguide\b|文档|文檔|ドキュメント|문서|документ/i;

export function readRequest(
  message: Record<string, unknown>,
  environment: Record<string, string | undefined>,
): Request {
  const variables = isRecord(message["variables"]) ? message["variables"] : {};
  const role = environment["TUTTI_ROLE"];
  const named = typeof message["phase"] === "string" ? message["phase"] : "";
  // A worker has one phase only, so that a prompt without a phase can still be understood.
  const phaseName = named === "" && role === "worker" ? "workerExecution" : named;
  return {
    phase: isPhase(phaseName) ? phaseName : null,
    phaseName,
    text: typeof message["text"] === "string" ? message["text"] : "",
    variables,
    taskId: text(variables, "TASK_ID") || (environment["TUTTI_TASK_ID"] ?? ""),
  };
}

/**
 * The local agent writes documentation and nothing else. The template decides if it is one for documentation; else the
 * words of the request and of the task do. The whole prompt is asked only when the variables say nothing, because
 * templates of every kind mention documentation somewhere.
 */
export function isAboutDocumentation(request: Request): boolean {
  const { variables } = request;
  if (/docu|docs?\b/i.test(text(variables, "TEMPLATE_NAME"))) return true;
  const words = ["USER_REQUEST", "TASK_TITLE", "TASK_DESCRIPTION"]
    .map((name) => text(variables, name))
    .join("\n")
    .trim();
  return ABOUT_DOCUMENTATION.test(words === "" ? request.text : words);
}

export function text(variables: Record<string, unknown>, name: string): string {
  const value = variables[name];
  return typeof value === "string" ? value : "";
}

/** A variable that holds a list, as JSON text or as the list itself; anything else is an empty one. */
export function list(variables: Record<string, unknown>, name: string): unknown[] {
  const value = variables[name];
  if (Array.isArray(value)) return value;
  try {
    const parsed: unknown = JSON.parse(text(variables, name));
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function isPhase(name: string): name is RequestPhase {
  return PHASES.has(name);
}
