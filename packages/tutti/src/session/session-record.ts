// What a keeper writes down of its session: what the agent told, what happened around it, each without its secrets; and
// what the agent writes itself, from which they are taken soon after.
import { appendFileSync, closeSync, fstatSync, openSync, writeSync } from "node:fs";
import type { AgentLine } from "./dialogue.ts";
import { createSecrets } from "./find-secrets.ts";
import { FileMask } from "./mask-file.ts";
import { maskValue } from "./mask.ts";
import { secretValues } from "./secrets.ts";
import { filesOfAgent, paths, type JournalEntry } from "./session-folder.ts";

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, "offset"> : never) : never;

export class SessionRecord {
  /** Where an agent without a protocol of its own writes to. */
  readonly output: number;
  readonly #journal: string;
  readonly #secrets = createSecrets(secretValues(process.env));
  readonly #masks: FileMask[];

  constructor(folder: string) {
    const at = paths(folder);
    this.output = openSync(at.output, "a", 0o600);
    this.#journal = at.journal;
    this.#masks = filesOfAgent(folder).map((file) => new FileMask(file, this.#secrets));
  }

  tell(line: AgentLine): void {
    writeSync(this.output, `${JSON.stringify(maskValue(this.#secrets, line))}\n`);
  }

  note(entry: Entry): void {
    const masked = maskValue(this.#secrets, { ...entry, offset: fstatSync(this.output).size });
    appendFileSync(this.#journal, `${JSON.stringify(masked)}\n`, { mode: 0o600 });
  }

  /** Overwrites the secrets in what the agent has written by now. */
  mask(): void {
    for (const mask of this.#masks) mask.look();
  }

  /** The agent writes no more. */
  finish(): void {
    for (const mask of this.#masks) mask.finish();
    closeSync(this.output);
  }
}
