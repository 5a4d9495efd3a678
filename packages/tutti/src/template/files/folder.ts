// A folder of template files that is checked for changes on every use.
//
// 1. There is no file watcher. `refresh` compares the list of files and the stamp of each file, and reads those that
//    differ.
// 2. An invalid version does not replace a valid one. Its errors are reported instead.
import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { readTemplateFile, stampOf } from "./read-file.ts";
import type { RawTemplate } from "../raw-template.ts";
import { TuttiError } from "../../schema/error.ts";
import { realWorld } from "../../world.ts";

export interface TemplateFile {
  readonly name: string;
  readonly path: string;
  /** The latest valid version, or null if there was none since the first `refresh`. */
  readonly raw: RawTemplate | null;
  /** `problems` of the version on disk; empty if `raw` is that version. */
  readonly problems: readonly string[];
}

interface KnownFile extends TemplateFile {
  stamp: string;
  /** `young` means that the file changed so recently that another change could have the same `stamp`. */
  young: boolean;
}

/** `YOUNG_MS` is longer than the resolution of file system timestamps. */
const YOUNG_MS = 2000;

interface FolderOptions {
  /** The folder must be inside `within` after all links are resolved. */
  within?: string;
  except?: readonly string[];
  /** The folder is part of the package. The tests check its files, so a process does not check them again. */
  isOwn?: boolean;
}

export class TemplateFolder {
  readonly path: string;
  readonly #options: FolderOptions;
  readonly #known = new Map<string, KnownFile>();

  constructor(path: string, options: FolderOptions = {}) {
    this.path = path;
    this.#options = options;
  }

  get isOwn(): boolean {
    return this.#options.isOwn ?? false;
  }

  get files(): TemplateFile[] {
    return [...this.#known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Reads the disk and returns whether anything changed. */
  refresh(): boolean {
    const names = this.#names();
    let changed = false;
    for (const name of this.#known.keys()) {
      if (!names.includes(name)) changed = this.#known.delete(name);
    }
    for (const name of names) changed = this.#refreshFile(name) || changed;
    return changed;
  }

  #refreshFile(name: string): boolean {
    const path = join(this.path, name);
    const previous = this.#known.get(name);
    const stat = stampOf(path);
    // The file was removed after `#names` listed it.
    if (!stat) return this.#known.delete(name);
    if (previous && previous.stamp === stat.stamp && !previous.young) return false;
    // File times come from the real clock, so compare them with `realWorld`.
    const young = realWorld.now() - stat.changedMs < YOUNG_MS;
    const check = readTemplateFile(path, this.isOwn);
    const [raw, problems] = "raw" in check ? [check.raw, []] : [previous?.raw ?? null, check.errors];
    this.#known.set(name, { name, path, raw, problems, stamp: stat.stamp, young });
    return !previous || !isSame(previous, { raw, problems });
  }

  #names(): string[] {
    this.#checkLocation();
    try {
      const names = readdirSync(this.path);
      return names.filter((name) => /^[^.].*\.json$/.test(name) && !this.#options.except?.includes(name));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return [];
      throw new TuttiError(
        "storage_failed",
        `The templates in ${this.path} cannot be listed: ${message}. Check the folder.`,
        {
          cause: error,
        },
      );
    }
  }

  /** A repository must not make Tutti read or write outside of it. */
  #checkLocation(): void {
    const { within } = this.#options;
    if (within === undefined) return;
    const [real, root] = [realPath(this.path), realPath(within)];
    if (real === root || real.startsWith(root + sep)) return;
    throw new TuttiError(
      "invalid_template",
      `${this.path} is a link to ${real}, which is outside the project. Remove the link.`,
    );
  }
}

function isSame(before: TemplateFile, now: Pick<TemplateFile, "raw" | "problems">): boolean {
  return JSON.stringify([before.raw, before.problems]) === JSON.stringify([now.raw, now.problems]);
}

/** For a missing path, `realPath` returns the nearest existing folder above it. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return realPath(parent);
  }
}
