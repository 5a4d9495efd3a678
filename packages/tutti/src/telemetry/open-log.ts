import { toFile, toStandardError } from "./log-sink.ts";
import { createLog, SILENT, type Log, type LogLevel, type Members } from "./log.ts";

/** Without `file` the log goes to standard error. */
export interface LogSettings {
  level: LogLevel;
  file?: string;
}

export interface OpenLogOptions {
  settings: LogSettings | undefined;
  warn: ((problem: string) => void) | undefined;
  now: () => number;
  mask: <T>(value: T) => T;
}

/** Opens the configured log. Without `settings` only warnings are passed on, as one sentence each, to `warn`. */
export function openLog({ settings, warn, now, mask }: OpenLogOptions): Log {
  if (settings) {
    const write = settings.file === undefined ? toStandardError : toFile(settings.file);
    return createLog({ level: settings.level, write, now, mask });
  }
  const format = (message: string, { reason }: Members = {}) =>
    typeof reason === "string" ? `${message}: ${reason}` : message;
  return { ...SILENT, warn: (message, members) => warn?.(mask(format(message, members))) };
}
