// What a keeper writes down of its session: what the agent told, what happened around it, each without its secrets; and
// what the agent writes itself, from which they are taken soon after.
import { appendFileSync, closeSync, fstatSync, openSync, rmSync, writeSync } from "node:fs";
import type { AgentLine } from "./dialogue.ts";
import { createSecrets } from "./find-secrets.ts";
import { forgetParts } from "./forget-parts.ts";
import { FileMask } from "./mask-file.ts";
import { MaskStream, maskValue } from "./mask.ts";
import { secretValues } from "./secrets.ts";
import { filesOfAgent, paths, type JournalEntry } from "./session-folder.ts";

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, "offset"> : never) : never;

export class SessionRecord {
  /** Where an agent without a protocol of its own writes to. */
  readonly output: number;
  readonly #journal: string;
  readonly #secrets = createSecrets(secretValues(process.env));
  readonly #masks: FileMask[];
  readonly #folder: string;
  readonly #raw: string;
  /** What is said in parts: a secret may be cut between two of them, so what may begin one waits for the next. */
  #parts: MaskStream | null = null;

  constructor(folder: string) {
    const at = paths(folder);
    this.#folder = folder;
    this.#raw = at.raw;
    this.output = openSync(at.output, "a", 0o600);
    this.#journal = at.journal;
    this.#masks = filesOfAgent(folder).map((file) => new FileMask(file, this.#secrets));
  }

  tell(line: AgentLine): void {
    if (line.type !== "assistant" || line.partial !== true) {
      this.#endParts();
      return this.#write(line);
    }
    this.#parts ??= new MaskStream(this.#secrets);
    this.#tellPart(this.#parts.push(Buffer.from(line.text)));
  }

  #endParts(): void {
    if (this.#parts) this.#tellPart(this.#parts.end());
    this.#parts = null;
  }

  #tellPart(bytes: Buffer): void {
    if (bytes.length > 0) this.#write({ type: "assistant", text: bytes.toString("utf8"), partial: true });
  }

  #write(line: AgentLine): void {
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

  /**
   * The agent writes no more. What it said in a protocol of its own was heard and is told in the output, and nobody reads
   * it again; but there a secret may be cut over many messages of any shape, where no mask finds it. So it is not kept.
   */
  finish(): void {
    this.#endParts();
    rmSync(this.#raw, { force: true });
    forgetParts(this.#folder);
    for (const mask of this.#masks) mask.finish();
    closeSync(this.output);
  }
}
