// `Output` prints text for users or, with `json`, one JSON value per line for programs; never both on stdout.
import type { Colour, Paint } from "./board.ts";
import { defaultDataDir } from "../../main/data-folder.ts";
import { columnsOf, isTerminalStream, writeTo, type StreamName } from "./streams.ts";
import { isAscii, textWidth, wrapText } from "./text-width.ts";
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
    return columnsOf("stdout");
  }

  /** For progress: unlike `result`, hidden by `--quiet`. */
  line(text: string): void {
    if (!this.quiet) this.result(text);
  }

  /** Prints a line of the result; `--quiet` keeps it. A line wider than the terminal is broken between words. */
  result(text: string): void {
    if (!this.json) this.#write("stdout", wrapLine(safeText(text), this.columns));
  }

  document(text: string): void {
    if (!this.json) this.#write("stdout", `${text.split("\n").map(safeText).join("\n")}\n`);
  }

  value(value: unknown): void {
    if (this.json) writeTo("stdout", `${JSON.stringify(value)}\n`);
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
    const lines = wrapLine(word + safeText(text), columnsOf("stderr"));
    const painted = isTerminalStream("stderr") ? this.paint(colour, word) + lines.slice(word.length) : lines;
    this.#write("stderr", painted);
  }

  #write(name: StreamName, text: string): void {
    if (this.screen && isTerminalStream(name)) this.screen.above(text);
    else writeTo(name, text);
  }
}

/** The continuation of a broken line is indented by `CONTINUATION` more than its beginning. */
function wrapLine(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY || textWidth(text) <= columns) return `${text}\n`;
  const indent = " ".repeat(text.length - text.trimStart().length);
  const lines = wrapText(text.trimStart(), columns - indent.length - CONTINUATION.length);
  return `${indent}${lines.join(`\n${indent}${CONTINUATION}`)}\n`;
}

/** Replaces control characters. Agents wrote much of the text, and it must not move the cursor or forge lines. */
export const safeText = (text: string): string =>
  isAscii(text) ? text : text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");
