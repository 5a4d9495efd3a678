import { z } from "zod";
import { absolutePath, bit, IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done, Phase, RunStatus } from "./run-values.ts";
import { Census, Verdict } from "../outcome.ts";
import { Template } from "../template.ts";

const ProjectQuery = z.object({
  project: absolutePath.optional().describe("Include the templates of the project in this folder."),
});

export const TemplateSummary = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  icon: z.string().nullable(),
  author: z.string(),
  version: z.string(),
  tags: z.array(z.string()),
  isSystem: z.boolean(),
  isInternal: z.boolean(),
  extends: z.string().nullable(),
  place: z.enum(["system", "user", "project"]),
  valid: z.boolean(),
  errors: z.array(z.string()),
});
export type ListedTemplate = z.infer<typeof TemplateSummary>;

/** Unlike a `Template`, as its file defines it, without inherited values. */
export const RawTemplate = z.record(z.string(), z.unknown());
const Resolved = z.object({
  template: Template,
  provenance: z.record(z.string(), z.string()).describe("Maps the path of each value to the template that defines it."),
  chain: z.array(z.string()),
  warnings: z.array(z.string()),
});
const Preview = z.record(
  z.string(),
  z.object({ system: z.string(), user: z.string().nullable(), unknown: z.array(z.string()) }),
);
const Validation = z.object({ valid: z.boolean(), errors: z.array(z.string()), warnings: z.array(z.string()) });

const RehearseBody = z
  .strictObject({
    message: z.string().min(1).optional().describe("The request to rehearse with."),
    variables: z.record(z.string(), z.unknown()).default({}),
    tasks: z.number().int().min(1).max(50).optional().describe("Number of tasks in the rehearsed plan."),
  })
  .prefault({});

const Rehearsal = z.object({
  templateId: z.string(),
  status: RunStatus,
  outcome: Verdict.nullable(),
  census: Census,
  tasks: z.array(z.object({ id: z.string(), title: z.string(), dependencies: z.array(z.string()) })),
  prompts: z
    .array(z.object({ phase: Phase, taskId: z.string().nullable(), turn: z.number(), text: z.string() }))
    .describe("Every prompt exactly as an agent would receive it, in order."),
  notStarted: z
    .array(z.object({ name: z.string(), runs: z.string() }))
    .describe("Agents and hooks of the template, which a rehearsal does not start."),
  durationMs: z.number(),
});
export type RehearseRequest = z.output<typeof RehearseBody>;
export type Rehearsal = z.infer<typeof Rehearsal>;

const absent = ["template_not_found"] as const;
/** A template may name programs, which then run on this machine, so changing one needs full trust. */
const role = "admin";

export const TEMPLATE_ROUTES = {
  "GET /api/orchestrator/templates": {
    summary:
      "Lists all templates, invalid ones with their errors. `full=1` returns full templates, without invalid ones.",
    query: ProjectQuery.extend({ full: bit.default("0"), ...IdPageQuery.shape }),
    response: z.array(z.union([TemplateSummary, Template])),
    errors: ["folder_not_found"],
  },
  "POST /api/orchestrator/templates": {
    summary: "Stores a new template. A missing id is derived from the name.",
    query: ProjectQuery,
    body: RawTemplate,
    response: Template,
    status: 201,
    errors: ["folder_not_found", "invalid_template", "template_exists", "template_protected"],
    role,
  },
  "POST /api/orchestrator/templates/import": {
    summary: "Imports an exported template, given as an object or as the text of its file.",
    query: ProjectQuery,
    body: z.union([RawTemplate, z.string()]),
    response: Template,
    status: 201,
    errors: ["folder_not_found", "invalid_template", "template_exists", "template_protected"],
    role,
  },
  "POST /api/orchestrator/templates/validate": {
    summary: "Validates a template without storing it.",
    query: ProjectQuery,
    // Any JSON value: an invalid template gets a list of errors, not a 400.
    body: z.unknown().refine((value) => value !== undefined, "must be a template"),
    response: Validation,
    errors: ["folder_not_found"],
    role: "view",
  },
  "GET /api/orchestrator/templates/:id": {
    summary:
      "Returns a template with inherited values; `resolved=0` without them, `provenance=1` with the origin of each.",
    query: ProjectQuery.extend({ resolved: bit.default("1"), provenance: bit.default("0") }),
    response: z.union([Template, Resolved, RawTemplate]),
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
  },
  "PUT /api/orchestrator/templates/:id": {
    summary: "Merges changes into a template: objects are merged deeply, lists are replaced.",
    query: ProjectQuery,
    body: RawTemplate,
    response: Template,
    errors: ["template_not_found", "invalid_template", "template_protected", "folder_not_found"],
    absent,
    role,
  },
  "DELETE /api/orchestrator/templates/:id": {
    summary: "Deletes a template that no other template extends.",
    query: ProjectQuery,
    response: Done,
    errors: ["template_not_found", "template_in_use", "template_protected", "folder_not_found"],
    absent,
    role,
  },
  "POST /api/orchestrator/templates/:id/duplicate": {
    summary: "Stores a new template that extends this one.",
    query: ProjectQuery,
    body: z.strictObject({ newName: z.string().refine((name) => name.trim() !== "", "must not be empty") }),
    response: Template,
    status: 201,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
    role,
  },
  "GET /api/orchestrator/templates/:id/export": {
    summary: "Exports the file of a template.",
    query: ProjectQuery,
    response: RawTemplate,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
  },
  "POST /api/orchestrator/templates/:id/preview": {
    summary: "Renders the prompts of a template with the given variables or with sample values.",
    query: ProjectQuery,
    body: z.strictObject({ variables: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
    response: Preview,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
    role: "view",
  },
  "POST /api/orchestrator/templates/:id/rehearse": {
    summary: "Runs a template with scripted agents on a sample project. No model is called, and nothing is stored.",
    query: ProjectQuery,
    body: RehearseBody,
    response: Rehearsal,
    errors: ["template_not_found", "invalid_template", "folder_not_found", "not_found", "engine_stopped"],
    absent,
  },
} as const satisfies RouteTable;
