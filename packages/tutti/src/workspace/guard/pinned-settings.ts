// `PinnedSettings` pins the settings that name filters and merge drivers. A project may need them (LFS, line endings),
// and git starts them during Tutti's own commands. Agents share the repository's configuration and could add one, so
// only the settings from the start of the run count. Settings for other programs are overridden in git.ts.
import { readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { syncFolder, writeDurably } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { items, text, type GitSetting } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";
import type { RunPaths } from "../workspace-paths.ts";
import type { EarlierValues } from "./changed-programs.ts";

/** Git keeps the case of `name` and prints the other parts in lower case. */
const PROGRAM = /^(?:filter|merge)\.(?<name>.+)\.(?<part>clean|smudge|process|required|driver|recursive)$/s;
const INCLUDE = /^include(?:if\..+)?\.path$/s;

/** `TEXT_MERGE` merges like git does if an attribute names a driver without settings. */
const TEXT_MERGE = "git merge-file --quiet --marker-size=%L %A %O %B";

const Stored = z.object({ programs: z.array(z.tuple([z.string(), z.string()])), includes: z.array(z.string()) });

interface Listing {
  programs: Map<string, string>;
  includes: Set<string>;
  /** `files` contains also those that do not exist but would contribute settings. */
  files: string[];
  signs: string;
}

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
  return { ...repository, settings: () => opened.overrides(repository) };
}

/** Call `storePinned` before an agent starts, so that an engine which continues the run uses the same settings. */
export async function storePinned(repository: Repository, run: RunPaths): Promise<void> {
  await (await pinned.get(keyOf(repository, run)))?.store(fileOf(run));
}

/** Returns the programs that have changed since an agent could start in `run`, or in any open run, with earlier values. */
export async function changedSincePin(repository: Repository, run?: RunPaths): Promise<EarlierValues> {
  const keys = run
    ? [keyOf(repository, run)]
    : [...pinned.keys()].filter((key) => key.startsWith(keyStart(repository)));
  const opened = await Promise.all(keys.map(async (key) => pinned.get(key)?.catch(() => null)));
  const stored = opened.flatMap((settings) => (settings?.isStored ? [settings] : []));
  const changed = await Promise.all(stored.map((settings) => settings.changed(repository)));
  return new Map(changed.flatMap((each) => [...each]));
}

/** Returns the current values of programs that differ from those in `earlier`. */
export async function differingPrograms(repository: Repository, earlier: EarlierValues): Promise<GitSetting[]> {
  if (earlier.size === 0) return [];
  const { programs } = await list(repository);
  return [...earlier].flatMap(([name, value]) => {
    const current = programs.get(name);
    return current === undefined || current === value ? [] : [[name, current] as const];
  });
}

/** Returns `repository` with the values of `earlier` instead of the current ones. */
export async function withEarlier(repository: Repository, earlier: EarlierValues): Promise<Repository> {
  if (earlier.size === 0) return repository;
  const settings = await PinnedSettings.from(repository, earlier);
  return { ...repository, settings: () => settings.overrides(repository) };
}

export function unpin(repository: Repository, run: RunPaths): void {
  pinned.delete(keyOf(repository, run));
}

const keyStart = ({ commonDir }: Repository): string => `${commonDir}\0`;
const keyOf = (repository: Repository, { runFolder }: RunPaths): string => `${keyStart(repository)}${runFolder}`;
const fileOf = ({ runFolder }: RunPaths): string => join(runFolder, "settings.json");

class PinnedSettings {
  readonly #programs: ReadonlyMap<string, string>;
  readonly #includes: ReadonlySet<string>;
  /** A run in a linked worktree of the user also uses the settings of that worktree. */
  readonly #gitDir: string;
  isStored: boolean;
  /** `#cached` is valid while `signsOf` its `files` returns its `signs`. */
  #cached: { files: string[]; signs: string; changed: EarlierValues } | null = null;

  private constructor(
    { gitDir }: Repository,
    { programs, includes }: Pick<Listing, "programs" | "includes">,
    isStored: boolean,
  ) {
    this.#gitDir = gitDir;
    this.#programs = programs;
    this.#includes = includes;
    this.isStored = isStored;
  }

  static async from(repository: Repository, earlier: EarlierValues): Promise<PinnedSettings> {
    const listing = await list(repository);
    const programs = new Map(listing.programs);
    for (const [name, value] of earlier) {
      if (value === null) programs.delete(name);
      else programs.set(name, value);
    }
    const settings = new PinnedSettings(repository, { ...listing, programs }, false);
    settings.#compare(listing);
    return settings;
  }

  static async open(repository: Repository, file: string, earlier: () => EarlierValues): Promise<PinnedSettings> {
    const stored = await readFile(file, "utf8").catch(() => null);
    if (stored === null) return PinnedSettings.from(repository, earlier());
    const { success, data } = Stored.safeParse(readJson(stored));
    if (!success) throw damaged(file);
    const { programs, includes } = data;
    return new PinnedSettings(repository, { programs: new Map(programs), includes: new Set(includes) }, true);
  }

  async store(file: string): Promise<void> {
    if (this.isStored) return;
    const content = JSON.stringify({ programs: [...this.#programs], includes: [...this.#includes] });
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
  async overrides(repository: Repository): Promise<readonly GitSetting[]> {
    const added = [...(await this.changed(repository))].flatMap(([name, value]) => (value === null ? [name] : []));
    return [...this.#programs, ...added.flatMap((name) => this.#disable(name))];
  }

  /** Returns the programs that were added or changed, with the pinned values. */
  async changed(repository: Repository): Promise<EarlierValues> {
    const cached = this.#cached;
    if (cached && (await signsOf(cached.files)) === cached.signs) return cached.changed;
    return this.#compare(await list({ ...repository, gitDir: this.#gitDir }));
  }

  #compare({ programs, includes, files, signs }: Listing): EarlierValues {
    const differing = [...programs].filter(([name, value]) => value !== this.#programs.get(name));
    const changed = new Map(differing.map(([name]) => [name, this.#programs.get(name) ?? null]));
    // The condition of an added `includeIf` can change without a change of any file, so the result is not cached.
    const isStable = [...includes].every((name) => this.#includes.has(name));
    this.#cached = isStable ? { files, signs, changed } : null;
    return changed;
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

async function list(repository: Repository): Promise<Listing> {
  const plain: Repository = { ...repository, settings: undefined };
  const read = async (gitDir: string): Promise<string[]> => {
    const args = ["config", "--list", "--show-origin", "-z"];
    return items((await onRepository(plain, "read settings", args, { gitDir })).stdout).map(text);
  };
  const { gitDir, commonDir } = repository;
  const programs = new Map<string, string>();
  const includes = new Set<string>();
  const files = new Set(usualFiles(repository));
  // Each of them may have a `config.worktree`, which git reads for that one only.
  const fields = (await Promise.all([...new Set([commonDir, gitDir])].map(read))).flat();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, origin] = /^file:(.*)$/s.exec(fields[i]!) ?? [];
    if (origin === undefined) continue;
    const file = resolve(repository.root, origin);
    files.add(file);
    const [name = ""] = fields[i + 1]!.split("\n", 1);
    // Git omits the `value` of a setting that is true.
    const value = name === fields[i + 1] ? "true" : fields[i + 1]!.slice(name.length + 1);
    if (PROGRAM.test(name)) programs.set(name, value);
    if (!INCLUDE.test(name)) continue;
    includes.add(`${name}=${value}`);
    files.add(resolve(dirname(file), value.replace(/^~(?=\/)/, homedir())));
  }
  return { programs, includes, files: [...files], signs: await signsOf([...files]) };
}

function usualFiles({ gitDir, commonDir }: Repository): string[] {
  const shared = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const global = [join(homedir(), ".gitconfig"), join(shared, "git", "config"), "/etc/gitconfig"];
  const ofWorktrees = [commonDir, gitDir].map((folder) => join(folder, "config.worktree"));
  return [join(commonDir, "config"), ...ofWorktrees, ...global];
}

/** Includes `ctimeNs`, which no program can set. */
async function signsOf(files: readonly string[]): Promise<string> {
  const signs = files.map(async (file) => {
    const found = await stat(file, { bigint: true }).catch(() => null);
    return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : "-";
  });
  return (await Promise.all(signs)).join(" ");
}
