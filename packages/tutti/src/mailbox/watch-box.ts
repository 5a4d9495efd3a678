// `watchBox` delivers each message of a box once to each reader, also across restarts, because the read marks are on
// disk.
//
// A message is marked when the reader requests the next one or stops. After a crash while a message is processed, or
// after `putBack`, the message is delivered again. No message is skipped.
import { watch, type FSWatcher } from "node:fs";
import { boxVersion, lookAtBox, stampLastRead, type BoxEntry } from "./box.ts";
import type { MailboxFolder } from "./folder.ts";
import { acquireLock } from "./lock.ts";
import { addMarks, readMarks } from "./read-marks.ts";
import type { FileProblem } from "./rewrite.ts";

/**
 * File system notifications can be missing, for example on a network drive, so the box is polled every `POLL_MS` too.
 */
const POLL_MS = 500;

export interface WatchOptions {
  consumer: string;
  signal: AbortSignal;
  pollMs?: number;
  /** Called once for each problem of a file. */
  onProblem?: (problem: FileProblem) => void;
}

export interface WatchedEntry extends BoxEntry {
  /** Leaves the message unread, so that `watchBox` delivers it again. */
  putBack: () => void;
}

export async function* watchBox(
  folder: MailboxFolder,
  box: string,
  options: WatchOptions,
): AsyncGenerator<WatchedEntry> {
  const { signal, consumer } = options;
  const changes = new ChangeWatcher(folder);
  const reported = new Set<string>();
  let seen: string | null = null;
  try {
    while (!signal.aborted) {
      changes.arm();
      // Later changes notify `changes` again, so none is missed between this check and the wait.
      const version = boxVersion(folder, box);
      if (version !== seen) {
        seen = version;
        yield* deliver(folder, box, consumer, signal, (problem) => {
          const text = `${problem.file} ${problem.sentence}`;
          if (!reported.has(text)) options.onProblem?.(problem);
          reported.add(text);
        });
      }
      await changes.wait(options.pollMs ?? POLL_MS, signal);
    }
  } finally {
    changes.close();
  }
}

/** Processes with the same `consumer` take turns (`acquireLock`). */
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
      let isConsumed = true;
      const putBack = () => {
        isConsumed = false;
      };
      try {
        yield { ...entry, putBack };
      } finally {
        if (isConsumed) {
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

class ChangeWatcher {
  readonly #folder: MailboxFolder;
  readonly #watchers = new Map<string, FSWatcher>();
  #wake: (() => void) | null = null;
  #pending = false;

  constructor(folder: MailboxFolder) {
    this.#folder = folder;
  }

  /** Watches those of `messageFolders` that exist now. */
  arm(): void {
    this.#pending = false;
    for (const path of this.#folder.messageFolders()) {
      if (this.#watchers.has(path)) continue;
      try {
        const watcher = watch(path, { persistent: false }, () => this.#notify());
        // A removed folder is watched again once it exists; until then only polling detects changes.
        watcher.on("error", () => this.#forget(path));
        this.#watchers.set(path, watcher);
      } catch {
        // The folder does not exist yet, or the system has no watches left.
      }
    }
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#pending) return;
    const wake = new AbortController();
    this.#wake = () => wake.abort();
    await this.#folder.world.sleep(ms, AbortSignal.any([signal, wake.signal]));
    this.#wake = null;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #notify(): void {
    this.#pending = true;
    this.#wake?.();
  }

  #forget(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}
