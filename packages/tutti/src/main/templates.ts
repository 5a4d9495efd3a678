import { join, resolve } from "node:path";
import { readUserConfig } from "../config/config.ts";
import type { Template } from "../schema/template.ts";
import { TemplateLibrary, type LibraryOptions } from "../template/files/library.ts";

export { parseTemplate } from "../template/files/read-file.ts";

export const openTemplates = (dataDir: string, tell?: LibraryOptions["tell"]): TemplateLibrary =>
  new TemplateLibrary({
    ...(tell && { tell }),
    userFolder: join(resolve(dataDir), "templates"),
    agents: () => Object.keys(readUserConfig(resolve(dataDir)).agents),
  });

export function findTemplate(dataDir: string, id: string, project: string): Template {
  return openTemplates(dataDir).resolve(id, project).template;
}
