import { existsSync } from "node:fs";
import type { AllowedFolders } from "../access/allowed-folders.ts";
import { itemsAfter } from "../decode.ts";
import type { Handlers } from "../handler.ts";
import { mustHaveMachine, type Machine } from "../machine.ts";
import { mustBeHarmless } from "./harmless-template.ts";
import { DONE } from "./steer-routes.ts";
import type { TEMPLATE_ROUTES } from "../../schema/api/template-routes.ts";
import { TuttiError } from "../../schema/error.ts";
import { destinationOf, type TemplateLibrary } from "../../template/files/library.ts";
import { parseTemplate } from "../../template/files/read-file.ts";

interface TemplateRouteOptions {
  templates: TemplateLibrary;
  folders: AllowedFolders;
  /** `harmlessOnly` is set on servers beyond loopback, where a template may not name programs to run. */
  harmlessOnly: boolean;
  machine?: Machine | undefined;
  /** `hide` replaces secrets in a text for a token with the role view. */
  hide: (text: string) => string;
}

export function templateHandlers(options: TemplateRouteOptions): Handlers<keyof typeof TEMPLATE_ROUTES> {
  const { templates, folders, harmlessOnly, machine, hide } = options;
  const mustBeAllowed = <T>(template: T): T => (harmlessOnly ? mustBeHarmless(template) : template);
  const projectOf = ({ project }: { project?: string | undefined }): string | undefined => {
    if (project === undefined) return undefined;
    folders.check(project);
    if (existsSync(project)) return project;
    throw new TuttiError("folder_not_found", `Folder ${project} does not exist. Use the path of an existing project.`);
  };

  return {
    "GET /api/orchestrator/templates": ({ query }) => {
      const queryParams = query();
      const project = projectOf(queryParams);
      const rows = itemsAfter(templates.list(project), queryParams.after, ({ id }) => id);
      if (queryParams.full === "0") return rows.slice(0, queryParams.limit);
      const usable = rows.filter(({ valid }) => valid).slice(0, queryParams.limit);
      return usable.map(({ id }) => templates.resolve(id, project).template);
    },
    "POST /api/orchestrator/templates": async ({ query, body }) => {
      const project = projectOf(query());
      const raw = mustBeAllowed(await body());
      return templates.create(raw, destinationOf(project)).template;
    },
    "POST /api/orchestrator/templates/import": async ({ query, body }) => {
      const project = projectOf(query());
      const content = await body();
      const template = mustBeAllowed(typeof content === "string" ? parseTemplate(content) : content);
      return templates.create(template, destinationOf(project)).template;
    },
    "POST /api/orchestrator/templates/validate": async ({ query, body }) => {
      const project = projectOf(query());
      return templates.validate(await body(), project);
    },
    "GET /api/orchestrator/templates/:id": ({ params, query }) => {
      const queryParams = query();
      const project = projectOf(queryParams);
      if (queryParams.resolved === "0") return templates.raw(params.id, project);
      const { template, provenance, chain, warnings } = templates.resolve(params.id, project);
      return queryParams.provenance === "0" ? template : { template, provenance, chain, warnings };
    },
    "PUT /api/orchestrator/templates/:id": async ({ params, query, body }) => {
      const project = projectOf(query());
      return templates.update(params.id, mustBeAllowed(await body()), project).template;
    },
    "DELETE /api/orchestrator/templates/:id": ({ params, query }) => {
      templates.delete(params.id, projectOf(query()));
      return DONE;
    },
    "POST /api/orchestrator/templates/:id/duplicate": async ({ params, query, body }) => {
      const project = projectOf(query());
      return templates.duplicate(params.id, (await body()).newName, project).template;
    },
    "GET /api/orchestrator/templates/:id/export": ({ params, query, context }) => {
      const whole = templates.exportTemplate(params.id, projectOf(query()));
      const text = context.get("holder")?.role === "view" ? hide(whole) : whole;
      // `exportTemplate` throws for an unknown id, and the ids of templates are safe in a file name.
      const headers = { "Content-Disposition": `attachment; filename="${params.id}.json"` };
      return context.body(text, 200, { "Content-Type": "application/json; charset=UTF-8", ...headers });
    },
    "POST /api/orchestrator/templates/:id/preview": async ({ params, query, body }) => {
      const project = projectOf(query());
      return templates.preview(params.id, (await body()).variables, project);
    },
    "POST /api/orchestrator/templates/:id/rehearse": async ({ params, query, body }) => {
      const { template } = templates.resolve(params.id, projectOf(query()));
      const request = await body();
      return mustHaveMachine(machine).rehearse(template, request);
    },
  };
}
