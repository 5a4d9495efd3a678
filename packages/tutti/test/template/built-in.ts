import { TemplateLibrary } from "../../src/template/files/library.ts";
import type { Template } from "../../src/schema/template.ts";

const library = new TemplateLibrary();

export const loadTemplate = (id: string): Template => library.resolve(id).template;
