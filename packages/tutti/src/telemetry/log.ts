// The server's log, with one JSON object per line. `mask` removes secrets from every line. A failed write does not affect
// the server: the next line that succeeds has the number of lost lines in its member `missing`.
import { TuttiError } from "../schema/error.ts";

/** `LOG_LEVELS` are ordered by severity. Each level includes the ones before it. */
const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Members = Readonly<Record<string, unknown>>;
type LogMethod = (message: string, members?: Members) => void;
export type Log = Readonly<Record<LogLevel, LogMethod>>;

interface LogOptions {
  level: LogLevel;
  /** Writes one whole line. May throw. */
  write: (line: string) => void;
  now: () => number;
  mask: <T>(value: T) => T;
}

export function createLog({ level, write, now, mask }: LogOptions): Log {
  let missing = 0;
  const put = (record: object) => {
    try {
      write(`${JSON.stringify(mask({ ...record, ...(missing > 0 && { missing }) }))}\n`);
      missing = 0;
    } catch {
      missing += 1;
    }
  };
  const methodAt =
    (at: LogLevel): LogMethod =>
    (message, members = {}) => {
      // `fixed` comes first for the order and again last, so that no member overrides it.
      const fixed = { time: new Date(now()).toISOString(), level: at, message };
      if (LOG_LEVELS.indexOf(at) <= LOG_LEVELS.indexOf(level)) put({ ...fixed, ...members, ...fixed });
    };
  return { error: methodAt("error"), warn: methodAt("warn"), info: methodAt("info"), debug: methodAt("debug") };
}

export const SILENT: Log = { error() {}, warn() {}, info() {}, debug() {} };

/** `stack` includes the stacks of the causes of `error`. */
export function errorMembers(error: unknown): Members {
  const code = error instanceof TuttiError ? { code: error.code } : {};
  if (!(error instanceof Error)) return { error: String(error) };
  return { ...code, error: error.message, stack: stackOf(error) };
}

function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\ncaused by ${stackOf(error.cause)}` : stack;
}

export function readLogLevel(text: string): LogLevel {
  const found = LOG_LEVELS.find((level) => level === text);
  if (found) return found;
  throw new TuttiError("usage", `Log level "${text}" does not exist. Use one of ${LOG_LEVELS.join(", ")}.`);
}
