// Reads, appends to and clears one box on disk.
// 1. `rewrite` holds the lock of the mailbox, reads the file again and replaces it as a whole. No message of another
//    writer is lost, and readers see complete messages without a lock.
// 2. A message is acknowledged only when the file that contains it is on disk.
// 3. A message leaves a box only after `archiveMessages` has stored it on disk.
import { dirname } from "node:path";
import { archiveMessages, closeClearing } from "./archive.ts";
import { boxText, readBoxContent, readBoxToRewrite } from "./box-content.ts";
import type { MailboxFolder } from "./folder.ts";
import { dropMarks, marksOfAll, messageKeys } from "./read-marks.ts";
import { fileVersion } from "./read-text.ts";
import { makeFolder } from "./replace-file.ts";
import { readSettled, rewrite, type FileProblem } from "./rewrite.ts";

export interface BoxEntry {
  /** Identifies the message while it is in the box. */
  key: string;
  file: string;
  index: number;
  value: unknown;
}

interface BoxLook {
  box: string;
  lastRead: string | null;
  entries: BoxEntry[];
  problems: FileProblem[];
  /** Changes when one of `boxesToRead` changes. */
  version: string;
}

/** Reads a box from both layouts. Unlike `appendToBox`, needs no lock. */
export async function lookAtBox(folder: MailboxFolder, box: string): Promise<BoxLook> {
  const look: BoxLook = { box, lastRead: null, entries: [], problems: [], version: boxVersion(folder, box) };
  for (const file of folder.boxesToRead(box)) {
    const { content } = await readSettled(file, folder.world, readBoxContent);
    if (content.problem !== null) look.problems.push({ file, sentence: content.problem });
    const { lastRead } = content.rest;
    if (typeof lastRead === "string" && (look.lastRead === null || lastRead > look.lastRead)) look.lastRead = lastRead;
    look.entries.push(...content.messages.map((value, index) => ({ key: "", file, index, value })));
  }
  const keys = messageKeys(look.entries.map(({ value }) => value));
  for (const [index, entry] of look.entries.entries()) entry.key = keys[index]!;
  return look;
}

export function boxVersion(folder: MailboxFolder, box: string): string {
  return folder.boxesToRead(box).map(fileVersion).join(" ");
}

/** Resolves when `messages` are on disk. */
export async function appendToBox(
  folder: MailboxFolder,
  box: string,
  messages: readonly unknown[],
): Promise<{ file: string; problems: FileProblem[] }> {
  return folder.locked(async () => {
    const file = folder.boxToWrite(box);
    const problems = await rewrite(file, folder.world, readBoxToRewrite, (content) =>
      boxText([...content.messages, ...messages], content.rest),
    );
    return { file, problems };
  });
}

/** Sets `lastRead` in every existing file of the box. It never decreases. */
export async function stampLastRead(folder: MailboxFolder, box: string, readAt: string): Promise<void> {
  await folder.locked(async () => {
    for (const file of presentFiles(folder, box)) {
      await rewrite(file, folder.world, readBoxToRewrite, ({ messages, rest, problem }) => {
        const { lastRead } = rest;
        // A timestamp is not worth replacing a damaged file; the next real write does that.
        if (problem !== null || (typeof lastRead === "string" && lastRead >= readAt)) return null;
        return boxText(messages, { ...rest, lastRead: readAt });
      });
    }
  });
}

/** Archives the messages of the box that `isCleared` selects, then removes them. */
export async function clearBox(
  folder: MailboxFolder,
  box: string,
  isCleared: (message: unknown) => boolean = () => true,
): Promise<{ cleared: number; archive: string; problems: FileProblem[] }> {
  return folder.locked(async () => {
    const archive = folder.archiveFile(box);
    makeFolder(dirname(archive));
    const marks = folder.marksFolder(box);
    const problems: FileProblem[] = [];
    let cleared = 0;
    let left = 0;
    const files = presentFiles(folder, box);
    for (const file of files.length === 0 ? [folder.boxToWrite(box)] : files) {
      const readBy = marksOfAll(marks);
      let count = 0;
      let remaining = 0;
      const found = await rewrite(file, folder.world, readBoxToRewrite, ({ messages, rest }) => {
        const keys = messageKeys(JSON.parse(JSON.stringify(messages)) as unknown[]);
        const all = messages.map((message, index) => ({ file, message, readBy: readBy.get(keys[index]!) ?? {} }));
        const entries = all.filter(({ message }) => isCleared(message));
        const kept = messages.filter((message) => !isCleared(message));
        count = entries.length;
        remaining = kept.length;
        if (count > 0) archiveMessages(archive, folder.now(), box, entries);
        return boxText(kept, { ...rest, lastRead: folder.now() });
      });
      if (count > 0) closeClearing(archive, folder.now());
      problems.push(...found);
      cleared += count;
      left += remaining;
    }
    if (left === 0) dropMarks(marks);
    return { cleared, archive, problems };
  });
}

export const isPresent = (folder: MailboxFolder, box: string): boolean => presentFiles(folder, box).length > 0;

const presentFiles = (folder: MailboxFolder, box: string): string[] =>
  folder.boxesToRead(box).filter((file) => fileVersion(file) !== "");
