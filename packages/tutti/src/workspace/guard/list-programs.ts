// `listPrograms` reads the settings that name filters and merge drivers, from everywhere git may find them.
import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readForeignFile } from "../../foreign-file.ts";
import { items, text, type GitSetting } from "../git.ts";
import { onRepository, type Repository } from "../repository.ts";

/** Git keeps the case of `name` and prints the other parts in lower case. */
export const PROGRAM = /^(?:filter|merge)\.(?<name>.+)\.(?<part>clean|smudge|process|required|driver|recursive)$/s;
const INCLUDE = /^include(?:if\..+)?\.path$/s;
/** With this setting git reads the `config.worktree` of each worktree. */
const PER_WORKTREE = "extensions.worktreeconfig";
/** A file without such a section needs no process that reads it. */
const SECTION = /\[\s*(?:filter|merge|include)/i;
/** Git follows includes up to `MAX_DEPTH`, too. */
const MAX_DEPTH = 10;

export interface ProgramListing {
  programs: Map<string, string>;
  /**
   * The programs of other worktrees, and of included files whose condition does not hold. The keys are file and name,
   * separated by a null character.
   */
  elsewhere: Map<string, string>;
  /** The names of programs in the user's own files, which apply to other repositories, too. */
  shared: Set<string>;
  includes: Set<string>;
  /** The state of all files that can contribute settings, those that do not exist included. */
  signs: string;
  readSigns: () => Promise<string>;
}

export async function listPrograms(repository: Repository): Promise<ProgramListing> {
  const { gitDir, commonDir } = repository;
  const reader = new SettingsReader(repository);
  await reader.readEffective([...new Set([commonDir, gitDir])]);
  const findOthers = async () => (reader.isPerWorktree ? worktreeFiles(commonDir) : []);
  await reader.readElsewhere(await findOthers());
  const files = new Set([...usualFiles(repository), ...reader.files]);
  const readSigns = async () => signsOf(new Set([...files, ...(await findOthers())]));
  const { programs, elsewhere, shared, includes } = reader;
  return { programs, elsewhere, shared, includes, signs: await readSigns(), readSigns };
}

/** Returns the name in a key of `elsewhere`. */
export const nameIn = (key: string): string => key.slice(key.indexOf("\0") + 1);

class SettingsReader {
  readonly programs = new Map<string, string>();
  readonly elsewhere = new Map<string, string>();
  readonly shared = new Set<string>();
  readonly includes = new Set<string>();
  readonly files = new Set<string>();
  isPerWorktree = false;
  readonly #repository: Repository;
  /** Included files that git did not read, perhaps because a condition does not hold. The value is true for `shared`. */
  #unread = new Map<string, boolean>();

  constructor(repository: Repository) {
    this.#repository = { ...repository, settings: undefined };
  }

  /** Each of `gitDirs` may have a `config.worktree`, which git reads for that one only. */
  async readEffective(gitDirs: readonly string[]): Promise<void> {
    const args = ["--show-scope", "--show-origin"];
    const fields = (await Promise.all(gitDirs.map((gitDir) => this.#list(args, { gitDir })))).flat();
    for (let i = 0; i + 2 < fields.length; i += 3) {
      const [scope, source, item] = fields.slice(i, i + 3) as [string, string, string];
      const [, origin] = /^file:(.*)$/s.exec(source) ?? [];
      if (origin === undefined) continue;
      const file = resolve(this.#repository.root, origin);
      this.files.add(file);
      const [name, value] = this.#note(file, item, scope === "global" || scope === "system");
      if (PROGRAM.test(name)) this.programs.set(name, value);
    }
  }

  /** Reads `files` and everything that any file includes under a condition. */
  async readElsewhere(files: readonly string[]): Promise<void> {
    for (const file of files) this.#unread.set(file, false);
    for (let depth = 0; depth < MAX_DEPTH && this.#unread.size > 0; depth++) {
      const next = [...this.#unread].filter(([file]) => !this.files.has(file));
      this.#unread = new Map();
      for (const [file, isShared] of next) await this.#readFile(file, isShared);
    }
  }

  async #readFile(file: string, isShared: boolean): Promise<void> {
    this.files.add(file);
    if (!SECTION.test(readOrEmpty(file))) return;
    for (const item of await this.#list(["--file", file], { accept: [1, 128] })) {
      const [name, value] = this.#note(file, item, isShared);
      if (PROGRAM.test(name)) this.elsewhere.set(`${file}\0${name}`, value);
    }
  }

  #note(file: string, item: string, isShared: boolean): GitSetting {
    const [name = ""] = item.split("\n", 1);
    // Git omits the `value` of a setting that is true.
    const value = name === item ? "true" : item.slice(name.length + 1);
    if (name === PER_WORKTREE) this.isPerWorktree = true;
    if (PROGRAM.test(name) && isShared) this.shared.add(name);
    if (INCLUDE.test(name)) {
      this.includes.add(`${name}=${value}`);
      const included = resolve(dirname(file), value.replace(/^~(?=\/)/, homedir()));
      this.#unread.set(included, isShared || this.#unread.get(included) === true);
    }
    return [name, value];
  }

  async #list(args: readonly string[], options: { gitDir?: string; accept?: readonly number[] }): Promise<string[]> {
    const read = onRepository(this.#repository, "read settings", ["config", ...args, "--list", "-z"], options);
    return items((await read).stdout).map(text);
  }
}

/** An agent may have put a pipe or an endless device there. */
function readOrEmpty(file: string): string {
  try {
    return readForeignFile(file);
  } catch {
    return "";
  }
}

/** Returns the files with the settings of single worktrees that exist. */
async function worktreeFiles(commonDir: string): Promise<string[]> {
  const folder = join(commonDir, "worktrees");
  const entries = await readdir(folder).catch(() => []);
  const files = entries.map((entry) => join(folder, entry, "config.worktree")).sort();
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, i) => found[i] !== null);
}

function usualFiles({ gitDir, commonDir }: Repository): string[] {
  const shared = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const global = [join(homedir(), ".gitconfig"), join(shared, "git", "config"), "/etc/gitconfig"];
  const ofWorktrees = [commonDir, gitDir].map((folder) => join(folder, "config.worktree"));
  return [join(commonDir, "config"), ...ofWorktrees, ...global];
}

/** Includes `ctimeNs`, which no program can set. */
async function signsOf(files: ReadonlySet<string>): Promise<string> {
  const signs = [...files].map(async (file) => {
    const found = await stat(file, { bigint: true }).catch(() => null);
    return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : "-";
  });
  return (await Promise.all(signs)).join(" ");
}
