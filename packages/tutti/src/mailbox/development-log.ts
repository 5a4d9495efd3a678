// The development log `logs/log.md`: one line per event (`logLine`) and one `taskSection` per finished task. It is
// rotated at `ROTATE_AT_BYTES`.
import { renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendLines } from "./append-lines.ts";
import type { MailboxFolder } from "./folder.ts";
import { makeFolder } from "./replace-file.ts";
import { asDiskError } from "../durable-file.ts";

export const ROTATE_AT_BYTES = 100 * 1024;

type DevelopmentLogLevel = "INFO" | "WARN" | "ERROR" | "DEBUG";

export interface LogEntry {
  level: DevelopmentLogLevel;
  text: string;
}

export interface TaskSection {
  taskId: string;
  title: string;
  status: string;
  summary?: string;
  files?: readonly string[];
}

/** A line break in `text` would look like another event, so `oneLine` removes it. */
export function logLine(at: string, { level, text }: LogEntry): string {
  return `[${at}] [${level}] ${oneLine(text)}`;
}

export function taskSection(at: string, task: TaskSection): string[] {
  const files = task.files ?? [];
  return [
    "",
    `## ${oneLine(task.taskId)}: ${oneLine(task.title)}`,
    "",
    `- Finished: ${at}`,
    `- Status: ${oneLine(task.status)}`,
    ...(task.summary === undefined ? [] : [`- Summary: ${oneLine(task.summary)}`]),
    ...(files.length === 0 ? [] : ["- Files:", ...files.map((file) => `  - ${oneLine(file)}`)]),
    "",
  ];
}

function oneLine(text: string): string {
  const lines = text.split(/[\r\n]/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** Appends under the lock of the mailbox, because two processes must not `rotate` at the same time. */
export async function addToLog(folder: MailboxFolder, linesAt: (at: string) => string[]): Promise<void> {
  await folder.locked(() => {
    const file = folder.inside(folder.paths().log);
    makeFolder(dirname(file));
    const at = folder.now();
    appendToLog(file, at, linesAt(at));
  });
}

function appendToLog(file: string, at: string, lines: readonly string[]): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const added = Buffer.byteLength(lines.join("\n")) + 1;
  if (size > 0 && size + added > ROTATE_AT_BYTES) rotate(file, at);
  appendLines(file, lines, { durable: false });
}

/** A counter keeps two rotations with the same timestamp apart. */
function rotate(file: string, at: string): void {
  const stamp = at.replaceAll(/[:.]/g, "-");
  for (let number = 0; ; number++) {
    const name = join(dirname(file), `log-${stamp}${number === 0 ? "" : `-${number}`}.md`);
    if (statSync(name, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      renameSync(file, name);
    } catch (error) {
      throw asDiskError(error, `${file} cannot be renamed`);
    }
    return;
  }
}
