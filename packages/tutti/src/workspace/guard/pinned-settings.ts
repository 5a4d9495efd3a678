// `PinnedSettings` pins the settings that name filters and merge drivers. A project may need them (LFS, line endings),
// and git starts them during Tutti's own commands. Agents share the repository's configuration and could add one, so
// only the settings from the start of the run count. Settings for other programs are overridden in git.ts.
import { readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { syncFolder, writeDurably } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import type { GitSetting } from "../git.ts";
import type { Repository } from "../repository.ts";
import type { RunPaths } from "../workspace-paths.ts";
import type { EarlierValues } from "./changed-programs.ts";
import { listPrograms, nameIn, PROGRAM, type KnownSettings, type ProgramListing } from "./list-programs.ts";

/** `TEXT_MERGE` merges like git does if an attribute names a driver without settings. */
const TEXT_MERGE = "git merge-file --quiet --marker-size=%L %A %O %B";

const Stored = z.object({
  programs: z.array(z.tuple([z.string(), z.string()])),
  /** Missing in the files of earlier versions. */
  elsewhere: z.array(z.tuple([z.string(), z.string()])).optional(),
  includes: z.array(z.string()),
});

/** The keys of `pinned` are repository and run. */
const pinned = new Map<string, Promise<PinnedSettings>>();

/**
 * Returns `repository` with the settings of the run, which are read at the first call and kept until `unpin`. The values of
 * `earlier` replace the current ones.
 */
export async function withPinned(
  repository: Repository,
  run: RunPaths,
  earlier: () => EarlierValues = () => new Map(),
): Promise<Repository> {
  const key = keyOf(repository, run);
  let settings = pinned.get(key);
  if (!settings) {
    settings = PinnedSettings.open(repository, fileOf(run), earlier);
    pinned.set(key, settings);
    // A failed `open` is not cached, so the next call tries again.
    settings.catch(() => pinned.delete(key));
  }
  const opened = await settings;
  return { ...repository, settings: () => opened.overrides() };
}

/** Call `storePinned` before an agent starts, so that an engine which continues the run uses the same settings. */
export async function storePinned(repository: Repository, run: RunPaths): Promise<void> {
  await (await pinned.get(keyOf(repository, run)))?.store(fileOf(run));
}

/**
 * Returns the programs that have changed since an agent could start in `run`, with earlier values, and the includes that
 * were added. `shared` are those of files outside the repository.
 */
export async function changedSincePin(
  repository: Repository,
  run: RunPaths,
): Promise<{ changed: EarlierValues; shared: EarlierValues }> {
  const settings = await pinned.get(keyOf(repository, run))?.catch(() => null);
  return settings?.isStored ? settings.changed() : { changed: new Map(), shared: new Map() };
}

/** Like `changedSincePin`, for all open runs. Of other repositories, only shared files count. */
export async function changedByOpenRuns(repository: Repository): Promise<EarlierValues> {
  const changes = [...pinned].map(async ([key, opening]) => {
    const settings = await opening.catch(() => null);
    if (!settings?.isStored) return [];
    if (key.startsWith(keyStart(repository))) return [...(await settings.changed()).changed];
    // Another repository may be damaged, or gone with its disk.
    const changes = await settings.changed().catch(() => null);
    return [...(changes?.shared ?? [])];
  });
  return new Map((await Promise.all(changes)).flat());
}

/** Returns the current values of programs that differ from those in `earlier`, and the includes that were added. */
export async function differingPrograms(repository: Repository, earlier: EarlierValues): Promise<GitSetting[]> {
  if (earlier.size === 0) return [];
  const listing = await listAgreed(repository, earlier);
  const programs = [...listing.programs].filter(([name, value]) => value !== listing.agreed.programs.get(name));
  const includes = [...listing.includesHere].filter(([include]) => earlier.get(include) === null);
  return [...programs, ...includes.map(([, setting]) => setting)];
}

/** The programs in `agreed` have the values of `earlier`. */
async function listAgreed(repository: Repository, earlier: EarlierValues): Promise<ProgramListing> {
  const listing = await listPrograms(repository, (include) => earlier.get(include) !== null);
  const programs = new Map(listing.agreed.programs);
  for (const [name, value] of earlier) {
    if (value === null) programs.delete(name);
    else if (PROGRAM.test(name)) programs.set(name, value);
  }
  return { ...listing, agreed: { ...listing.agreed, programs } };
}

/** Returns `repository` with the values of `earlier` instead of the current ones. */
export async function withEarlier(repository: Repository, earlier: EarlierValues): Promise<Repository> {
  if (earlier.size === 0) return repository;
  const settings = await PinnedSettings.from(repository, earlier);
  return { ...repository, settings: () => settings.overrides() };
}

export function unpin(repository: Repository, run: RunPaths): void {
  pinned.delete(keyOf(repository, run));
}

const keyStart = ({ commonDir }: Repository): string => `${commonDir}\0`;
const keyOf = (repository: Repository, { runFolder }: RunPaths): string => `${keyStart(repository)}${runFolder}`;
const fileOf = ({ runFolder }: RunPaths): string => join(runFolder, "settings.json");

interface ProgramChanges {
  changed: EarlierValues;
  shared: EarlierValues;
}

class PinnedSettings {
  readonly #programs: ReadonlyMap<string, string>;
  readonly #elsewhere: ReadonlyMap<string, string>;
  readonly #includes: ReadonlySet<string>;
  /** A run in a linked worktree of the user also uses the settings of that worktree. */
  readonly #repository: Repository;
  isStored: boolean;
  /** `#cached` is valid while `readSigns` returns `signs`. */
  #cached: (Pick<ProgramListing, "signs" | "readSigns"> & { changes: ProgramChanges }) | null = null;

  private constructor(repository: Repository, { programs, elsewhere, includes }: KnownSettings, isStored: boolean) {
    this.#repository = repository;
    this.#programs = programs;
    this.#elsewhere = elsewhere;
    this.#includes = includes;
    this.isStored = isStored;
  }

  static async from(repository: Repository, earlier: EarlierValues): Promise<PinnedSettings> {
    const listing = await listAgreed(repository, earlier);
    const settings = new PinnedSettings(repository, listing.agreed, false);
    settings.#compare(listing);
    return settings;
  }

  static async open(repository: Repository, file: string, earlier: () => EarlierValues): Promise<PinnedSettings> {
    const stored = await readFile(file, "utf8").catch(() => null);
    if (stored === null) return PinnedSettings.from(repository, earlier());
    const { success, data } = Stored.safeParse(readJson(stored));
    if (!success) throw damaged(file);
    const { programs, elsewhere = (await listPrograms(repository)).elsewhere, includes } = data;
    const known = { programs: new Map(programs), elsewhere: new Map(elsewhere), includes: new Set(includes) };
    return new PinnedSettings(repository, known, true);
  }

  async store(file: string): Promise<void> {
    if (this.isStored) return;
    const [programs, elsewhere, includes] = [[...this.#programs], [...this.#elsewhere], [...this.#includes]];
    const content = JSON.stringify({ programs, elsewhere, includes });
    const beside = `${file}.new`;
    await rm(beside, { force: true });
    writeDurably(beside, content, 0o600);
    await rename(beside, file);
    syncFolder(dirname(file));
    this.isStored = true;
  }

  /**
   * Git reads the configuration for each command, so `overrides` compares it each time, usually by the files' times.
   */
  async overrides(): Promise<readonly GitSetting[]> {
    const { changed } = await this.changed();
    const added = [...changed].flatMap(([name, value]) => (value === null && PROGRAM.test(name) ? [name] : []));
    return [...this.#programs, ...added.flatMap((name) => this.#disable(name))];
  }

  /** Returns the programs that were added or changed, with the pinned values, and the includes that were added. */
  async changed(): Promise<ProgramChanges> {
    const cached = this.#cached;
    if (cached && (await cached.readSigns()) === cached.signs) return cached.changes;
    return this.#compare(await listPrograms(this.#repository));
  }

  #compare({ programs, elsewhere, shared, includes, signs, readSigns }: ProgramListing): ProgramChanges {
    // A program of another worktree could run there in a later run.
    const others = [...elsewhere].filter(([key, value]) => value !== this.#elsewhere.get(key));
    const found = [...others.map(([key, value]) => [nameIn(key), value] as const), ...programs];
    const names = found.filter(([name, value]) => value !== this.#programs.get(name)).map(([name]) => name);
    const added = [...includes].filter((include) => !this.#includes.has(include));
    const changed = new Map([...names, ...added].map((name) => [name, this.#programs.get(name) ?? null]));
    const changes = { changed, shared: new Map([...changed].filter(([name]) => shared.has(name))) };
    // The condition of an added `includeIf` can change without a change of any file, so the result is not cached.
    this.#cached = added.length === 0 ? { signs, readSigns, changes } : null;
    return changes;
  }

  /** Returns settings that make the added `setting` have no effect. Git has no way to unset one. */
  #disable(setting: string): GitSetting[] {
    const { name = "", part } = PROGRAM.exec(setting)?.groups ?? {};
    switch (part) {
      case "driver":
        return [[setting, TEXT_MERGE]];
      case "recursive":
        return [[setting, name]];
      case "required":
        return [[setting, "false"]];
      case "process":
        if (this.#programs.has(`filter.${name}.clean`) || this.#programs.has(`filter.${name}.smudge`))
          throw hidden(setting);
        return [[setting, ""]];
      default:
        return [[setting, ""]];
    }
  }
}

function readJson(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return null;
  }
}

/** Falling back to the current settings would accept those that an agent has added, so `damaged` is an error. */
function damaged(file: string): TuttiError {
  const advice = 'Check the filters and merge drivers in "git config --list", then delete that file to accept them.';
  return new TuttiError("workspace_failed", `The settings of the run in "${file}" are damaged. ${advice}`);
}

/** An empty `process` would hide the `clean` and `smudge` of the same filter, which the project needs. */
function hidden(setting: string): TuttiError {
  const advice = `Remove it with "git config --unset-all ${setting}", then retry.`;
  return new TuttiError("git_failed", `The setting "${setting}" was added to the repository during the run. ${advice}`);
}
