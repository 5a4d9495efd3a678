// The routes of templates. Each is also reachable without the word `orchestrator` in its path.
import { z } from "zod";
import { absolutePath, bit, IdPageQuery } from "./query.ts";
import type { RouteTable } from "./route.ts";
import { Done } from "./run-values.ts";
import { Template } from "../template.ts";

/** The folder of a project whose own templates are meant too. */
const ProjectQuery = z.object({
  project: absolutePath.optional().describe("The folder of a project whose own templates are meant too."),
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

/** A template as it stands in a file: it may leave out what it inherits. */
export const RawTemplate = z.record(z.string(), z.unknown());
const Resolved = z.object({
  template: Template,
  provenance: z.record(z.string(), z.string()).describe("By path: the template that each value comes from."),
  chain: z.array(z.string()),
  warnings: z.array(z.string()),
});
const Preview = z.record(
  z.string(),
  z.object({ system: z.string(), user: z.string().nullable(), unknown: z.array(z.string()) }),
);
const Validation = z.object({ valid: z.boolean(), errors: z.array(z.string()), warnings: z.array(z.string()) });

const absent = ["template_not_found"] as const;
/** A template of the person's own may name programs, and it is everybody's: who changes it is trusted with the machine. */
const role = "admin";

export const TEMPLATE_ROUTES = {
  "GET /api/orchestrator/templates": {
    summary: "All templates, those that cannot be used with their errors; with `full=1` whole ones that can.",
    query: ProjectQuery.extend({ full: bit.default("0"), ...IdPageQuery.shape }),
    response: z.array(z.union([TemplateSummary, Template])),
    errors: ["folder_not_found"],
  },
  "POST /api/orchestrator/templates": {
    summary: "Stores a new template; without an id it gets one made from its name.",
    query: ProjectQuery,
    body: RawTemplate,
    response: Template,
    status: 201,
    errors: ["folder_not_found", "invalid_template", "template_exists", "template_protected"],
    role,
  },
  "POST /api/orchestrator/templates/import": {
    summary: "Stores a template that was exported: as an object, or as the text of its file.",
    query: ProjectQuery,
    body: z.union([RawTemplate, z.string()]),
    response: Template,
    status: 201,
    errors: ["folder_not_found", "invalid_template", "template_exists", "template_protected"],
    role,
  },
  "POST /api/orchestrator/templates/validate": {
    summary: "Checks a template without storing it.",
    query: ProjectQuery,
    // Whether it is a template at all is what is asked.
    body: z.unknown().refine((value) => value !== undefined, "a template"),
    response: Validation,
    errors: ["folder_not_found"],
    role: "view",
  },
  "GET /api/orchestrator/templates/:id": {
    summary: "A template with all it inherits; `resolved=0` as it stands in its file, `provenance=1` with origins.",
    query: ProjectQuery.extend({ resolved: bit.default("1"), provenance: bit.default("0") }),
    response: z.union([Template, Resolved, RawTemplate]),
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
  },
  "PUT /api/orchestrator/templates/:id": {
    summary: "Merges changes into a template: objects deeply, lists replaced.",
    query: ProjectQuery,
    body: RawTemplate,
    response: Template,
    errors: ["template_not_found", "invalid_template", "template_protected", "folder_not_found"],
    absent,
    role,
  },
  "DELETE /api/orchestrator/templates/:id": {
    summary: "Removes a template that no other extends.",
    query: ProjectQuery,
    response: Done,
    errors: ["template_not_found", "template_in_use", "template_protected", "folder_not_found"],
    absent,
    role,
  },
  "POST /api/orchestrator/templates/:id/duplicate": {
    summary: "Stores a new template that extends this one.",
    query: ProjectQuery,
    body: z.strictObject({ newName: z.string().refine((name) => name.trim() !== "", "a name") }),
    response: Template,
    status: 201,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
    role,
  },
  "GET /api/orchestrator/templates/:id/export": {
    summary: "A template's file, to take along.",
    query: ProjectQuery,
    response: RawTemplate,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
  },
  "POST /api/orchestrator/templates/:id/preview": {
    summary: "The prompts as they would look, with values of the person's own or examples.",
    query: ProjectQuery,
    body: z.strictObject({ variables: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
    response: Preview,
    errors: ["template_not_found", "invalid_template", "folder_not_found"],
    absent,
    role: "view",
  },
} as const satisfies RouteTable;
