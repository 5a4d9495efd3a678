// What was cleared from a box. Clearing would destroy the only record of what agents said to each other, so everything is
// in the archive, on the disk, before it leaves the box.
import { createHash } from "node:crypto";
import { isRecord } from "../protocol/json-value.ts";
import { appendLines, lastLine, parseLines } from "./append-lines.ts";
import { readFileText } from "./read-text.ts";

export interface ArchivedMessage {
  /** The file it stood in. */
  file: string;
  message: unknown;
  /** Who had read it, and when. */
  readBy: Record<string, string>;
}

export interface Clearing {
  archivedAt: string;
  box: string;
  messages: ArchivedMessage[];
}

/**
 * Archives what is about to be cleared. A clearing that a crash interrupted between the archive and the box is finished
 * without archiving the same again: the last line still says what was on its way.
 */
export function archiveMessages(file: string, archivedAt: string, box: string, messages: ArchivedMessage[]): void {
  const texts = messages.map(({ message }) => JSON.stringify(message));
  const clearing = createHash("sha256").update(texts.join("\n")).digest("hex");
  const mark = JSON.stringify({ clearing });
  if (lastLine(file) === mark) return;
  appendLines(file, [JSON.stringify({ archivedAt, box, messages } satisfies Clearing), mark]);
}

/** Ends what archiveMessages began; from here on equal messages are new ones. */
export function closeClearing(file: string, clearedAt: string): void {
  appendLines(file, [JSON.stringify({ clearedAt })]);
}

export function readArchive(file: string): Clearing[] {
  const lines = parseLines(readFileText(file, Infinity).text ?? "");
  return lines.filter((line) => isRecord(line) && Array.isArray(line["messages"])) as Clearing[];
}
