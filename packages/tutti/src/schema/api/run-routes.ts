// The routes that make runs and look at them.
import { z } from "zod";
import { absolutePath, bit, IdPageQuery, PageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Frame, Outcome, RunGraph, RunState, RunStatus, RunSummary, RunTimeline, RunUsage } from "./run-values.ts";
import { Budget } from "../budget.ts";
import { TemplateConfig } from "../template.ts";

/** A setting within its bounds but without its default, which would override the template's own. */
function withoutDefault(setting: z.ZodType): z.ZodType {
  return setting instanceof z.ZodDefault || setting instanceof z.ZodPrefault || setting instanceof z.ZodOptional
    ? withoutDefault(setting.unwrap() as z.ZodType)
    : setting;
}

const Settings = z.strictObject(
  Object.fromEntries(
    Object.entries(TemplateConfig.shape).map(([name, setting]) => [name, withoutDefault(setting).optional()]),
  ),
) as unknown as z.ZodType<Partial<TemplateConfig>>;

const NewRunBody = z.strictObject({
  templateId: z.string().min(1),
  cwd: absolutePath.describe("The folder to work in, inside a git repository."),
  message: z.string().refine((text) => text.trim() !== "", "a request in words"),
  agent: z.string().min(1).optional().describe("Who works; without it the template's agent, else the built-in one."),
  customVariables: z.record(z.string(), z.unknown()).default({}),
  autoStart: z.boolean().default(false).describe("Whether to start it at once."),
  config: Settings.default({}).describe("Settings that override the template's."),
  budget: Budget.default({}),
  trust: z.string().min(1).optional().describe("The hash of what the person agreed to let a project's template run."),
});

const CreatedRun = z.object({
  orchestratorId: z.string(),
  status: RunStatus,
  startError: z
    .object({ code: z.string(), message: z.string(), details: z.unknown().optional() })
    .optional()
    .describe("Why the run, which exists, could not be started."),
});

/** Why a run that is asked for cannot be made. */
export const RUN_CANNOT_BE_MADE = [
  "template_not_found",
  "invalid_template",
  "agent_unknown",
  "agent_not_startable",
  "invalid_scenario",
  "folder_not_found",
  "not_a_repository",
  "empty_repository",
  "needs_trust",
] as const;

export const RUN_ROUTES = {
  "POST /api/orchestrator": {
    summary: "Creates a run; `autoStart` also starts it.",
    body: NewRunBody,
    headers: { "Idempotency-Key": "A name for this request: repeated, it makes no second run." },
    response: CreatedRun,
    status: 201,
    repeated: "The Idempotency-Key was used before for the same request; this is the first answer again.",
    errors: [...RUN_CANNOT_BE_MADE, "idempotency_mismatch"],
  },
  "GET /api/orchestrator": {
    summary: "All runs, oldest first: summaries, or whole states with `full=1`.",
    query: IdPageQuery.extend({
      status: RunStatus.optional().describe("Only runs that stand there."),
      full: bit.default("0"),
    }),
    response: z.array(z.union([RunState, RunSummary])),
    errors: [],
  },
  "GET /api/orchestrator/:id": { summary: "A whole run.", response: RunState, errors: ["run_not_found"] },
  "GET /api/orchestrator/:id/events": {
    summary: "The run's log; `after` is the `seq` of an event.",
    query: PageQuery,
    response: z.array(Frame),
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/result": {
    summary: "How the run ended, or stands: verdict, census, causes, branch.",
    response: Outcome,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/graph": {
    summary: "The plan for drawing: tasks, dependencies, and where each stands.",
    response: RunGraph,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/timeline": {
    summary: "Phases, pauses, sessions and turns with their times.",
    response: RunTimeline,
    errors: ["run_not_found"],
  },
  "GET /api/orchestrator/:id/usage": {
    summary: "Tokens, money and tool calls, together and by session, and the budget.",
    response: RunUsage,
    errors: ["run_not_found"],
  },
} as const satisfies RouteTable;
