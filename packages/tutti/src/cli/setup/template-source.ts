// `openTemplateSource` reads templates from the folders of this machine, or from the server of `--url`. A server on the
// same data folder reads the same folders at each use, so the commands need not go through it.
import { findAddress } from "../access/find-address.ts";
import { openTemplates } from "../../main/templates.ts";
import { parseTemplate } from "../../template/files/read-file.ts";
import type { Output } from "../terminal/output.ts";
import { createCall, type ClientOptions } from "../../client/call-route.ts";
import type { Template } from "../../schema/template.ts";

interface TemplateLine {
  id: string;
  place: string;
  name: string;
  description: string;
  valid: boolean;
  isInternal: boolean;
  errors: string[];
}

interface ShownTemplate {
  template: Template;
  provenance: Record<string, string>;
  chain: string[];
  warnings: string[];
}

/** `project` is a folder with templates of its own, which are available too. */
interface TemplateSource {
  list(project?: string): Promise<TemplateLine[]>;
  raw(id: string, project?: string): Promise<Record<string, unknown>>;
  resolve(id: string, project?: string): Promise<ShownTemplate>;
  validate(raw: unknown, project?: string): Promise<{ valid: boolean; errors: string[]; warnings: string[] }>;
  importText(text: string, project?: string): Promise<Template>;
  duplicate(id: string, newName: string, project?: string): Promise<Template>;
  remove(id: string, project?: string): Promise<unknown>;
  preview(
    id: string,
    variables: Record<string, string>,
    project?: string,
  ): Promise<Record<string, { system: string; user: string | null; unknown: string[] }>>;
}

export async function openTemplateSource(output: Output): Promise<TemplateSource> {
  return output.url === undefined ? folderSource(output.dataDir) : serverSource((await findAddress(output))!);
}

function folderSource(dataDir: string): TemplateSource {
  const library = openTemplates(dataDir);
  const destination = (project: string | undefined) =>
    project === undefined ? {} : { place: "project" as const, project };
  return {
    list: async (project) => library.list(project),
    raw: async (id, project) => library.raw(id, project),
    resolve: async (id, project) => library.resolve(id, project),
    validate: async (raw, project) => library.validate(raw, project),
    importText: async (text, project) => library.importTemplate(parseTemplate(text), destination(project)).template,
    duplicate: async (id, name, project) => library.duplicate(id, name, project).template,
    remove: async (id, project) => library.delete(id, project),
    preview: async (id, variables, project) => library.preview(id, variables, project),
  };
}

const PATH = "/api/orchestrator/templates";

function serverSource(address: ClientOptions): TemplateSource {
  const call = createCall(address);
  const queryFor = (project: string | undefined) => (project === undefined ? {} : { project });
  return {
    list: (project) => call(`GET ${PATH}`, { query: queryFor(project) }) as Promise<TemplateLine[]>,
    raw: (id, project) => call(`GET ${PATH}/:id`, { params: { id }, query: { resolved: "0", ...queryFor(project) } }),
    resolve: (id, project) =>
      call(`GET ${PATH}/:id`, {
        params: { id },
        query: { provenance: "1", ...queryFor(project) },
      }) as Promise<ShownTemplate>,
    validate: (body, project) => call(`POST ${PATH}/validate`, { query: queryFor(project), body }),
    importText: (body, project) => call(`POST ${PATH}/import`, { query: queryFor(project), body }),
    duplicate: (id, newName, project) =>
      call(`POST ${PATH}/:id/duplicate`, { params: { id }, query: queryFor(project), body: { newName } }),
    remove: (id, project) => call(`DELETE ${PATH}/:id`, { params: { id }, query: queryFor(project) }),
    preview: (id, variables, project) =>
      call(`POST ${PATH}/:id/preview`, { params: { id }, query: queryFor(project), body: { variables } }),
  };
}
