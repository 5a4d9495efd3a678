// A template that comes with Tutti, by its name.
import { TemplateLibrary } from "./library.ts";
import type { Template } from "../schema/template.ts";

const library = new TemplateLibrary();

export const loadTemplate = (id: string): Template => library.resolve(id).template;
