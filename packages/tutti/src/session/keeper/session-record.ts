// Writes the keeper's records of a session, masked: the lines of a dialogue to `output.log`, observations to
// `journal.jsonl`. Also masks the files that the agent writes itself.
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import type { AgentLine } from "../dialogue.ts";
import type { Secrets } from "../secrets/find-secrets.ts";
import { forgetParts } from "../transcript/forget-parts.ts";
import { FileMask, maskAgentFolders, maskRequests } from "../secrets/mask-file.ts";
import { MaskStream, maskValue } from "../secrets/mask.ts";
import { trimErrors, trimOutput } from "./output-limit.ts";
import { filesOfAgent, paths, type JournalEntry } from "./session-folder.ts";
import { runInSlices } from "../time-slice.ts";
import { removeFile } from "../../durable-file.ts";

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, "offset" | "at"> : never) : never;

export class SessionRecord {
  /** The file descriptor of `output.log`. An agent without a dialogue has it as its stdout. */
  readonly output: number;
  /** The file descriptor of `journal.jsonl`, which exists from the first entry on. */
  #journal: number | null = null;
  readonly #secrets: Secrets;
  readonly #masks: Map<string, FileMask>;
  #masking: Promise<void> | null = null;
  readonly #folder: string;
  readonly #raw: string;
  /** A secret may be split between two partial messages, so the `MaskStream` holds back bytes that may begin one. */
  #parts: MaskStream | null = null;

  readonly #maxOutputBytes: number;

  constructor(folder: string, secrets: Secrets, maxOutputBytes: number) {
    const at = paths(folder);
    this.#maxOutputBytes = maxOutputBytes;
    this.#folder = folder;
    this.#secrets = secrets;
    this.#raw = at.raw;
    this.output = openAppending(at.output);
    this.#masks = new Map(filesOfAgent(folder).map((file) => [file, new FileMask(file, this.#secrets)]));
  }

  emit(line: AgentLine): void {
    if (line.type !== "assistant" || line.partial !== true) {
      this.#endParts();
      return this.#write(line);
    }
    this.#parts ??= new MaskStream(this.#secrets);
    this.#writePart(this.#parts.push(Buffer.from(line.text)));
  }

  #endParts(): void {
    if (this.#parts) this.#writePart(this.#parts.end());
    this.#parts = null;
  }

  #writePart(bytes: Buffer): void {
    if (bytes.length > 0) this.#write({ type: "assistant", text: bytes.toString("utf8"), partial: true });
  }

  #write(line: AgentLine): void {
    writeSync(this.output, `${JSON.stringify({ ...maskValue(this.#secrets, line), at: now() })}\n`);
  }

  note(entry: Entry): void {
    const masked = maskValue(this.#secrets, { ...entry, at: now(), offset: fstatSync(this.output).size });
    this.#journal ??= openAppending(paths(this.#folder).journal);
    writeSync(this.#journal, `${JSON.stringify(masked)}\n`);
  }

  /** Masks the new bytes of the agent's files, of `raw.log` only up to `rawUntil`. Concurrent calls share the work. */
  mask(rawUntil: number): Promise<void> {
    return (this.#masking ??= runInSlices(this.#maskSteps(rawUntil)).finally(() => (this.#masking = null)));
  }

  *#maskSteps(rawUntil: number): Generator<null, void> {
    for (const [file, mask] of this.#masks) yield* mask.look(file === this.#raw ? rawUntil : Number.POSITIVE_INFINITY);
  }

  /** Masks a file from its start, because it was trimmed. */
  remask(name: "output" | "errors"): void {
    const file = paths(this.#folder)[name];
    this.#masks.set(file, new FileMask(file, this.#secrets));
  }

  /**
   * Call `finish` after the agent has exited. Deletes `raw.log`: the dialogue has read it, and a secret may be split
   * over messages of any shape in it, where no mask finds it.
   */
  async finish(): Promise<void> {
    await this.#masking;
    this.#endParts();
    removeFile(this.#raw);
    if (trimOutput(this.#folder, this.#maxOutputBytes)) this.remask("output");
    if (trimErrors(this.#folder)) this.remask("errors");
    await runInSlices(this.#finishSteps());
    closeSync(this.output);
  }

  /** No `note` may follow `close`. */
  close(): void {
    if (this.#journal !== null) closeSync(this.#journal);
    this.#journal = null;
  }

  *#finishSteps(): Generator<null, void> {
    yield* forgetParts(this.#folder);
    for (const mask of this.#masks.values()) yield* mask.finish();
    yield* maskRequests(this.#folder, this.#secrets);
    yield* maskAgentFolders(this.#folder, this.#secrets);
  }
}

const now = (): string => new Date().toISOString();

/** `O_NOFOLLOW`: an agent may have put a link in the place of the file. */
export const openAppending = (file: string): number =>
  openSync(file, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600);
