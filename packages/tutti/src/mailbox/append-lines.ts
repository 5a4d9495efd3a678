import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { asDiskError, syncFolder } from "../durable-file.ts";

/**
 * Returns when `lines` are on disk; without `durable`, a power failure can lose them. Terminates a line that a crash
 * cut off. If the write fails, for example on a full disk, the file keeps its old size. The caller must hold a lock.
 */
export function appendLines(file: string, lines: readonly string[], { durable = true } = {}): void {
  if (lines.length === 0) return;
  try {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW, 0o644);
    try {
      const { size } = fstatSync(fd);
      appendTo(fd, size, `${endsWithLineBreak(fd, size) ? "" : "\n"}${lines.join("\n")}\n`, durable);
      if (durable && size === 0) syncFolder(dirname(file));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
  }
}

function appendTo(fd: number, size: number, text: string, durable: boolean): void {
  try {
    writeFileSync(fd, text);
    if (durable) fsyncSync(fd);
  } catch (error) {
    ftruncateSync(fd, size);
    throw error;
  }
}

function endsWithLineBreak(fd: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last.toString("latin1") === "\n";
}

/** Returns the last line, if it is at most 4096 bytes long. */
export function lastLine(file: string): string {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, 4096));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      return tail.toString("utf8").trimEnd().split("\n").at(-1) ?? "";
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw asDiskError(error, `${file} cannot be read`);
  }
}

/** Skips lines of JSON that a crash cut off. */
export function parseLines(text: string): unknown[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}
