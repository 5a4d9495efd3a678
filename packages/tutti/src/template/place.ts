// One of the places where templates are: what is there, and what each comes to with all it inherits.
//
// 1. Nothing is resolved twice while the place and all places further out stay as they are.
// 2. A template that could be used once stays usable for as long as it is there. If its file, or an ancestor, is edited
//    into something that cannot be used, the last good result stays and the error is told.
import type { Shelf } from "./find-chain.ts";
import type { TemplateFile, TemplateFolder } from "./folder.ts";
import type { RawTemplate } from "./raw-template.ts";
import { resolveTemplate, type Resolution } from "./resolve-template.ts";

/** A template in its place. */
export interface Placed {
  readonly id: string;
  readonly place: TemplatePlace;
  readonly file: TemplateFile;
  /** The version in use, or null if there has never been one that makes sense. */
  readonly raw: RawTemplate | null;
  /** What is wrong with the newest version of its file. */
  readonly problems: readonly string[];
  /** Other files that claim its id. */
  readonly rivals: readonly string[];
  /** Null if it cannot be used. */
  readonly resolution: Resolution | null;
  /** What is wrong with it as it stands on disk; with a resolution, an earlier version is in use. */
  readonly errors: readonly string[];
}

type Shelved = Pick<Placed, "id" | "file" | "raw" | "problems" | "rivals">;

export class TemplatePlace implements Shelf {
  readonly name: Shelf["name"];
  readonly outer: TemplatePlace | null;
  readonly folder: TemplateFolder;
  /** Grows whenever anything here or further out is different. */
  #revision = 0;
  #outerRevision = -1;
  #shelved = new Map<string, Shelved>();
  #placed = new Map<string, Placed>();
  readonly #lastGood = new Map<string, Resolution>();

  constructor(name: Shelf["name"], folder: TemplateFolder, outer: TemplatePlace | null) {
    this.name = name;
    this.folder = folder;
    this.outer = outer;
  }

  /** Looks at the disk, further out first. */
  refresh(): void {
    this.outer?.refresh();
    const outerRevision = this.outer ? this.outer.#revision : 0;
    const changed = this.folder.refresh();
    if (!changed && outerRevision === this.#outerRevision) return;
    this.#outerRevision = outerRevision;
    this.#revision++;
    this.#shelved = shelve(this.folder.files);
    this.#resolveAll();
  }

  /** Another number whenever anything here or further out is different. */
  get revision(): number {
    return this.#revision;
  }

  get(id: string): Shelved | undefined {
    return this.#shelved.get(id);
  }

  /** The template of this id here, as of the last refresh. */
  at(id: string): Placed | undefined {
    return this.#placed.get(id);
  }

  get all(): Placed[] {
    return [...this.#placed.values()];
  }

  /** The template that the id means here: the nearest one, going outward. */
  find(id: string): Placed | undefined {
    return this.at(id) ?? this.outer?.find(id);
  }

  #resolveAll(): void {
    for (const id of this.#lastGood.keys()) if (!this.#shelved.has(id)) this.#lastGood.delete(id);
    this.#placed = new Map([...this.#shelved].map(([id, shelved]) => [id, this.#resolve(shelved)]));
  }

  #resolve(shelved: Shelved): Placed {
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
  `An earlier version is in use, because the newest has an error: ${error}`;

/** One file for each id. Two files of one id are a mistake that must not make a template come and go. */
function shelve(files: readonly TemplateFile[]): Map<string, Shelved> {
  const groups = Map.groupBy(files, idOf);
  return new Map(
    [...groups].map(([id, group]) => {
      const [file, ...others] = group.toSorted((a, b) => rank(b, id) - rank(a, id));
      const rivals = others.map(({ name }) => `${name} has the id ${JSON.stringify(id)} too and is not used.`);
      return [id, { id, file: file!, raw: file!.raw, problems: file!.problems, rivals }];
    }),
  );
}

const idOf = ({ raw, name }: TemplateFile): string => (raw ? String(raw["id"]) : name.replace(/\.json$/, ""));

/** What can be used comes before what cannot, then the file that is named after the id. */
const rank = ({ raw, name }: TemplateFile, id: string): number => (raw ? 2 : 0) + (name === `${id}.json` ? 1 : 0);
