// The server's log: one JSON object per line, for people and for programs that gather logs. Nothing secret is written: the
// caller says what to mask, and every member goes through it. A log that cannot be written disturbs nobody; how many lines
// are missing is said as soon as one can be written again.
import { TuttiError } from "../schema/error.ts";

/** From the gravest to the least; each includes those before it. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Members = Readonly<Record<string, unknown>>;
type Tell = (message: string, members?: Members) => void;
export type Log = Readonly<Record<LogLevel, Tell>>;

export interface LogOptions {
  level: LogLevel;
  /** Takes a whole line; may fail. */
  write: (line: string) => void;
  now: () => number;
  /** Any value without what is secret in it. */
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
  const tell =
    (at: LogLevel): Tell =>
    (message, members = {}) => {
      // What the line itself consists of comes last, so that no member takes its place.
      const own = { time: new Date(now()).toISOString(), level: at, message };
      if (LOG_LEVELS.indexOf(at) <= LOG_LEVELS.indexOf(level)) put({ ...own, ...members, ...own });
    };
  return { error: tell("error"), warn: tell("warn"), info: tell("info"), debug: tell("debug") };
}

/** For those who want no log. */
export const SILENT: Log = { error() {}, warn() {}, info() {}, debug() {} };

/** An error as members of a line. The stack is for faults of the program; what was refused says enough in its sentence. */
export function errorMembers(error: unknown): Members {
  const code = error instanceof TuttiError ? { code: error.code } : {};
  if (!(error instanceof Error)) return { error: String(error) };
  return { ...code, error: error.message, stack: stackOf(error) };
}

function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}

export function readLogLevel(text: string): LogLevel {
  const found = LOG_LEVELS.find((level) => level === text);
  if (found) return found;
  throw new TuttiError("usage", `a level of the log is one of ${LOG_LEVELS.join(", ")}, not ${text}`);
}
