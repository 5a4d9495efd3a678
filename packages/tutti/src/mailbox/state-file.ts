// A `StateFile` is `queue.json`, `status.json` or `config.json`: one object each, shared with other programs. Unknown
// members are preserved. An empty file belongs to a project in which nothing has happened yet.
import { dirname } from "node:path";
import { isRecord } from "../protocol/json/json-value.ts";
import type { ProfileProblem, ProfileReading, ProfileOptions } from "../protocol/response/profile.ts";
import { readTolerantly } from "../protocol/json/tolerant-json.ts";
import { TuttiError } from "../schema/error.ts";
import { parseExactly } from "./exact-json.ts";
import type { MailboxFolder } from "./folder.ts";
import type { MailboxPaths } from "./layout.ts";
import { makeFolder } from "./replace-file.ts";
import { readSettled, rewrite, type Content, type FileProblem } from "./rewrite.ts";

interface StateReading<T> {
  file: string;
  value: T;
  /** Unusual values; unlike `damage`, each has the path of its member. */
  problems: ProfileProblem[];
  damage: FileProblem[];
}

interface StateContent extends Content {
  /** `undefined` if the file is empty or unreadable. */
  raw?: Record<string, unknown>;
  /** Like `raw`, but for writing, with all digits of long numbers (`parseExactly`). */
  exact?: Record<string, unknown>;
}

export class StateFile<T extends object> {
  readonly #folder: MailboxFolder;
  readonly #name: keyof MailboxPaths;
  readonly #read: (value: unknown, options: ProfileOptions) => ProfileReading<T>;

  constructor(
    folder: MailboxFolder,
    name: keyof MailboxPaths,
    read: (value: unknown, options: ProfileOptions) => ProfileReading<T>,
  ) {
    this.#folder = folder;
    this.#name = name;
    this.#read = read;
  }

  /** Needs no lock. An unreadable file counts as empty and is reported in `damage`. */
  async read(): Promise<StateReading<T>> {
    const file = this.#file();
    const { content } = await readSettled(file, this.#folder.world, readStateContent);
    const damage = content.problem === null ? [] : [{ file, sentence: content.problem }];
    return { file, ...this.#interpret(content.raw), damage };
  }

  /** `change` returns the members to set. All others are preserved. */
  async update(change: (value: T) => Partial<T>): Promise<StateReading<T>> {
    return this.#folder.locked(async () => {
      const file = this.#file();
      makeFolder(dirname(file));
      let after = this.#interpret(undefined);
      const damage = await rewrite(file, this.#folder.world, readStateContent, ({ raw, exact }) => {
        const { value } = this.#interpret(raw);
        const next = { ...(exact ?? value), ...change(value) };
        const text = `${JSON.stringify(next, null, 2)}\n`;
        after = this.#interpret(JSON.parse(text) as Record<string, unknown>);
        return text;
      });
      return { file, ...after, damage };
    });
  }

  #file(): string {
    return this.#folder.inside(this.#folder.paths()[this.#name]);
  }

  #interpret(raw: Record<string, unknown> | undefined): { value: T; problems: ProfileProblem[] } {
    const options = { profile: "lenient", receivedAt: this.#folder.now() } as const;
    const { message, problems } = this.#read(raw, options);
    if (message !== null) return { value: message, problems };
    const sentences = problems.filter(({ severity }) => severity === "error").map(({ sentence }) => sentence);
    throw new TuttiError(
      "invalid_input",
      `${this.#name}.json is not valid. Correct these problems: ${sentences.join(" ")}`,
      {
        details: problems,
      },
    );
  }
}

function readStateContent(text: string | null): StateContent {
  if (text === null) return { problem: "It is not text in UTF-8." };
  if (text.trim() === "") return { problem: null };
  const reading = readTolerantly(text);
  if (!reading.ok) return { problem: `It is not JSON. ${reading.reason}.` };
  if (reading.truncated || reading.guessed) return { problem: "It is truncated or its repair is ambiguous." };
  if (!isRecord(reading.value)) return { problem: "It contains a list instead of an object." };
  const problem = reading.repairs.length === 0 ? null : `It was read with repairs: ${reading.repairs.join(", ")}.`;
  return { raw: reading.value, exact: parseExactly(reading.text) as Record<string, unknown>, problem };
}
