// `openTemplateSource` reads templates from the folders of this machine, or from the server of `--url`. A server on the
// same data folder reads the same folders at each use, so the commands need not go through it.
import { findAddress } from "../access/find-address.ts";
import { openTemplates } from "../../main/templates.ts";
import type { Output } from "../terminal/output.ts";
import { createCall, type ClientOptions } from "../../client/call-route.ts";
import { destinationOf, type ResolvedTemplate } from "../../template/files/library.ts";
import type { TemplateSummary } from "../../template/summary.ts";

/** `project` is a folder with templates of its own, which are available too. */
type TemplateSource = ReturnType<typeof serverSource>;

export async function openTemplateSource(output: Output): Promise<TemplateSource> {
  return output.url === undefined ? folderSource(output.dataDir) : serverSource((await findAddress(output))!);
}

function folderSource(dataDir: string): TemplateSource {
  const library = openTemplates(dataDir);
  return {
    list: async (project) => library.list(project),
    raw: async (id, project) => library.raw(id, project),
    resolve: async (id, project) => library.resolve(id, project),
    validate: async (raw, project) => library.validate(raw, project),
    importText: async (text, project) => library.importTemplate(text, destinationOf(project)).template,
    duplicate: async (id, name, project) => library.duplicate(id, name, project).template,
    remove: async (id, project) => library.delete(id, project),
    preview: async (id, variables, project) => library.preview(id, variables, project),
  };
}

const PATH = "/api/orchestrator/templates";

function serverSource(address: ClientOptions) {
  const call = createCall(address);
  return {
    list: (project?: string) => call(`GET ${PATH}`, { query: { project } }) as Promise<TemplateSummary[]>,
    raw: (id: string, project?: string): Promise<Record<string, unknown>> =>
      call(`GET ${PATH}/:id`, { params: { id }, query: { resolved: "0", project } }),
    resolve: (id: string, project?: string) =>
      call(`GET ${PATH}/:id`, { params: { id }, query: { provenance: "1", project } }) as Promise<ResolvedTemplate>,
    validate: (body: unknown, project?: string) => call(`POST ${PATH}/validate`, { query: { project }, body }),
    importText: (body: string, project?: string) => call(`POST ${PATH}/import`, { query: { project }, body }),
    duplicate: (id: string, newName: string, project?: string) =>
      call(`POST ${PATH}/:id/duplicate`, { params: { id }, query: { project }, body: { newName } }),
    remove: (id: string, project?: string): Promise<unknown> =>
      call(`DELETE ${PATH}/:id`, { params: { id }, query: { project } }),
    preview: (id: string, variables: Record<string, string>, project?: string) =>
      call(`POST ${PATH}/:id/preview`, { params: { id }, query: { project }, body: { variables } }),
  };
}
