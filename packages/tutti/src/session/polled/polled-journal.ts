// The journal of a polled session: the controller's session id, the turns sent and the messages read. `PolledJournal`
// only appends, so the next engine continues from it, and the transcript stays readable without the controller.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Secrets } from "../secrets/find-secrets.ts";
import { FileMask } from "../secrets/mask-file.ts";
import { maskText, maskValue } from "../secrets/mask.ts";
import { pack, readWhole } from "../keeper/session-file.ts";
import { writeJson, type ArchiveMark } from "../keeper/session-folder.ts";
import type { SessionSignal } from "../session.ts";
import { makeFolderDurably, syncFolder } from "../../durable-file.ts";
import type { Ending } from "../../schema/ending.ts";
import type { Phase } from "../../schema/status.ts";

/** A `JournalPosition` in the controller's transcript is the number of messages read, and the key of the last one. */
export interface JournalPosition {
  count: number;
  key: string | null;
}

interface SentTurn {
  turn: number;
  phase: Phase;
  text: string;
  delimiterStart: string;
  delimiterEnd: string;
}

export type PolledRecord =
  | { type: "ready" }
  /**
   * Written before the controller is called, so that nothing is sent twice. `title` is set if it starts the session.
   */
  | ({ type: "sending"; title: string | null; cwd: string } & SentTurn)
  | { type: "opened"; backendId: string; at: number }
  | { type: "sent"; turn: number }
  | { type: "text"; text: string; place: JournalPosition }
  | { type: "tool"; name: string; input: unknown; id?: string }
  | { type: "toolFailed"; id: string; error: string }
  | { type: "interrupted"; turn: number }
  | { type: "turnOver"; turn: number; ending: Ending; place: JournalPosition }
  /** `archived` if the controller has archived the session. */
  | { type: "end"; reason: string; deliberate: boolean; archived: boolean };

/** `LASTING` records must survive a power cut, as the controller's session does. Messages can be read again. */
const LASTING: ReadonlySet<PolledRecord["type"]> = new Set(["sending", "opened", "end"]);

/**
 * Masks texts of the controller. `sending` is masked after `sent`: after a crash in between, its text is compared with
 * the transcript and may be sent again.
 */
function masked(record: PolledRecord, secrets: Secrets): PolledRecord {
  if (record.type === "text") return { ...record, text: maskText(secrets, record.text) };
  if (record.type === "end") return { ...record, reason: maskText(secrets, record.reason) };
  if (record.type === "tool") return { ...record, ...maskValue(secrets, { name: record.name, input: record.input }) };
  if (record.type === "toolFailed") return { ...record, error: maskText(secrets, record.error) };
  return record;
}

export class PolledJournal {
  readonly folder: string;
  readonly records: PolledRecord[];
  readonly #file: string;
  readonly #secrets: Secrets;
  /** The offset of the last `sending`, or 0 if an earlier process appended it. */
  #sendingAt = 0;

  constructor(folder: string, secrets: Secrets) {
    this.folder = folder;
    this.#secrets = secrets;
    this.#file = journalFile(folder);
    removeTornLine(this.#file);
    this.records = readRecords(this.#file);
  }

  append(unmasked: PolledRecord): void {
    const record = masked(unmasked, this.#secrets);
    makeFolderDurably(this.folder, 0o700);
    const isNew = !existsSync(this.#file);
    const fd = openSync(this.#file, "a", 0o600);
    try {
      if (record.type === "sending") this.#sendingAt = fstatSync(fd).size;
      writeFileSync(fd, `${JSON.stringify(record)}\n`);
      if (LASTING.has(record.type)) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (isNew) syncFolder(this.folder);
    this.records.push(record);
    if (record.type === "sent" || record.type === "end")
      for (const _ of new FileMask(this.#file, this.#secrets, this.#sendingAt).finish());
  }

  last<T extends PolledRecord["type"]>(type: T): Extract<PolledRecord, { type: T }> | null {
    const found = this.records.findLast((record) => record.type === type);
    return (found as Extract<PolledRecord, { type: T }> | undefined) ?? null;
  }

  get backendId(): string | null {
    return this.last("opened")?.backendId ?? null;
  }

  get end(): Extract<PolledRecord, { type: "end" }> | null {
    return this.last("end");
  }

  get place(): JournalPosition {
    const read = this.records.findLast((record) => record.type === "text" || record.type === "turnOver");
    return read && "place" in read ? read.place : { count: 0, key: null };
  }

  /** A turn that is being sent counts as open. */
  get openTurn(): Extract<PolledRecord, { type: "sending" }> | null {
    const sending = this.last("sending");
    return sending && !this.has("turnOver", sending.turn) ? sending : null;
  }

  has(type: "sending" | "sent" | "turnOver" | "interrupted", turn: number): boolean {
    return this.records.some((record) => record.type === type && record.turn === turn);
  }
}

export const journalFile = (folder: string): string => join(folder, "polled.jsonl");

/**
 * Truncates the file after its last whole line: a process may have died while it appended, before it
 * acted on the record. A power cut can leave zero bytes in records that were not synced; the controller is read again
 * from there.
 */
function removeTornLine(file: string): void {
  if (!existsSync(file)) return;
  const bytes = readFileSync(file);
  const hole = bytes.indexOf(0);
  const whole = bytes.lastIndexOf(0x0a, hole < 0 ? undefined : hole) + 1;
  if (whole < bytes.length) truncateSync(file, whole);
}

function readRecords(file: string): PolledRecord[] {
  const text = readWhole(file)?.toString("utf8") ?? "";
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as PolledRecord]));
}

export function signalOf(record: PolledRecord): SessionSignal | null {
  switch (record.type) {
    case "ready":
      return { type: "ready" };
    case "sent":
    case "interrupted":
      return { type: record.type, turn: record.turn };
    case "text":
      return { type: "text", text: record.text, complete: true };
    case "tool":
    case "toolFailed":
      return record;
    case "turnOver":
      return { type: "turnOver", turn: record.turn, ending: record.ending };
    case "end":
      return { type: "gone", reason: record.reason, deliberate: record.deliberate };
    case "sending":
    case "opened":
      return null;
  }
}

const archiveFile = (folder: string): string => join(folder, "archive.json");

export const isPolledArchived = (folder: string): boolean => existsSync(archiveFile(folder));

export async function packJournal(folder: string, at: number): Promise<void> {
  await pack(journalFile(folder));
  writeJson(archiveFile(folder), { archivedAt: at } satisfies ArchiveMark);
}
