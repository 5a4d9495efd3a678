import { join, resolve } from "node:path";
import { readUserConfig } from "../config/config.ts";
import { TemplateLibrary, type LibraryOptions } from "../template/files/library.ts";

export const openTemplates = (dataDir: string, emit?: LibraryOptions["emit"]): TemplateLibrary =>
  new TemplateLibrary({
    ...(emit && { emit }),
    userFolder: join(resolve(dataDir), "templates"),
    agents: () => Object.keys(readUserConfig(resolve(dataDir)).agents),
  });
