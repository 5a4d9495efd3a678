// Conditions of the machine that end a piece of work although nothing is wrong with it: the same work succeeds once the
// user has changed them. The sentences have the figure that the user needs.
import { accessSync, constants, readdirSync, readFileSync, statfsSync } from "node:fs";
import { freemem, totalmem } from "node:os";
import { dirname } from "node:path";
import { TuttiError, type EnvironmentCode } from "./schema/error.ts";

interface Condition {
  code: EnvironmentCode;
  /** How git and other programs name it. */
  words: RegExp;
  describe(folder: string): string;
  remedy: string;
}

const disk = { code: "disk_full", remedy: "Free some space." } as const;
const files = {
  code: "too_many_files",
  describe: () => `too many files are open${openFiles()}`,
  remedy: 'Raise the limit with "ulimit -n", or close other programs.',
} as const;

const CONDITIONS = {
  ENOSPC: {
    ...disk,
    words: /No space left on device/i,
    describe: (folder) => `the disk of "${folder}" is full${freeSpace(folder)}`,
  },
  EDQUOT: {
    ...disk,
    words: /Disk quota exceeded/i,
    describe: (folder) => `the disk quota for "${folder}" is used up${freeSpace(folder)}`,
  },
  EROFS: {
    code: "unwritable",
    words: /Read-only file system/i,
    describe: (folder) => `"${folder}" is read-only`,
    remedy: "Make it writable.",
  },
  ENOMEM: {
    code: "out_of_memory",
    words: /Cannot allocate memory|Out of memory/i,
    describe: () => `the memory is used up (${inUnits(freemem())} of ${inUnits(totalmem())} free)`,
    remedy: "Close other programs or lower --max-workers.",
  },
  EMFILE: { ...files, words: /Too many open files(?! in system)/i },
  ENFILE: { ...files, words: /Too many open files in system/i },
} as const satisfies Record<string, Condition>;

type Errno = keyof typeof CONDITIONS;

/** In bytes. Some programs do not say why a write failed. With less free space than this, the disk is the reason. */
const NEARLY_FULL = 1024 * 1024;

/** Whether `bytes` more do not fit on the disk of `folder`. */
export const isTooSmall = (folder: string, bytes: number): boolean => spaceOf(folder).free < bytes;

/** Finds the condition in an error of Node. */
export function findErrno(error: unknown): Errno | null {
  const code = String((error as { code?: unknown } | null)?.code);
  return Object.hasOwn(CONDITIONS, code) ? (code as Errno) : null;
}

/** How git reports a failed write, often without the reason. */
const WRITES = /Permission denied|unable to (?:create|write)|could not (?:create|write)|cannot lock/i;

/** Finds the condition in the words of a program that works in `folders`. */
export function findCondition(words: string, folders: readonly string[]): { errno: Errno; folder: string } | null {
  const named = (Object.keys(CONDITIONS) as Errno[]).find((errno) => CONDITIONS[errno].words.test(words));
  // The fullest of several disks is the one that was meant.
  const fullest = folders.toSorted((a, b) => spaceOf(a).free - spaceOf(b).free)[0]!;
  if (named === "EROFS") return { errno: named, folder: folders.find((each) => !canWrite(each)) ?? fullest };
  if (named) return { errno: named, folder: fullest };
  if (/unable to write|write error|short write|unable to create/i.test(words) && spaceOf(fullest).free < NEARLY_FULL)
    return { errno: "ENOSPC", folder: fullest };
  // A single file without permission may be the work of an agent, so the folders decide.
  const closed = WRITES.test(words) ? folders.find((each) => !canWrite(each)) : undefined;
  return closed === undefined ? null : { errno: "EROFS", folder: closed };
}

/** `problem` begins the sentence. `output` is the complete text of the program that failed. */
export function environmentFault(
  problem: string,
  errno: Errno,
  folder: string,
  { output, cause, neededBytes }: { output?: string; cause?: unknown; neededBytes?: number } = {},
): TuttiError {
  const { code, describe, remedy } = CONDITIONS[errno];
  const details = output === undefined ? undefined : { output };
  const needs = neededBytes === undefined ? "" : `, and ${inUnits(neededBytes)} are needed`;
  return new TuttiError(code, `${problem}: ${describe(folder)}${needs}. ${remedy}`, { details, cause });
}

function freeSpace(folder: string): string {
  const { free, all, freeFiles } = spaceOf(folder);
  if (!Number.isFinite(free)) return "";
  // A disk with free space may have no entry left for another file.
  return freeFiles === 0 ? " (no more files can be created on it)" : ` (${inUnits(free)} of ${inUnits(all)} free)`;
}

function spaceOf(folder: string): { free: number; all: number; freeFiles: number } {
  try {
    const { bavail, blocks, bsize, files: allFiles, ffree } = statfsSync(folder);
    return { free: bavail * bsize, all: blocks * bsize, freeFiles: allFiles === 0 ? Infinity : ffree };
  } catch {
    // A folder that does not exist yet would be on the disk of its parent.
    const parent = dirname(folder);
    return parent === folder ? { free: Infinity, all: Infinity, freeFiles: Infinity } : spaceOf(parent);
  }
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Empty on systems without /proc. */
function openFiles(): string {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return ` (${readdirSync("/proc/self/fd").length} of ${limit})`;
  } catch {
    return "";
  }
}

function inUnits(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
