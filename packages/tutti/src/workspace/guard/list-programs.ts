// `listPrograms` reads the settings that name filters and merge drivers, and those that include further files, from
// everywhere git may find them.
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

/** An include has its value in the key, because settings of one name can include several files. */
export const settingKey = (name: string, value: string): string => (INCLUDE.test(name) ? `${name}=${value}` : name);

/** The settings that count. The members mean the same as in `ProgramListing`. */
export interface KnownSettings {
  programs: ReadonlyMap<string, string>;
  elsewhere: ReadonlyMap<string, string>;
  includes: ReadonlySet<string>;
}

export interface ProgramListing {
  programs: Map<string, string>;
  /**
   * Programs that git does not use here: those of other worktrees, and of files whose `includeIf` does not match. A key is
   * the file and the name, separated by a null character; see `nameIn`.
   */
  elsewhere: Map<string, string>;
  /** The keys of settings in the user's own files, which apply to other repositories, too. */
  shared: Set<string>;
  /** Those of `shared` that no setting of this repository overrides. */
  inherited: Set<string>;
  /** The keys of all includes. */
  includes: Set<string>;
  /** Those of `includes` that git finds here, also if their condition does not hold. */
  includesHere: Map<string, GitSetting>;
  /** The settings that git would find without the includes that are not agreed to. */
  agreed: KnownSettings;
  /** The state of all files that can contribute settings, those that do not exist included. */
  signs: string;
  readSigns: () => Promise<string>;
}

/** `isAgreed` gets the key of an include. */
export async function listPrograms(
  repository: Repository,
  isAgreed: (include: string) => boolean = () => true,
): Promise<ProgramListing> {
  const { gitDir, commonDir } = repository;
  const reader = new SettingsReader(repository, isAgreed);
  await reader.readEffective([...new Set([commonDir, gitDir])]);
  const findOthers = async () => (reader.isPerWorktree ? worktreeFiles(commonDir) : []);
  await reader.readElsewhere(await findOthers());
  const files = new Set([...usualFiles(repository), ...reader.files]);
  const readSigns = async () => signsOf(new Set([...files, ...(await findOthers())]));
  const { programs, elsewhere, shared, inherited, includes, includesHere, agreed } = reader;
  const found = { programs, elsewhere, shared, inherited, includes, includesHere, agreed };
  return { ...found, signs: await readSigns(), readSigns };
}

/** Returns the name in a key of `elsewhere`. */
export const nameIn = (key: string): string => key.slice(key.indexOf("\0") + 1);

/** `isShared` is true for the user's own files, `isAgreed` for files that are found without includes to be agreed to. */
interface FileKind {
  isShared: boolean;
  isAgreed: boolean;
}

class SettingsReader {
  readonly programs = new Map<string, string>();
  readonly elsewhere = new Map<string, string>();
  readonly shared = new Set<string>();
  readonly inherited = new Set<string>();
  readonly includes = new Set<string>();
  readonly includesHere = new Map<string, GitSetting>();
  readonly agreed = {
    programs: new Map<string, string>(),
    elsewhere: new Map<string, string>(),
    includes: new Set<string>(),
  };
  readonly files = new Set<string>();
  isPerWorktree = false;
  readonly #repository: Repository;
  readonly #isAgreed: (include: string) => boolean;
  /** Included files that git did not read, perhaps because a condition does not hold. */
  #unread = new Map<string, FileKind>();

  constructor(repository: Repository, isAgreed: (include: string) => boolean) {
    this.#repository = { ...repository, settings: undefined };
    this.#isAgreed = isAgreed;
  }

  /** Each of `gitDirs` may have a `config.worktree`, which git reads for that one only. */
  async readEffective(gitDirs: readonly string[]): Promise<void> {
    const args = ["--show-scope", "--show-origin"];
    const listings = await Promise.all(gitDirs.map((gitDir) => this.#list(args, { gitDir })));
    for (const fields of listings) this.#noteEffective(fields);
  }

  #noteEffective(fields: readonly string[]): void {
    const order = new ReadingOrder();
    for (let i = 0; i + 2 < fields.length; i += 3) {
      const [scope, source, item] = fields.slice(i, i + 3) as [string, string, string];
      const [, origin] = /^file:(.*)$/s.exec(source) ?? [];
      if (origin === undefined) continue;
      const file = resolve(this.#repository.root, origin);
      this.files.add(file);
      const isShared = scope === "global" || scope === "system";
      const isAgreed = order.enter(scope, origin);
      const [name, value] = this.#note(file, item, { isShared, isAgreed });
      const setting = settingKey(name, value);
      if (INCLUDE.test(name)) {
        this.includesHere.set(setting, [name, value]);
        order.include(isAgreed && this.#isAgreed(setting));
      } else if (PROGRAM.test(name)) {
        this.programs.set(name, value);
        if (isAgreed) this.agreed.programs.set(name, value);
      }
      // Git prints the setting that counts last.
      if (isShared) this.inherited.add(setting);
      else this.inherited.delete(setting);
    }
  }

  /** Reads `files` and everything that any file includes under a condition. */
  async readElsewhere(files: readonly string[]): Promise<void> {
    for (const file of files) this.#unread.set(file, { isShared: false, isAgreed: true });
    for (let depth = 0; depth < MAX_DEPTH && this.#unread.size > 0; depth++) {
      const next = [...this.#unread].filter(([file]) => !this.files.has(file));
      this.#unread = new Map();
      for (const [file, kind] of next) await this.#readFile(file, kind);
    }
  }

  async #readFile(file: string, kind: FileKind): Promise<void> {
    this.files.add(file);
    if (!SECTION.test(readOrEmpty(file))) return;
    for (const item of await this.#list(["--file", file], { accept: [1, 128] })) {
      const [name, value] = this.#note(file, item, kind);
      if (!PROGRAM.test(name)) continue;
      this.elsewhere.set(`${file}\0${name}`, value);
      if (kind.isAgreed) this.agreed.elsewhere.set(`${file}\0${name}`, value);
    }
  }

  #note(file: string, item: string, kind: FileKind): GitSetting {
    const [name = ""] = item.split("\n", 1);
    // Git omits the `value` of a setting that is true.
    const value = name === item ? "true" : item.slice(name.length + 1);
    if (name === PER_WORKTREE) this.isPerWorktree = true;
    const setting = settingKey(name, value);
    if (kind.isShared) this.shared.add(setting);
    if (INCLUDE.test(name)) {
      const isAgreed = kind.isAgreed && this.#isAgreed(setting);
      this.includes.add(setting);
      if (isAgreed) this.agreed.includes.add(setting);
      const included = resolve(dirname(file), value.replace(/^~(?=\/)/, homedir()));
      const known = this.#unread.get(included) ?? { isShared: false, isAgreed: true };
      this.#unread.set(included, {
        isShared: kind.isShared || known.isShared,
        isAgreed: isAgreed && known.isAgreed,
      });
    }
    return [name, value];
  }

  async #list(args: readonly string[], options: { gitDir?: string; accept?: readonly number[] }): Promise<string[]> {
    const read = onRepository(this.#repository, "read settings", ["config", ...args, "--list", "-z"], options);
    return items((await read).stdout).map(text);
  }
}

/**
 * Git prints the settings of an included file right after the one that includes it. `ReadingOrder` follows that, because a
 * path in a setting does not tell which file git opens: it may contain links, or the name of a user.
 */
class ReadingOrder {
  #scope = "";
  /** The files that git is reading, each included by the one before it. */
  #open: { origin: string; isAgreed: boolean }[] = [];
  #included: boolean | null = null;

  /** Returns whether the file counts. */
  enter(scope: string, origin: string): boolean {
    const open = scope === this.#scope ? this.#open : [];
    const at = open.findIndex((file) => file.origin === origin);
    if (at >= 0) this.#open = open.slice(0, at + 1);
    else if (open.length > 0 && this.#included !== null) this.#open = [...open, { origin, isAgreed: this.#included }];
    else this.#open = [{ origin, isAgreed: true }];
    [this.#scope, this.#included] = [scope, null];
    return this.#open.at(-1)?.isAgreed === true;
  }

  /** The setting that was entered last includes a file, which counts if `isAgreed`. */
  include(isAgreed: boolean): void {
    this.#included = isAgreed;
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
