// `TemplateManager` of document 004 has the templates of the library under the documented names. The built-in templates
// always exist. Files in `templatesDir` are system templates too; those in `customDir` can be changed.
import { EventEmitter } from "node:events";
import { join } from "node:path";
import type { ModuleEvents } from "./module-events.ts";
import type { EventType } from "../schema/event.ts";
import type { Template } from "../schema/template.ts";
import { TuttiError } from "../schema/error.ts";
import { TemplateLibrary, type ResolvedTemplate } from "../template/files/library.ts";
import type { RawTemplate } from "../template/raw-template.ts";
import { substituteVariables } from "../template/render.ts";
import type { TemplateSummary } from "../template/summary.ts";
import type { Validation } from "../template/check/validate-template.ts";

/** `errors` holds the errors of the last call. */
interface TemplateValidator {
  (template: unknown): boolean;
  errors: string[] | null;
}

type TemplateRow = Pick<
  TemplateSummary,
  "id" | "name" | "description" | "icon" | "author" | "version" | "tags" | "isSystem" | "isInternal" | "extends"
>;

/** All inheritance chains end at `_default`. */
const BASE = "_default";

export const TEMPLATE_EVENTS = [
  "template:loaded",
  "template:created",
  "template:updated",
  "template:deleted",
  "template:error",
] as const satisfies EventType[];

export class TemplateManager extends EventEmitter<ModuleEvents> {
  readonly templatesDir: string;
  readonly customDir: string;
  readonly templates = new Map<string, RawTemplate>();
  /** Filled by `getTemplate` and cleared by every change. */
  readonly resolvedCache = new Map<string, Template>();
  readonly #library: TemplateLibrary;

  constructor(templatesDir: string) {
    super();
    const emit = this.emit.bind(this) as (type: string, data: unknown) => boolean;
    this.templatesDir = templatesDir;
    this.customDir = join(templatesDir, "custom");
    this.#library = new TemplateLibrary({
      systemFolder: this.templatesDir,
      userFolder: this.customDir,
      emit: ({ type, data }) => void emit(type, data),
    });
  }

  async initialize(): Promise<void> {
    await this.loadSchema();
    await this.loadAllTemplates();
  }

  async loadSchema(): Promise<TemplateValidator> {
    const validator = (template: unknown): boolean => {
      const { valid, errors } = this.validateTemplate(template);
      result.errors = valid ? null : errors;
      return valid;
    };
    const result: TemplateValidator = Object.assign(validator, { errors: null });
    return result;
  }

  /** An invalid template is loaded as far as possible, with a warning. */
  async loadAllTemplates(): Promise<Map<string, RawTemplate>> {
    this.templates.clear();
    this.resolvedCache.clear();
    for (const { id, errors } of this.#library.list()) {
      if (errors.length > 0) console.warn(`Template ${id} has validation errors:`, errors);
      const raw = this.#rawOrNull(id);
      if (raw) this.templates.set(id, raw);
    }
    return this.templates;
  }

  async getTemplate(id: string): Promise<Template> {
    const { template } = this.#library.resolve(id);
    this.resolvedCache.set(id, template);
    return structuredClone(template);
  }

  async getAllTemplates(): Promise<TemplateRow[]> {
    return this.#library.list().map(({ place: _place, valid: _valid, errors: _errors, ...row }) => row);
  }

  /** `project` may add templates of its own. */
  resolve(id: string, project?: string): ResolvedTemplate {
    return this.#library.resolve(id, project);
  }

  /** Returns the names under `config` that the template or an ancestor sets, except those of `BASE`. */
  settingsOf(id: string, project?: string): Set<string> {
    const names = new Set<string>();
    for (let next: unknown = id, seen = new Set<unknown>(); typeof next === "string" && next !== BASE;) {
      if (seen.has(next)) break;
      seen.add(next);
      const raw = this.#library.raw(next, project);
      for (const name of Object.keys(raw["config"] ?? {})) names.add(name);
      next = raw["extends"];
    }
    return names;
  }

  async createTemplate(templateData: unknown): Promise<Template> {
    return this.#afterChange(this.#library.create(templateData).template);
  }

  async updateTemplate(id: string, templateData: unknown): Promise<Template> {
    return this.#afterChange(this.#library.update(id, templateData).template);
  }

  async deleteTemplate(id: string): Promise<void> {
    this.#library.delete(id);
    this.templates.delete(id);
    this.resolvedCache.clear();
  }

  async duplicateTemplate(id: string, newName: string): Promise<Template> {
    return this.#afterChange(this.#library.duplicate(id, newName).template);
  }

  /** `visited` holds the ids of the descendants, in order. */
  resolveInheritance(template: RawTemplate, visited: Set<string> = new Set()): Template {
    const id = String(template["id"]);
    if (visited.has(id)) {
      const path = [...visited, id].join(" -> ");
      throw new TuttiError("invalid_template", `Circular inheritance detected: ${path}`);
    }
    visited.add(id);
    return this.#library.resolveRaw(template).template;
  }

  validateTemplate(template: unknown): Validation {
    return this.#library.validate(template);
  }

  substituteVariables(text: string, variables: Readonly<Record<string, unknown>>): string {
    return substituteVariables(text, variables);
  }

  isSystemTemplate(id: string): boolean {
    return this.#library.isSystem(id);
  }

  generateTemplateId(name: string): string {
    return this.#library.generateId(name);
  }

  /** Other templates may extend the changed one, so `resolvedCache` is cleared. */
  #afterChange(template: Template): Template {
    this.resolvedCache.clear();
    this.templates.set(template.id, this.#library.raw(template.id));
    return template;
  }

  #rawOrNull(id: string): RawTemplate | null {
    try {
      return this.#library.raw(id);
    } catch (error) {
      if (error instanceof TuttiError && error.code === "invalid_template") return null;
      throw error;
    }
  }
}
