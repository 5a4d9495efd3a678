import { openSync, writeSync } from "node:fs";
import { createLog, SILENT, type Log, type LogLevel, type Members } from "./log.ts";
import { TuttiError } from "../schema/error.ts";

/** Without `file` the log goes to standard error. */
export interface LogSettings {
  level: LogLevel;
  file?: string;
}

interface OpenLogOptions {
  settings: LogSettings | undefined;
  warn: ((problem: string) => void) | undefined;
  now: () => number;
  mask: <T>(value: T) => T;
}

/** Opens the configured log. Without `settings` only warnings are passed on, as one sentence each, to `warn`. */
export function openLog({ settings, warn, now, mask }: OpenLogOptions): Log {
  if (settings) {
    const write = settings.file === undefined ? (line: string) => process.stderr.write(line) : toFile(settings.file);
    return createLog({ level: settings.level, write, now, mask });
  }
  const format = (message: string, { reason }: Members = {}) =>
    typeof reason === "string" ? `${message}: ${reason}` : message;
  return { ...SILENT, warn: (message, members) => warn?.(mask(format(message, members))) };
}

/** Append mode allows a log rotation tool to truncate the file at any time. */
function toFile(file: string): (line: string) => void {
  try {
    const opened = openSync(file, "a", 0o600);
    return (line) => void writeSync(opened, line);
  } catch (error) {
    const problem = `Cannot write the log to ${file}: ${(error as Error).message}.`;
    throw new TuttiError("usage", `${problem} Choose another --log-file.`, { cause: error });
  }
}
