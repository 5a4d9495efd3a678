import { z } from "zod";
import { absolutePath, bit, IdPageQuery, PageQuery, tailCount } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Frame, Outcome, RunGraph, RunState, RunStatus, RunSummary, RunTimeline, RunUsage } from "./run-values.ts";
import { Budget } from "../budget.ts";
import type { Run } from "../run.ts";
import { SandboxMode } from "../agent/sandbox.ts";
import { TemplateConfig } from "../template.ts";

/** Keeps the bounds of `setting` but removes its defaults, which would override the template's values. */
function withoutDefault(setting: z.ZodType): z.ZodType {
  if (setting instanceof z.ZodDefault || setting instanceof z.ZodPrefault || setting instanceof z.ZodOptional)
    return withoutDefault(setting.unwrap() as z.ZodType);
  if (!(setting instanceof z.ZodObject)) return setting;
  const members = Object.entries<z.ZodType>(setting.shape);
  return z.strictObject(Object.fromEntries(members.map(([name, member]) => [name, withoutDefault(member).optional()])));
}

const Settings = withoutDefault(TemplateConfig) as unknown as z.ZodType<Partial<TemplateConfig>>;

const NewRunBody = z.strictObject({
  templateId: z.string().min(1),
  cwd: absolutePath.describe("The folder to work in; without git, the run works on copies of it."),
  message: z.string().refine((text) => text.trim() !== "", "must not be empty"),
  agent: z.string().min(1).optional().describe("Default: the template's agent, else the built-in one."),
  roles: z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe(
      "Agents of single phases and roles of the template, by name, such as `workerExecution`. Default: `agent`.",
    ),
  customVariables: z.record(z.string(), z.unknown()).default({}),
  autoStart: z.boolean().default(false).describe("Start the run immediately."),
  config: Settings.default({}).describe("Settings that override the template's."),
  budget: Budget.default({}),
  scope: z
    .array(z.string().min(1))
    .optional()
    .describe("Files and folders, relative to `cwd`. Changes elsewhere stay out of the result."),
  after: z
    .string()
    .min(1)
    .optional()
    .describe("Id of an ended run: start from its result, and describe it in the prompts."),
  sandbox: SandboxMode.optional().describe(
    "Default: the mode of the server. A server with `--sandbox required` takes no other.",
  ),
  trust: z
    .string()
    .min(1)
    .optional()
    .describe("Hash of the programs that the user allowed the project's template to start."),
});

const CreatedRun = z.object({
  orchestratorId: z.string(),
  status: RunStatus,
  startError: z
    .object({ code: z.string(), message: z.string(), details: z.unknown().optional() })
    .optional()
    .describe("Set if the run was created but could not be started."),
});

export const RUN_CANNOT_BE_MADE = [
  "template_not_found",
  "invalid_template",
  "agent_unknown",
  "agent_not_startable",
  "invalid_scenario",
  "folder_not_found",
  "not_a_repository",
  "empty_repository",
  "repository_unusable",
  "needs_trust",
  "sandbox_unavailable",
] as const;

export const RUN_ROUTES = {
  "POST /api/orchestrator": {
    summary: "Creates a run; `autoStart` also starts it.",
    body: NewRunBody,
    headers: { "Idempotency-Key": "Identifies the request. A repeated request creates no second run." },
    response: CreatedRun,
    status: 201,
    repeated: "The same request was sent before with this Idempotency-Key; this is its first response.",
    errors: [...RUN_CANNOT_BE_MADE, "run_not_found", "wrong_state", "idempotency_mismatch"],
  },
  "GET /api/orchestrator": {
    summary: "Lists all runs, oldest first: summaries, or full states with `full=1`.",
    query: IdPageQuery.extend({
      status: RunStatus.optional().describe("Return only runs with this status."),
      full: bit.default("0"),
      ids: z.string().min(1).optional().describe("Return only these runs, separated by commas."),
    }),
    response: z.array(z.union([RunState, RunSummary])),
    errors: [],
  },
  "GET /api/orchestrator/:id": {
    summary: "Returns a run.",
    response: RunState,
    errors: ["run_not_found"],
    large: true,
  },
  "GET /api/orchestrator/:id/snapshot": {
    summary: "Returns the folded state of a run, for clients with the same fold. Continue with the events after `seq`.",
    response: z.object({
      fold: z.number().describe("Version of the fold. A client with another one folds the events itself."),
      seq: z.number().describe("The last event of the server at this moment."),
      run: z.looseObject({ id: z.string(), runSeq: z.number() }) as unknown as z.ZodType<Run>,
      warnings: z.array(z.string()).describe("Warnings of the start, which are not part of the state."),
    }),
    errors: ["run_not_found"],
    large: true,
  },
  "GET /api/orchestrator/:id/events": {
    summary: "Returns the events of a run. `after` is the `seq` of an event.",
    query: PageQuery.extend({
      tail: tailCount.optional().describe("Return this many of the last events instead, in order."),
    }),
    response: z.array(Frame),
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/result": {
    summary: "Returns the outcome of a run so far: verdict, census, causes and branch.",
    response: Outcome,
    errors: ["run_not_found"],
    large: true,
  },
  "GET /api/orchestrator/:id/graph": {
    summary: "Returns the plan as a graph: tasks with their state, and dependencies.",
    response: RunGraph,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/timeline": {
    summary: "Returns the start and end times of phases, pauses, sessions and turns.",
    response: RunTimeline,
    errors: ["run_not_found"],
    large: true,
  },
  "GET /api/orchestrator/:id/usage": {
    summary: "Returns tokens, cost and tool calls in total and per session, and the budget.",
    response: RunUsage,
    errors: ["run_not_found"],
    large: true,
  },
} as const satisfies RouteTable;
