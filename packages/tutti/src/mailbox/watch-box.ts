// Hands out each message of a box once to each reader, also over restarts: what a reader has had stands in its marks.
//
// A message is marked when the reader comes back for the next one, or has enough. A process that is killed while it works
// on a message gets that one again, and so does a reader that puts it back; none is left out.
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { boxVersion, lookAtBox, stampLastRead } from "./box.ts";
import type { BoxEntry } from "./box.ts";
import type { MailboxFolder } from "./folder.ts";
import { acquireLock } from "./lock.ts";
import { addMarks, readMarks } from "./read-marks.ts";
import type { FileProblem } from "./rewrite.ts";

/** The system's notice of a change can be missing, for instance on a network drive, so we look by ourselves too. */
const POLL_MS = 500;

export interface WatchOptions {
  consumer: string;
  signal: AbortSignal;
  pollMs?: number;
  /** Told once about each thing that is wrong with a file. */
  onProblem?: (problem: FileProblem) => void;
}

export interface WatchedEntry extends BoxEntry {
  /** Says that the reader could do nothing with it: it stays unread. */
  putBack: () => void;
}

export async function* watchBox(
  folder: MailboxFolder,
  box: string,
  options: WatchOptions,
): AsyncGenerator<WatchedEntry> {
  const { signal, consumer } = options;
  const bell = new Bell(folder);
  const told = new Set<string>();
  let seen: string | null = null;
  try {
    while (!signal.aborted) {
      bell.arm();
      // What changes from here on rings again, so nothing is missed between the look and the wait.
      const version = boxVersion(folder, box);
      if (version !== seen) {
        seen = version;
        yield* deliver(folder, box, consumer, signal, (problem) => {
          const text = `${problem.file} ${problem.sentence}`;
          if (!told.has(text)) options.onProblem?.(problem);
          told.add(text);
        });
      }
      await bell.wait(options.pollMs ?? POLL_MS, signal);
    }
  } finally {
    bell.close();
  }
}

/** All messages that the reader has not had. Two processes that read as the same reader take turns. */
async function* deliver(
  folder: MailboxFolder,
  box: string,
  consumer: string,
  signal: AbortSignal,
  onProblem: (problem: FileProblem) => void,
): AsyncGenerator<WatchedEntry> {
  const release = await acquireLock(folder.lockFile(readerLock(box, consumer)), folder.world, Infinity, signal);
  if (release === null) return;
  const readAt = folder.now();
  let count = 0;
  try {
    const look = await lookAtBox(folder, box);
    for (const problem of look.problems) onProblem(problem);
    const marksFolder = folder.marksFolder(box);
    const marks = readMarks(marksFolder, consumer);
    for (const entry of look.entries) {
      if (signal.aborted) break;
      if (marks.has(entry.key)) continue;
      let isTaken = true;
      const putBack = () => {
        isTaken = false;
      };
      try {
        yield { ...entry, putBack };
      } finally {
        if (isTaken) {
          addMarks(marksFolder, consumer, [entry.key], folder.now());
          count++;
        }
      }
    }
  } finally {
    try {
      if (count > 0) await stampLastRead(folder, box, readAt);
    } finally {
      release();
    }
  }
}

export const readerLock = (box: string, consumer: string): string => `${box}.${consumer}.lock`;

/** Rings when something in the folders of the messages changes. */
class Bell {
  readonly #folder: MailboxFolder;
  readonly #watchers = new Map<string, FSWatcher>();
  #rung: (() => void) | null = null;
  #pending = false;

  constructor(folder: MailboxFolder) {
    this.#folder = folder;
  }

  /** Watches the folders that are there by now. */
  arm(): void {
    this.#pending = false;
    for (const path of this.#folder.messageFolders()) {
      if (this.#watchers.has(path)) continue;
      try {
        const watcher = watch(path, { persistent: false }, () => this.#ring());
        // A folder that was removed is watched again when it is back; until then we look by ourselves.
        watcher.on("error", () => this.#forget(path));
        this.#watchers.set(path, watcher);
      } catch {
        // It is not there yet, or the system has no more watches to give.
      }
    }
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#pending) return;
    const rung = new AbortController();
    this.#rung = () => rung.abort();
    await this.#folder.world.sleep(ms, AbortSignal.any([signal, rung.signal]));
    this.#rung = null;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #ring(): void {
    this.#pending = true;
    this.#rung?.();
  }

  #forget(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}
