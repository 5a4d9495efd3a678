// The archive of cleared messages. A box is the only record of the agents' conversation, so `archiveMessages` has
// stored messages on disk before they leave the box.
import { createHash } from "node:crypto";
import { isRecord } from "../protocol/json/json-value.ts";
import { appendLines, lastLine, parseLines } from "./append-lines.ts";
import { readFileText } from "./read-text.ts";

interface ArchivedMessage {
  file: string;
  message: unknown;
  /** Maps the name of each reader to the time of reading. */
  readBy: Record<string, string>;
}

export interface Clearing {
  archivedAt: string;
  box: string;
  messages: ArchivedMessage[];
}

/**
 * If a crash interrupted an earlier `clearing` between archive and box, the last line still holds its hash, and the
 * same messages are not archived twice.
 */
export function archiveMessages(file: string, archivedAt: string, box: string, messages: ArchivedMessage[]): void {
  const texts = messages.map(({ message }) => JSON.stringify(message));
  const clearing = createHash("sha256").update(texts.join("\n")).digest("hex");
  const mark = JSON.stringify({ clearing });
  if (lastLine(file) === mark) return;
  appendLines(file, [JSON.stringify({ archivedAt, box, messages } satisfies Clearing), mark]);
}

/** Completes `archiveMessages`: equal messages that arrive later count as new. */
export function closeClearing(file: string, clearedAt: string): void {
  appendLines(file, [JSON.stringify({ clearedAt })]);
}

export function readArchive(file: string): Clearing[] {
  const lines = parseLines(readFileText(file, Infinity).text ?? "");
  return lines.filter((line) => isRecord(line) && Array.isArray(line["messages"])) as Clearing[];
}
