import { openSync, writeSync } from "node:fs";
import { TuttiError } from "../schema/error.ts";

export type Sink = (line: string) => void;

export const toStandardError: Sink = (line) => void process.stderr.write(line);

/** Opens the file in append mode, so that a log rotation tool may truncate it at any time. */
export function toFile(file: string): Sink {
  const open = openFile(file);
  return (line) => void writeSync(open, line);
}

function openFile(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    throw new TuttiError(
      "usage",
      `Cannot write the log to ${file}: ${(error as Error).message}. Choose another --log-file.`,
      {
        cause: error,
      },
    );
  }
}
