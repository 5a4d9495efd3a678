// Loads a built-in template.
import { TemplateLibrary } from "./library.ts";
import type { Template } from "../../schema/template.ts";

const library = new TemplateLibrary();

export const loadTemplate = (id: string): Template => library.resolve(id).template;
