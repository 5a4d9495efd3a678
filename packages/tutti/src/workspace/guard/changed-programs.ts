// `ChangedPrograms` remembers filters and merge drivers that appeared or changed while a run was open: an agent may have
// written them. Runs keep using the earlier values, until the user agrees to the new ones when creating a run. It also
// remembers added includes, because the included file may get its programs later.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replaceDurably } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import type { GitSetting } from "../git.ts";
import type { Repository } from "../repository.ts";
import { settingKey } from "./list-programs.ts";

/** Maps the `settingKey` of a setting to its earlier value, or to null if there was none. */
export type EarlierValues = ReadonlyMap<string, string | null>;

/** The key of settings in files outside every repository. The other keys are absolute paths of `commonDir`. */
const EVERYWHERE = "*";

const Stored = z.record(z.string(), z.record(z.string(), z.string().nullable()));

export class ChangedPrograms {
  readonly #file: string;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, "changed-programs.json");
  }

  of({ commonDir }: Repository): EarlierValues {
    const stored = this.#read();
    return new Map(Object.entries({ ...stored[EVERYWHERE], ...stored[commonDir] }));
  }

  /** A value that is known already is older than the one in `changed`. `shared` counts in every repository. */
  add({ commonDir }: Repository, { changed, shared }: { changed: EarlierValues; shared: EarlierValues }): void {
    this.#add(commonDir, changed);
    this.#add(EVERYWHERE, shared);
  }

  #add(key: string, changed: EarlierValues): void {
    const stored = this.#read();
    const known = new Map(Object.entries(stored[key] ?? {}));
    if ([...changed.keys()].every((name) => known.has(name))) return;
    this.#write({ ...stored, [key]: Object.fromEntries([...changed, ...known]) });
  }

  /**
   * Call `accept` when the user has agreed to the current values of the settings `agreed`. Others may be in use in another
   * worktree. Only the `inherited` ones are those of all repositories: a value that overrides a changed one is stored as
   * the earlier value of this repository.
   */
  accept({ commonDir }: Repository, agreed: readonly GitSetting[], inherited: ReadonlySet<string>): void {
    const stored = this.#read();
    const everywhere = { ...stored[EVERYWHERE] };
    const here = { ...stored[commonDir] };
    for (const [name, value] of agreed) {
      const setting = settingKey(name, value);
      delete here[setting];
      if (inherited.has(setting)) delete everywhere[setting];
      else if (Object.hasOwn(everywhere, setting)) here[setting] = value;
    }
    const left = Object.entries({ ...stored, [EVERYWHERE]: everywhere, [commonDir]: here });
    this.#write(Object.fromEntries(left.filter(([, values]) => Object.keys(values).length > 0)));
  }

  #write(content: z.infer<typeof Stored>): void {
    replaceDurably(this.#file, JSON.stringify(content), 0o600);
  }

  /** Without a readable file, `#read` cannot know which settings to distrust, so it throws. */
  #read(): z.infer<typeof Stored> {
    try {
      return Stored.parse(JSON.parse(readFileSync(this.#file, "utf8")));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      const advice =
        'Check the filters and merge drivers in "git config --list", then delete that file to accept them.';
      throw new TuttiError(
        "storage_failed",
        `The list of changed git settings in "${this.#file}" cannot be read. ${advice}`,
        { cause: error },
      );
    }
  }
}
