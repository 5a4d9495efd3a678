// All templates that can be used: those that come with Tutti, the person's own, and those of a project.
//
// 1. The nearest wins: project, then user, then system.
// 2. Every use looks at the disk first, so an edit counts at once and nothing has to be restarted.
// 3. What is handed out is a copy: a run keeps what it started with.
// 4. What cannot be used is listed with its errors and refused when it is asked for; it is never written.
import { existsSync } from "node:fs";
import { join, resolve as absolutePath } from "node:path";
import { mustFit, mustNotBeExtended, mustNotBeTaken, patched } from "./edit-template.ts";
import { TemplateFolder } from "./folder.ts";
import { TemplatePlace, type Placed } from "./place.ts";
import { previewTemplate, type TemplatePreview } from "./preview.ts";
import { isObject, type RawTemplate } from "./raw-template.ts";
import { parseTemplate } from "./read-file.ts";
import type { Resolution } from "./resolve-template.ts";
import { summarise, type TemplateSummary } from "./summary.ts";
import { cannotBeUsed, isProtected, isThere, noSuchTemplate } from "./template-error.ts";
import { templateId } from "./template-id.ts";
import { ToldTemplates, type TemplateEvent } from "./told-templates.ts";
import { programsOf } from "./trust.ts";
import { validateTemplate, type Validation } from "./validate-template.ts";
import { removeFile, writeWholeFile } from "./write-file.ts";
import { TuttiError } from "../schema/error.ts";

const BUILT_IN_FOLDER = join(import.meta.dirname, "built-in");
const PROJECT_FOLDER = join(".tutti", "templates");
/** Projects whose templates are remembered; the one that was not used for longest is forgotten first. */
const MAX_PROJECTS = 100;

export interface LibraryOptions {
  /** Where the person's own templates are; without it there are none. */
  userFolder?: string;
  /** A further folder of templates that cannot be changed, nearer than those that come with Tutti. */
  systemFolder?: string;
  /** The names of agents that the person's configuration defines, asked at each use. */
  agents?: () => readonly string[];
  /** Told of what is found, changed and wrong among the templates that are no project's. */
  tell?: (event: TemplateEvent) => void;
}

export interface ResolvedTemplate extends Resolution {
  /** What a project's template would run and the person has to agree to first; see trust.ts. */
  programs: string[];
}

/** Where a new template is stored; among the person's own unless it says otherwise. */
export interface Destination {
  place?: "user" | "project";
  project?: string;
}

export class TemplateLibrary {
  readonly #system: TemplatePlace;
  readonly #user: TemplatePlace | null;
  readonly #projects = new Map<string, TemplatePlace>();
  readonly #agents: () => readonly string[];
  readonly #told: ToldTemplates | null;
  #toldRevision = -1;

  constructor({ userFolder, systemFolder, agents = () => [], tell }: LibraryOptions = {}) {
    const builtIn = new TemplatePlace("system", new TemplateFolder(BUILT_IN_FOLDER), null);
    // A folder of templates may hold their schema under its documented name.
    const further = systemFolder === undefined ? null : new TemplateFolder(systemFolder, { except: ["schema.json"] });
    this.#system = further ? new TemplatePlace("system", further, builtIn) : builtIn;
    this.#user = userFolder ? new TemplatePlace("user", new TemplateFolder(userFolder), this.#system) : null;
    this.#agents = agents;
    this.#told = tell ? new ToldTemplates(tell) : null;
  }

  /** One row for each id, the nearest template of it, in the order of the ids. */
  list(project?: string): TemplateSummary[] {
    return this.#nearest(project).map(summarise);
  }

  /** What stands in its file. */
  raw(id: string, project?: string): RawTemplate {
    const placed = this.#find(id, project);
    if (!placed.raw) throw cannotBeUsed(placed);
    return structuredClone(placed.raw);
  }

  resolve(id: string, project?: string): ResolvedTemplate {
    return this.#resolved(this.#find(id, project));
  }

  /** As if the template were in the project, or among the person's own. */
  validate(raw: unknown, project?: string): Validation {
    return validateTemplate(raw, this.#look(project)).validation;
  }

  /** A template that is nowhere stored, with all it would inherit if it were. */
  resolveRaw(value: unknown, project?: string): ResolvedTemplate {
    const { resolution, validation } = validateTemplate(value, this.#look(project));
    const id = isObject(value) ? String(value["id"]) : "";
    if (!resolution) throw cannotBeUsed({ id, errors: validation.errors });
    return { ...resolution, programs: programsOf(resolution, this.#agents()) };
  }

  /** Strict, where loading is lenient: what is not valid is not written. */
  create(value: unknown, destination: Destination = {}): ResolvedTemplate {
    const place = this.#destination(destination);
    const named = isObject(value) && value["id"] === undefined && typeof value["name"] === "string";
    const whole = named ? { id: this.generateId(value["name"] as string, destination.project), ...value } : value;
    mustNotBeTaken(whole, place);
    const raw = mustFit(whole, place);
    const id = String(raw["id"]);
    const file = join(place.folder.path, `${id}.json`);
    if (!writeWholeFile(file, textOf(raw), { isNew: true })) throw isThere(id, file);
    return this.#after(place, id, "template:created");
  }

  /** Merges the patch into the file: objects deeply, arrays replaced. */
  update(id: string, patch: unknown, project?: string): ResolvedTemplate {
    const placed = this.#own(id, project);
    writeWholeFile(placed.file.path, textOf(patched(placed, patch)));
    return this.#after(placed.place, id, "template:updated");
  }

  delete(id: string, project?: string): void {
    const placed = this.#own(id, project);
    mustNotBeExtended(placed, this.#look(project));
    removeFile(placed.file.path);
    placed.place.refresh();
    if (placed.place.name === "user") this.#told?.deleted(id);
  }

  /** A new template that extends the original and says nothing itself, so that it follows when the original changes. */
  duplicate(id: string, newName: string, project?: string): ResolvedTemplate {
    const { place } = this.#find(id, project);
    const raw = { id: this.generateId(newName, project), name: newName, extends: id };
    return this.create(raw, place.name === "project" ? { place: "project", project } : {});
  }

  /** A template as an object, or as the text of a file. */
  importTemplate(value: unknown, destination: Destination = {}): ResolvedTemplate {
    return this.create(typeof value === "string" ? parseTemplate(value) : value, destination);
  }

  /** The text of a file that `importTemplate` takes. */
  exportTemplate(id: string, project?: string): string {
    return textOf(this.raw(id, project));
  }

  /** Every prompt with example values; those given stand for the run's. */
  preview(id: string, variables: Readonly<Record<string, unknown>> = {}, project?: string): TemplatePreview {
    return previewTemplate(this.resolve(id, project).template, variables);
  }

  generateId(name: string, project?: string): string {
    const place = this.#look(project);
    const files = [place, place.outer].flatMap((one) => one?.folder.files ?? []).map((file) => file.name);
    return templateId(name, (id) => place.find(id) !== undefined || files.includes(`${id}.json`));
  }

  isSystem(id: string): boolean {
    this.#system.refresh();
    return this.#system.find(id) !== undefined;
  }

  /** The place that a search begins in, as it is on disk now. */
  #look(project: string | undefined): TemplatePlace {
    const place = project === undefined ? (this.#user ?? this.#system) : this.#projectPlace(absolutePath(project));
    place.refresh();
    if (project === undefined) this.#tellFound(place);
    return place;
  }

  #tellFound(place: TemplatePlace): void {
    if (this.#told === null || place.revision === this.#toldRevision) return;
    this.#toldRevision = place.revision;
    this.#told.found(nearest(place));
  }

  #projectPlace(project: string): TemplatePlace {
    const folder = new TemplateFolder(join(project, PROJECT_FOLDER), { within: project });
    const place = this.#projects.get(project) ?? new TemplatePlace("project", folder, this.#user ?? this.#system);
    // Setting it anew makes it the youngest.
    this.#projects.delete(project);
    this.#projects.set(project, place);
    const [oldest] = this.#projects.keys();
    if (this.#projects.size > MAX_PROJECTS) this.#projects.delete(oldest!);
    return place;
  }

  #destination({ place = "user", project }: Destination): TemplatePlace {
    if (place === "user") {
      if (!this.#user) throw new TuttiError("wrong_state", "there is no folder for templates of your own");
      return this.#look(undefined);
    }
    if (project === undefined || !existsSync(project))
      throw new TuttiError("folder_not_found", `there is no project folder ${JSON.stringify(project ?? "")}`);
    return this.#look(project);
  }

  #nearest(project: string | undefined): Placed[] {
    return nearest(this.#look(project));
  }

  #find(id: string, project: string | undefined): Placed {
    const placed = this.#look(project).find(id);
    if (placed) return placed;
    const known = this.#nearest(project).map((one) => one.id);
    throw noSuchTemplate(id, known);
  }

  /** A template that may be changed. */
  #own(id: string, project: string | undefined): Placed {
    const placed = this.#find(id, project);
    if (placed.place.name === "system") throw isProtected(id);
    return placed;
  }

  #after(place: TemplatePlace, id: string, type: "template:created" | "template:updated"): ResolvedTemplate {
    place.refresh();
    const placed = place.at(id)!;
    if (place.name === "user" && placed.raw) this.#told?.stored(type, id, placed.raw);
    return this.#resolved(placed);
  }

  #resolved(placed: Placed): ResolvedTemplate {
    if (!placed.resolution) throw cannotBeUsed(placed);
    const resolution = structuredClone(placed.resolution);
    return { ...resolution, programs: programsOf(resolution, this.#agents()) };
  }
}

/** One template for each id, in the order of the ids. */
function nearest(first: TemplatePlace): Placed[] {
  const found = new Map<string, Placed>();
  for (let place: TemplatePlace | null = first; place; place = place.outer) {
    for (const placed of place.all) if (!found.has(placed.id)) found.set(placed.id, placed);
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const textOf = (raw: RawTemplate): string => `${JSON.stringify(raw, null, 2)}\n`;
