// The templates of a data folder: those that come with Tutti and the person's own.
import { join, resolve } from "node:path";
import { readUserConfig } from "../config/config.ts";
import type { Template } from "../schema/template.ts";
import { TemplateLibrary, type LibraryOptions } from "../template/library.ts";

export { parseTemplate } from "../template/read-file.ts";

export const openTemplates = (dataDir: string, tell?: LibraryOptions["tell"]): TemplateLibrary =>
  new TemplateLibrary({
    ...(tell && { tell }),
    userFolder: join(resolve(dataDir), "templates"),
    agents: () => Object.keys(readUserConfig(resolve(dataDir)).agents),
  });

/** The template that the id means in a project, for commands that only look. */
export function findTemplate(dataDir: string, id: string, project: string): Template {
  return openTemplates(dataDir).resolve(id, project).template;
}
