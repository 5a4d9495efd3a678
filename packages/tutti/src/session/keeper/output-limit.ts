// `watchOutput` bounds the disk space of a session. Its agent writes straight to files, so the keeper watches their
// length.
import { statSync, watch, type FSWatcher } from "node:fs";
import { paths } from "./session-folder.ts";
import { trimFile } from "./trim-file.ts";
import { tryToWrite } from "../../durable-file.ts";

/** `raw.log` has every step of a dialogue, but only until the end of the session, so it may be larger. */
const RAW_FACTOR = 4;
/** `stderr.log` is trimmed when it is longer than `MAX_ERRORS_BYTES`. */
const MAX_ERRORS_BYTES = 8_000_000;
const TRIMMED_ERRORS_BYTES = 2_000_000;
/** The files are checked `DELAY_MS` after a change, because an agent may write very often. */
const DELAY_MS = 20;
/** The files are also checked every `CHECK_MS`, because file notifications can be missing. */
const CHECK_MS = 500;

interface OutputLimitOptions {
  folder: string;
  maxBytes: number;
  /** `onExceeded` is called whenever a check finds that the agent wrote too much. */
  onExceeded: () => void;
  onTrimmedErrors: () => void;
}

/** Returns the function that ends the watch. */
export function watchOutput(options: OutputLimitOptions): () => void {
  let isScheduled = false;
  let isOver = false;
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      if (!isOver) check(options);
    }, DELAY_MS).unref();
  };
  const timer = setInterval(() => check(options), CHECK_MS).unref();
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(options.folder, { persistent: false }, schedule).on("error", () => {});
  } catch {
    // The system limits the number of watches.
  }
  return () => {
    isOver = true;
    clearInterval(timer);
    watcher?.close();
  };
}

function check({ folder, maxBytes, onExceeded, onTrimmedErrors }: OutputLimitOptions): void {
  const { output, raw, journal } = paths(folder);
  // An agent writes to the journal with the tools of its session.
  const isExceeded = [output, journal].some((file) => sizeOf(file) > maxBytes) || sizeOf(raw) > RAW_FACTOR * maxBytes;
  if (isExceeded) onExceeded();
  tryToWrite(() => {
    if (trimErrors(folder)) onTrimmedErrors();
  });
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** `trimErrors` returns whether `stderr.log` was too long. Its agent may still write to it. */
export function trimErrors(folder: string): boolean {
  const { errors } = paths(folder);
  return sizeOf(errors) > MAX_ERRORS_BYTES && trimFile(errors, TRIMMED_ERRORS_BYTES);
}

/** Call `trimOutput` when no process writes to the file any more. Older folders have no limit. */
export function trimOutput(folder: string, maxBytes: number | undefined): boolean {
  return maxBytes !== undefined && trimFile(paths(folder).output, maxBytes);
}
