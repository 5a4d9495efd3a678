// `Output` prints text for users or, with `json`, one JSON value per line for programs; never both on stdout.
import type { Colour, Paint } from "./board.ts";
import { interruptWorks } from "./interrupt.ts";
import { defaultDataDir } from "../../main/data-folder.ts";
import { textWidth, wrapText } from "./text-width.ts";
import type { Screen } from "./screen.ts";
import type { HostOptions } from "../../main/sessions.ts";
import type { TuttiError } from "../../schema/error.ts";

export interface GlobalFlags {
  dataDir?: string;
  url?: string;
  token?: string;
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
}

/** A program that embeds the command line can replace these parts. */
export type ProgramOptions = Pick<HostOptions, "replaceHost">;

const COLOURS: Record<Colour, string> = { red: "31", green: "32", yellow: "33", cyan: "36", dim: "2", bold: "1" };

const CONTINUATION = "    ";

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly dataDir: string;
  /** `--url`. The `token` belongs to this server, or to the one that `tutti serve` starts. */
  readonly url: string | undefined;
  readonly token: string | undefined;
  /** While `screen` is set, printed lines go above it. */
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

  get columns(): number {
    return columnsOf(process.stdout);
  }

  /** For progress: unlike `result`, hidden by `--quiet`. */
  line(text: string): void {
    if (!this.quiet) this.result(text);
  }

  /** Prints a line of the result; `--quiet` keeps it. A line wider than the terminal is broken between words. */
  result(text: string): void {
    if (!this.json) this.#write(process.stdout, wrapLine(safeText(text), this.columns));
  }

  document(text: string): void {
    if (!this.json) this.#write(process.stdout, `${text.split("\n").map(safeText).join("\n")}\n`);
  }

  value(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  warn(text: string): void {
    if (!this.json) this.#printProblem("yellow", "warning", `: ${text}`);
  }

  error(error: TuttiError): number {
    if (this.json) this.value(error.toJSON());
    else this.#printProblem("red", "error", ` (${error.code}): ${error.message}`);
    return error.kind.exit;
  }

  /** Returns `text` unchanged if colours are off. */
  readonly paint: Paint = (colour, text) =>
    this.#color && text !== "" ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;

  #printProblem(colour: Colour, word: string, text: string): void {
    const { stderr } = process;
    const lines = wrapLine(word + safeText(text), columnsOf(stderr));
    this.#write(stderr, stderr.isTTY ? this.paint(colour, word) + lines.slice(word.length) : lines);
  }

  #write(stream: NodeJS.WriteStream, text: string): void {
    if (this.screen && stream.isTTY) this.screen.above(text);
    else stream.write(text);
  }
}

/** The width of a terminal. Unlimited if `stream` is a file or a pipe, or the terminal does not know it. */
const columnsOf = (stream: NodeJS.WriteStream): number => (stream.isTTY && stream.columns) || Number.POSITIVE_INFINITY;

/** The continuation of a broken line is indented by `CONTINUATION` more than its beginning. */
function wrapLine(text: string, columns: number): string {
  if (textWidth(text) <= columns) return `${text}\n`;
  const indent = " ".repeat(text.length - text.trimStart().length);
  const lines = wrapText(text.trimStart(), columns - indent.length - CONTINUATION.length);
  return `${indent}${lines.join(`\n${indent}${CONTINUATION}`)}\n`;
}

/** Replaces control characters. Agents wrote much of the text, and it must not move the cursor or forge lines. */
export const safeText = (text: string): string => text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");

/** The exit code with which a shell reports a program that SIGPIPE ended. */
const BROKEN_PIPE = 141;

/** All commands of a process share `pipeState`: the listeners are added once and stay after a command ends. */
const pipeState = { isListening: false, isBroken: false };

/**
 * Ends the command in order when its output is no longer read, as in `| head`. The returned function adjusts the exit
 * code: a command that the broken pipe interrupted exits with `BROKEN_PIPE`, a finished one keeps its code.
 */
export function endOnBrokenPipe(): (code: number) => number {
  pipeState.isBroken = false;
  if (!pipeState.isListening) {
    pipeState.isListening = true;
    for (const stream of [process.stdout, process.stderr]) stream.on("error", onWriteError);
  }
  return (code) => (pipeState.isBroken && code === 130 ? BROKEN_PIPE : code);
}

function onWriteError(error: NodeJS.ErrnoException): void {
  // `EPIPE`: the pipe has no reader. `EIO`: the window of the terminal was closed.
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  // `interruptWorks` ends a command that follows something; others exit by themselves.
  if (!pipeState.isBroken) interruptWorks();
  pipeState.isBroken = true;
}
