// `TemplateLibrary` has all available templates: the built-in ones, the user's, and those of a project.
//
// 1. The nearest wins: project, then user, then system.
// 2. Every use checks the disk first, so an edit takes effect immediately.
// 3. Returned templates are copies, so a run keeps the version it started with.
// 4. An unusable template is listed with its errors, and using it throws. An invalid template is never written.
import { existsSync } from "node:fs";
import { join, resolve as absolutePath } from "node:path";
import { assetPath } from "../../own-files.ts";
import { mustFit, mustNotBeExtended, mustNotBeTaken, patched } from "../edit-template.ts";
import { TemplateFolder } from "./folder.ts";
import { TemplatePlace, type PlacedTemplate } from "./place.ts";
import { previewTemplate, type TemplatePreview } from "../preview.ts";
import { isObject, type RawTemplate } from "../raw-template.ts";
import { parseTemplate } from "./read-file.ts";
import type { Resolution } from "../resolve-template.ts";
import { summarise, type TemplateSummary } from "../summary.ts";
import { templateUnusable, templateProtected, templateExists, noSuchTemplate } from "../check/template-error.ts";
import { templateId } from "../template-id.ts";
import { WatchedTemplates, type TemplateEvent } from "./watched-templates.ts";
import { programsOf } from "../trust.ts";
import { validateTemplate, type Validation } from "../check/validate-template.ts";
import { removeFile, writeWholeFile } from "./write-file.ts";
import { TuttiError } from "../../schema/error.ts";

const BUILT_IN_FOLDER = assetPath("src/template/built-in", "dist/template/built-in");
const PROJECT_FOLDER = join(".tutti", "templates");
/** Beyond `MAX_PROJECTS` cached projects, the least recently used one is dropped. */
const MAX_PROJECTS = 100;

export interface LibraryOptions {
  /** Without `userFolder` there are no templates of the user. */
  userFolder?: string;
  /** Read-only templates in `systemFolder` take precedence over the built-in ones. */
  systemFolder?: string;
  /** Returns the agent names of the user's configuration. `agents` is called on every use. */
  agents?: () => readonly string[];
  /** Receives events about templates, except those of projects. */
  emit?: (event: TemplateEvent) => void;
}

export interface ResolvedTemplate extends Resolution {
  /** `programs` of a project's template need the user's approval first; see trust.ts. */
  programs: string[];
}

export interface Destination {
  place?: "user" | "project";
  project?: string;
}

/** Without a `project`, templates are stored with those of the user. */
export const destinationOf = (project: string | undefined): Destination =>
  project === undefined ? {} : { place: "project", project };

export class TemplateLibrary {
  readonly #system: TemplatePlace;
  readonly #user: TemplatePlace | null;
  readonly #projects = new Map<string, TemplatePlace>();
  readonly #agents: () => readonly string[];
  readonly #announcer: WatchedTemplates | null;
  #announcedRevision = -1;

  constructor({ userFolder, systemFolder, agents = () => [], emit }: LibraryOptions = {}) {
    const builtIn = new TemplatePlace("system", new TemplateFolder(BUILT_IN_FOLDER, { isOwn: true }), null);
    // A folder of templates may contain the schema under its documented name.
    const extraFolder =
      systemFolder === undefined ? null : new TemplateFolder(systemFolder, { except: ["schema.json"] });
    this.#system = extraFolder ? new TemplatePlace("system", extraFolder, builtIn) : builtIn;
    this.#user = userFolder ? new TemplatePlace("user", new TemplateFolder(userFolder), this.#system) : null;
    this.#agents = agents;
    this.#announcer = emit ? new WatchedTemplates(emit) : null;
  }

  list(project?: string): TemplateSummary[] {
    return this.#nearest(project).map(summarise);
  }

  raw(id: string, project?: string): RawTemplate {
    const placed = this.#find(id, project);
    if (!placed.raw) throw templateUnusable(placed);
    return structuredClone(placed.raw);
  }

  resolve(id: string, project?: string): ResolvedTemplate {
    return this.#resolved(this.#find(id, project));
  }

  /** Validates `raw` as a template of `project`, or as one of the user's. */
  validate(raw: unknown, project?: string): Validation {
    return validateTemplate(raw, this.#refreshedPlace(project)).validation;
  }

  /** Unlike `resolve`, gets a template that is not stored. */
  resolveRaw(value: unknown): ResolvedTemplate {
    const { resolution, validation } = validateTemplate(value, this.#refreshedPlace(undefined));
    const id = isObject(value) ? String(value["id"]) : "";
    if (!resolution) throw templateUnusable({ id, errors: validation.errors });
    return { ...resolution, programs: programsOf(resolution, this.#agents()) };
  }

  /** Rejects an invalid template, although loading is lenient. */
  create(value: unknown, destination: Destination = {}): ResolvedTemplate {
    const place = this.#destination(destination);
    const needsId = isObject(value) && value["id"] === undefined && typeof value["name"] === "string";
    const complete = needsId ? { id: this.generateId(value["name"] as string, destination.project), ...value } : value;
    mustNotBeTaken(complete, place);
    const raw = mustFit(complete, place);
    const id = String(raw["id"]);
    const file = join(place.folder.path, `${id}.json`);
    if (!writeWholeFile(file, textOf(raw), { isNew: true, ...permissionsIn(place) })) throw templateExists(id, file);
    return this.#stored(place, id, "template:created");
  }

  /** Merges `patch` into the file: objects deeply, arrays as a whole. */
  update(id: string, patch: unknown, project?: string): ResolvedTemplate {
    const placed = this.#editable(id, project);
    writeWholeFile(placed.file.path, textOf(patched(placed, patch)));
    return this.#stored(placed.place, id, "template:updated");
  }

  delete(id: string, project?: string): void {
    const placed = this.#editable(id, project);
    mustNotBeExtended(placed, this.#refreshedPlace(project));
    removeFile(placed.file.path);
    placed.place.refresh();
    if (placed.place.name === "user") this.#announcer?.deleted(id);
  }

  /** The copy only extends the original, so that it follows later changes of the original. */
  duplicate(id: string, newName: string, project?: string): ResolvedTemplate {
    const { place } = this.#find(id, project);
    const raw = { id: this.generateId(newName, project), name: newName, extends: id };
    return this.create(raw, place.name === "project" ? { place: "project", project } : {});
  }

  /** `value` is an object, or the text of a file. */
  importTemplate(value: unknown, destination: Destination = {}): ResolvedTemplate {
    return this.create(typeof value === "string" ? parseTemplate(value) : value, destination);
  }

  /** Returns the text of a file for `importTemplate`. */
  exportTemplate(id: string, project?: string): string {
    return textOf(this.raw(id, project));
  }

  /** Renders every prompt with sample values; `variables` override them. */
  preview(id: string, variables: Readonly<Record<string, unknown>> = {}, project?: string): TemplatePreview {
    return previewTemplate(this.resolve(id, project).template, variables);
  }

  generateId(name: string, project?: string): string {
    const place = this.#refreshedPlace(project);
    const files = [place, place.outer].flatMap((one) => one?.folder.files ?? []).map((file) => file.name);
    return templateId(name, (id) => place.find(id) !== undefined || files.includes(`${id}.json`));
  }

  isSystem(id: string): boolean {
    this.#system.refresh();
    return this.#system.find(id) !== undefined;
  }

  /** A search starts at the refreshed place and goes outward. */
  #refreshedPlace(project: string | undefined): TemplatePlace {
    const place = project === undefined ? (this.#user ?? this.#system) : this.#projectPlace(absolutePath(project));
    place.refresh();
    if (project === undefined) this.#announceFound(place);
    return place;
  }

  #announceFound(place: TemplatePlace): void {
    if (this.#announcer === null || place.revision === this.#announcedRevision) return;
    this.#announcedRevision = place.revision;
    this.#announcer.found(nearest(place));
  }

  #projectPlace(project: string): TemplatePlace {
    const folder = new TemplateFolder(join(project, PROJECT_FOLDER), { within: project });
    const place = this.#projects.get(project) ?? new TemplatePlace("project", folder, this.#user ?? this.#system);
    // Inserting `project` again makes it the most recently used.
    this.#projects.delete(project);
    this.#projects.set(project, place);
    const [oldest] = this.#projects.keys();
    if (this.#projects.size > MAX_PROJECTS) this.#projects.delete(oldest!);
    return place;
  }

  #destination({ place = "user", project }: Destination): TemplatePlace {
    if (place === "user") {
      if (!this.#user)
        throw new TuttiError("wrong_state", 'This library has no folder for user templates. Set "userFolder".');
      return this.#refreshedPlace(undefined);
    }
    if (project === undefined || !existsSync(project))
      throw new TuttiError(
        "folder_not_found",
        `Project folder ${JSON.stringify(project ?? "")} does not exist. Name an existing folder.`,
      );
    return this.#refreshedPlace(project);
  }

  #nearest(project: string | undefined): PlacedTemplate[] {
    return nearest(this.#refreshedPlace(project));
  }

  #find(id: string, project: string | undefined): PlacedTemplate {
    const placed = this.#refreshedPlace(project).find(id);
    if (placed) return placed;
    const known = this.#nearest(project).map((one) => one.id);
    throw noSuchTemplate(id, known);
  }

  #editable(id: string, project: string | undefined): PlacedTemplate {
    const placed = this.#find(id, project);
    if (placed.place.name === "system") throw templateProtected(id);
    return placed;
  }

  #stored(place: TemplatePlace, id: string, type: "template:created" | "template:updated"): ResolvedTemplate {
    place.refresh();
    const placed = place.at(id)!;
    if (place.name === "user" && placed.raw) this.#announcer?.stored(type, id, placed.raw);
    return this.#resolved(placed);
  }

  #resolved(placed: PlacedTemplate): ResolvedTemplate {
    if (!placed.resolution) throw templateUnusable(placed);
    const resolution = structuredClone(placed.resolution);
    return { ...resolution, programs: programsOf(resolution, this.#agents()) };
  }
}

/** Returns one template per id, sorted by id. */
function nearest(first: TemplatePlace): PlacedTemplate[] {
  const found = new Map<string, PlacedTemplate>();
  for (let place: TemplatePlace | null = first; place; place = place.outer) {
    for (const placed of place.all) if (!found.has(placed.id)) found.set(placed.id, placed);
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The user's templates are in the data folder; a project's templates have the permissions of the project. */
const permissionsIn = ({ name }: TemplatePlace) => (name === "user" ? { mode: 0o600, folderMode: 0o700 } : {});

const textOf = (raw: RawTemplate): string => `${JSON.stringify(raw, null, 2)}\n`;
