// A folder of template files, read anew when it is used.
//
// 1. Nothing watches the folder: every look compares its list and the stamp of each file, and reads what is different.
// 2. A version that makes no sense does not take the place of one that did; its problems are told instead.
import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { readTemplateFile, stampOf } from "./read-file.ts";
import type { RawTemplate } from "./raw-template.ts";
import { TuttiError } from "../schema/error.ts";
import { realWorld } from "../world.ts";

export interface TemplateFile {
  /** The name of the file in its folder. */
  readonly name: string;
  readonly path: string;
  /** The newest version that makes sense, or null if there was none since we look. */
  readonly raw: RawTemplate | null;
  /** What is wrong with the version on disk; empty when it is the one in `raw`. */
  readonly problems: readonly string[];
}

interface Known extends TemplateFile {
  stamp: string;
  /** The file was changed so shortly before it was read that a further change might have the same stamp. */
  young: boolean;
}

/** Longer than the ticks in which file systems count time. */
const YOUNG_MS = 2000;

export interface FolderOptions {
  /** The folder must lie in this one, also when all links are followed. */
  within?: string;
  /** Files that are no templates. */
  except?: readonly string[];
}

export class TemplateFolder {
  readonly path: string;
  readonly #options: FolderOptions;
  readonly #known = new Map<string, Known>();

  constructor(path: string, options: FolderOptions = {}) {
    this.path = path;
    this.#options = options;
  }

  get files(): TemplateFile[] {
    return [...this.#known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Looks at the disk, and says whether anything is different. */
  refresh(): boolean {
    const names = this.#names();
    let changed = false;
    for (const name of this.#known.keys()) {
      if (!names.includes(name)) changed = this.#known.delete(name);
    }
    for (const name of names) changed = this.#look(name) || changed;
    return changed;
  }

  #look(name: string): boolean {
    const path = join(this.path, name);
    const before = this.#known.get(name);
    const found = stampOf(path);
    // It went between the listing and now.
    if (!found) return this.#known.delete(name);
    if (before && before.stamp === found.stamp && !before.young) return false;
    // The times of files are the machine's, so this clock is too.
    const young = realWorld.now() - found.changedMs < YOUNG_MS;
    const check = readTemplateFile(path);
    const [raw, problems] = "raw" in check ? [check.raw, []] : [before?.raw ?? null, check.errors];
    this.#known.set(name, { name, path, raw, problems, stamp: found.stamp, young });
    return !before || !isSame(before, { raw, problems });
  }

  #names(): string[] {
    this.#checkPlace();
    try {
      const names = readdirSync(this.path);
      return names.filter((name) => /^[^.].*\.json$/.test(name) && !this.#options.except?.includes(name));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return [];
      throw new TuttiError("storage_failed", `the templates in ${this.path} cannot be listed: ${message}`, {
        cause: error,
      });
    }
  }

  /** Whoever made a repository must not make us read, or write, beyond it. */
  #checkPlace(): void {
    const { within } = this.#options;
    if (within === undefined) return;
    const [real, root] = [realPath(this.path), realPath(within)];
    if (real === root || real.startsWith(root + sep)) return;
    throw new TuttiError("invalid_template", `${this.path} is a link that leads out of the project, to ${real}`);
  }
}

function isSame(before: TemplateFile, now: Pick<TemplateFile, "raw" | "problems">): boolean {
  return JSON.stringify([before.raw, before.problems]) === JSON.stringify([now.raw, now.problems]);
}

/** Without links; of what does not exist, the nearest folder around it that does. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return realPath(parent);
  }
}
