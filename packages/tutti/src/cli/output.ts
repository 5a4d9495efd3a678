// What the command line prints: words for people, or JSON for programs, never both on stdout.
import type { Colour, Paint } from "./board.ts";
import { defaultDataDir } from "./data-folder.ts";
import type { Screen } from "./screen.ts";
import type { HostOptions } from "../main/sessions.ts";
import type { TuttiError } from "../schema/error.ts";

export interface GlobalFlags {
  dataDir?: string;
  url?: string;
  token?: string;
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
}

/** What a program that embeds the command line can replace. */
export type ProgramOptions = Pick<HostOptions, "replaceHost">;

const COLOURS: Record<Colour, string> = { red: "31", green: "32", yellow: "33", cyan: "36", dim: "2", bold: "1" };

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly dataDir: string;
  /** The server that the person names, and the token for it, or for the one that is started. */
  readonly url: string | undefined;
  readonly token: string | undefined;
  /** A part of the terminal that is drawn again in place; what is printed meanwhile goes above it. */
  screen: Screen | null = null;
  readonly #color: boolean;

  readonly options: ProgramOptions;

  constructor(flags: GlobalFlags, options: ProgramOptions = {}) {
    this.options = options;
    this.json = flags.json ?? false;
    this.quiet = flags.quiet ?? false;
    this.dataDir = flags.dataDir ?? defaultDataDir();
    this.url = flags.url;
    this.token = flags.token;
    this.#color = flags.color !== false && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  }

  /** A line that tells how things go. */
  line(text: string): void {
    if (!this.quiet) this.result(text);
  }

  /** A line that was asked for. */
  result(text: string): void {
    if (!this.json) this.#write(process.stdout, `${plain(text)}\n`);
  }

  /** A text of several lines that was asked for, such as a message. */
  document(text: string): void {
    if (!this.json) this.#write(process.stdout, `${text.split("\n").map(plain).join("\n")}\n`);
  }

  value(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  warn(text: string): void {
    if (this.json) return;
    const word = process.stderr.isTTY ? this.paint("yellow", "warning") : "warning";
    this.#write(process.stderr, `${word}: ${plain(text)}\n`);
  }

  /** Prints the error in the one documented shape and returns its exit code. */
  error(error: TuttiError): number {
    if (this.json) this.value(error.toJSON());
    else {
      const word = process.stderr.isTTY ? this.paint("red", "error") : "error";
      this.#write(process.stderr, `${word} (${error.code}): ${plain(error.message)}\n`);
    }
    return error.kind.exit;
  }

  /** For what is drawn on a terminal; plain where no colours are wanted. */
  readonly paint: Paint = (colour, text) =>
    this.#color && text !== "" ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;

  #write(stream: NodeJS.WriteStream, text: string): void {
    if (this.screen && stream.isTTY) this.screen.above(text);
    else stream.write(text);
  }
}

/** Much of what is shown was written by agents; on a terminal it may only be read, not move the cursor or forge lines. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");

/** What a shell shows for a program that wrote to somebody who no longer read. */
const BROKEN_PIPE = 141;

/** Whether somebody stopped reading, and whether that is listened for: once in a process, also after a command is over. */
const reading = { listened: false, ended: false };

/**
 * Somebody who no longer reads (`| head`) ends the command in order, as if told to end. Returns what its exit code is
 * then: a command that was done by itself is done, one that was interrupted by it says why.
 */
export function endWhenUnread(): (code: number) => number {
  reading.ended = false;
  if (!reading.listened) {
    reading.listened = true;
    // A terminal that is gone cannot be read either; that it cannot be written says so, too.
    process.stdin.on("error", () => {});
    for (const stream of [process.stdout, process.stderr]) stream.on("error", onUnwritten);
  }
  return (code) => (reading.ended && code === 130 ? BROKEN_PIPE : code);
}

function onUnwritten(error: NodeJS.ErrnoException): void {
  // A pipe that nobody reads, or a terminal whose window was closed.
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  // Who listens goes on for ever otherwise; who does not is over in a moment.
  if (!reading.ended && process.listenerCount("SIGTERM") > 0) process.kill(process.pid, "SIGTERM");
  reading.ended = true;
}
