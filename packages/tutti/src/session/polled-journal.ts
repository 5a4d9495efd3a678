// What is known of a session that a controller runs for us: which of its sessions it is, what it was sent, and what it has
// said as far as it was read. It lies in the session's folder and only grows, so whoever comes next goes on from there, and
// the transcript can be read when the controller is long gone.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Secrets } from "./find-secrets.ts";
import { maskText, maskValue } from "./mask.ts";
import { pack, readWhole } from "./session-file.ts";
import { writeJson, type ArchiveMark } from "./session-folder.ts";
import type { SessionSignal } from "./session.ts";
import { makeFolderDurably, syncFolder } from "../durable-file.ts";
import type { Ending } from "../schema/ending.ts";
import type { Phase } from "../schema/status.ts";

/** How far the controller's transcript has been read: so many messages, the last of this name. */
export interface Place {
  count: number;
  key: string | null;
}

export interface SentTurn {
  turn: number;
  phase: Phase;
  text: string;
  delimiterStart: string;
  delimiterEnd: string;
}

export type PolledRecord =
  | { type: "ready" }
  /** Written before the controller is asked, so that nothing is sent twice. `title` and `cwd` where a session is started. */
  | ({ type: "sending"; title: string | null; cwd: string } & SentTurn)
  | { type: "opened"; backendId: string; at: number }
  | { type: "sent"; turn: number }
  | { type: "text"; text: string; place: Place }
  | { type: "tool"; name: string; input: unknown }
  | { type: "interrupted"; turn: number }
  | { type: "turnOver"; turn: number; ending: Ending; place: Place }
  /** `archived` when the controller has put it away. */
  | { type: "end"; reason: string; deliberate: boolean; archived: boolean };

/**
 * The controller's session may outlive our machine, so what was asked of it, and which it is, must outlive a power cut.
 * What it said can be read again.
 */
const LASTING: ReadonlySet<PolledRecord["type"]> = new Set(["sending", "opened", "end"]);

/**
 * Without secrets in what others said. What was sent stays as it is: whether it arrived is seen by the same words, and it
 * may have to be sent again.
 */
function masked(record: PolledRecord, secrets: Secrets): PolledRecord {
  if (record.type === "text") return { ...record, text: maskText(secrets, record.text) };
  if (record.type === "end") return { ...record, reason: maskText(secrets, record.reason) };
  if (record.type === "tool") return { ...record, ...maskValue(secrets, { name: record.name, input: record.input }) };
  return record;
}

export class PolledJournal {
  readonly folder: string;
  readonly records: PolledRecord[];
  readonly #file: string;
  readonly #secrets: Secrets;

  constructor(folder: string, secrets: Secrets) {
    this.folder = folder;
    this.#secrets = secrets;
    this.#file = journalFile(folder);
    removeTornLine(this.#file);
    this.records = readRecords(this.#file);
  }

  append(told: PolledRecord): void {
    const record = masked(told, this.#secrets);
    makeFolderDurably(this.folder, 0o700);
    const isNew = !existsSync(this.#file);
    const fd = openSync(this.#file, "a", 0o600);
    try {
      writeFileSync(fd, `${JSON.stringify(record)}\n`);
      if (LASTING.has(record.type)) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (isNew) syncFolder(this.folder);
    this.records.push(record);
  }

  last<T extends PolledRecord["type"]>(type: T): Extract<PolledRecord, { type: T }> | null {
    const found = this.records.findLast((record) => record.type === type);
    return (found as Extract<PolledRecord, { type: T }> | undefined) ?? null;
  }

  /** The controller's name for the session. */
  get backendId(): string | null {
    return this.last("opened")?.backendId ?? null;
  }

  get end(): Extract<PolledRecord, { type: "end" }> | null {
    return this.last("end");
  }

  get place(): Place {
    const read = this.records.findLast((record) => record.type === "text" || record.type === "turnOver");
    return read && "place" in read ? read.place : { count: 0, key: null };
  }

  /** The turn that was sent, or is being sent, and has not ended. */
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
 * What a process that died in the middle of a line has left has no end, and was not acted on. A power cut can leave a hole
 * in that which was not to last; from there on it is read from the controller again.
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

/** What the engine is told of a record. */
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
      return { type: "tool", name: record.name, input: record.input };
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
