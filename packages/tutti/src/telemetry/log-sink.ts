// Where the lines of the log go: to standard error, or to a file that is only ever appended to.
import { openSync, writeSync } from "node:fs";
import { TuttiError } from "../schema/error.ts";

export type Sink = (line: string) => void;

export const toStandardError: Sink = (line) => void process.stderr.write(line);

/** Opened to append, so that a program that cuts logs to length may empty it at any time. */
export function toFile(file: string): Sink {
  const open = openFile(file);
  return (line) => void writeSync(open, line);
}

function openFile(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    throw new TuttiError("usage", `the log cannot be written to ${file}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
