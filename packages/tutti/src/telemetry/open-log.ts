// The log that somebody asked for; or, for those who did not, a way to hear in a sentence of what goes wrong beside the runs.
import { toFile, toStandardError } from "./log-sink.ts";
import { createLog, SILENT, type Log, type LogLevel, type Members } from "./log.ts";

/** To a file, or to standard error. */
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

export function openLog({ settings, warn, now, mask }: OpenLogOptions): Log {
  if (settings) {
    const write = settings.file === undefined ? toStandardError : toFile(settings.file);
    return createLog({ level: settings.level, write, now, mask });
  }
  const said = (message: string, { reason }: Members = {}) =>
    typeof reason === "string" ? `${message}: ${reason}` : message;
  return { ...SILENT, warn: (message, members) => warn?.(mask(said(message, members))) };
}
