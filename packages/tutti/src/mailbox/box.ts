// One box on disk: look at it, add to it, empty it.
//
// 1. Who writes holds the mailbox's lock, reads the file again, and replaces it as a whole; so no message of another
//    writer is lost, and whoever reads sees whole messages without a lock.
// 2. A message is acknowledged only when the file with it is on the disk.
// 3. Nothing leaves a box before it is in the archive, on the disk.
import { dirname } from "node:path";
import { archiveMessages, closeClearing } from "./archive.ts";
import { boxText, readBoxContent, readBoxToRewrite } from "./box-content.ts";
import type { MailboxFolder } from "./folder.ts";
import { dropMarks, marksOfAll, messageKeys } from "./read-marks.ts";
import { fileVersion } from "./read-text.ts";
import { makeFolder } from "./replace-file.ts";
import { readSettled, rewrite } from "./rewrite.ts";
import type { FileProblem } from "./rewrite.ts";

export interface BoxEntry {
  /** What is known of the message while it stands in the box. */
  key: string;
  file: string;
  index: number;
  value: unknown;
}

export interface BoxLook {
  box: string;
  lastRead: string | null;
  entries: BoxEntry[];
  problems: FileProblem[];
  /** Changes when one of the files does. */
  version: string;
}

/** What stands in a box, over both layouts. Needs no lock. */
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

/** Adds messages at the end and returns when they are on the disk. */
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

/** Sets `lastRead` in every file of the box that is there; it never goes back. */
export async function stampLastRead(folder: MailboxFolder, box: string, readAt: string): Promise<void> {
  await folder.locked(async () => {
    for (const file of presentFiles(folder, box)) {
      await rewrite(file, folder.world, readBoxToRewrite, ({ messages, rest, problem }) => {
        const { lastRead } = rest;
        // A damaged file is left for whoever has something to write; a stamp is not worth replacing it.
        if (problem !== null || (typeof lastRead === "string" && lastRead >= readAt)) return null;
        return boxText(messages, { ...rest, lastRead: readAt });
      });
    }
  });
}

/** Archives everything in the box, then empties it. */
export async function clearBox(
  folder: MailboxFolder,
  box: string,
): Promise<{ cleared: number; archive: string; problems: FileProblem[] }> {
  return folder.locked(async () => {
    const archive = folder.archiveFile(box);
    makeFolder(dirname(archive));
    const marks = folder.marksFolder(box);
    const problems: FileProblem[] = [];
    let cleared = 0;
    const files = presentFiles(folder, box);
    for (const file of files.length === 0 ? [folder.boxToWrite(box)] : files) {
      const readBy = marksOfAll(marks);
      let count = 0;
      const found = await rewrite(file, folder.world, readBoxToRewrite, ({ messages, rest }) => {
        count = messages.length;
        const keys = messageKeys(JSON.parse(JSON.stringify(messages)) as unknown[]);
        const entries = messages.map((message, index) => ({ file, message, readBy: readBy.get(keys[index]!) ?? {} }));
        if (count > 0) archiveMessages(archive, folder.now(), box, entries);
        return boxText([], { ...rest, lastRead: folder.now() });
      });
      if (count > 0) closeClearing(archive, folder.now());
      problems.push(...found);
      cleared += count;
    }
    dropMarks(marks);
    return { cleared, archive, problems };
  });
}

export const isPresent = (folder: MailboxFolder, box: string): boolean => presentFiles(folder, box).length > 0;

const presentFiles = (folder: MailboxFolder, box: string): string[] =>
  folder.boxesToRead(box).filter((file) => fileVersion(file) !== "");
