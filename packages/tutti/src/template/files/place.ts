// A `TemplatePlace` is one location of templates: its files, and each template resolved with its ancestors.
//
// 1. Templates are resolved again only if this place or an outer one has changed.
// 2. A template that was usable once stays usable while its file exists. If the file or an ancestor becomes invalid,
//    the last valid resolution stays in use and the error is reported. So each template is resolved at once, except
//    those of the package (`isOwn`), which do not change and are resolved at their first use.
import type { Shelf } from "../find-chain.ts";
import type { TemplateFile, TemplateFolder } from "./folder.ts";
import type { RawTemplate } from "../raw-template.ts";
import { resolveTemplate, type Resolution } from "../resolve-template.ts";

export interface PlacedTemplate {
  readonly id: string;
  readonly place: TemplatePlace;
  readonly file: TemplateFile;
  /** The version in use, or null if there has never been a valid one. */
  readonly raw: RawTemplate | null;
  /** `problems` of the latest version of `file`. */
  readonly problems: readonly string[];
  /** `rivals` are warnings about other files with the same id. */
  readonly rivals: readonly string[];
  readonly resolution: Resolution | null;
  /** Errors of the template on disk. If `resolution` is set, an earlier version is in use. */
  readonly errors: readonly string[];
}

type Shelved = Pick<PlacedTemplate, "id" | "file" | "raw" | "problems" | "rivals">;

export class TemplatePlace implements Shelf {
  readonly name: Shelf["name"];
  readonly outer: TemplatePlace | null;
  readonly folder: TemplateFolder;
  /** Increases whenever this place or an outer one changes. */
  #revision = 0;
  #outerRevision = -1;
  #shelved = new Map<string, Shelved>();
  #placed = new Map<string, PlacedTemplate>();
  readonly #lastGood = new Map<string, Resolution>();

  constructor(name: Shelf["name"], folder: TemplateFolder, outer: TemplatePlace | null) {
    this.name = name;
    this.folder = folder;
    this.outer = outer;
  }

  refresh(): void {
    this.outer?.refresh();
    const outerRevision = this.outer ? this.outer.#revision : 0;
    const changed = this.folder.refresh();
    if (!changed && outerRevision === this.#outerRevision) return;
    this.#outerRevision = outerRevision;
    this.#revision++;
    this.#shelved = shelve(this.folder.files);
    this.#placed = new Map();
    for (const id of this.#lastGood.keys()) if (!this.#shelved.has(id)) this.#lastGood.delete(id);
    if (!this.folder.isOwn) for (const id of this.#shelved.keys()) this.at(id);
  }

  get revision(): number {
    return this.#revision;
  }

  get(id: string): Shelved | undefined {
    return this.#shelved.get(id);
  }

  /** Returns the template of this id in this place, as of the last `refresh`. */
  at(id: string): PlacedTemplate | undefined {
    const shelved = this.#shelved.get(id);
    if (shelved && !this.#placed.has(id)) this.#placed.set(id, this.#resolve(shelved));
    return this.#placed.get(id);
  }

  get all(): PlacedTemplate[] {
    return Array.from(this.#shelved.keys(), (id) => this.at(id)!);
  }

  /** Unlike `at`, searches outward if this place has no such template. */
  find(id: string): PlacedTemplate | undefined {
    return this.at(id) ?? this.outer?.find(id);
  }

  #resolve(shelved: Shelved): PlacedTemplate {
    const { id, raw, problems, rivals } = shelved;
    const result = raw ? resolveTemplate(raw, this) : { errors: [] };
    if ("resolution" in result) this.#lastGood.set(id, result.resolution);
    const failures = [...problems, ...("errors" in result ? result.errors : [])];
    const good = this.#lastGood.get(id);
    const warnings = [...failures.map(warnOfEarlier), ...rivals, ...(good?.warnings ?? [])];
    const resolution = good ? { ...good, warnings } : null;
    return { ...shelved, place: this, resolution, errors: [...failures, ...rivals] };
  }
}

const warnOfEarlier = (error: string): string =>
  `An earlier version is in use, because the latest has an error: ${error}`;

/** Selects one file per id, so that two files with the same id do not make a template appear and disappear. */
function shelve(files: readonly TemplateFile[]): Map<string, Shelved> {
  const groups = Map.groupBy(files, idOf);
  return new Map(
    [...groups].map(([id, group]) => {
      const [file, ...others] = group.toSorted((a, b) => rank(b, id) - rank(a, id));
      const rivals = others.map(({ name }) => `${name} also has the id ${JSON.stringify(id)} and is ignored.`);
      return [id, { id, file: file!, raw: file!.raw, problems: file!.problems, rivals }];
    }),
  );
}

const idOf = ({ raw, name }: TemplateFile): string => (raw ? String(raw["id"]) : name.replace(/\.json$/, ""));

/** Prefers valid files, then files named after the id. */
const rank = ({ raw, name }: TemplateFile, id: string): number => (raw ? 2 : 0) + (name === `${id}.json` ? 1 : 0);
