// What the command line prints: words for people, or JSON for programs, never both on stdout.
import { defaultDataDir } from "./data-folder.ts";
import type { TuttiError } from "../schema/error.ts";

export interface GlobalFlags {
  dataDir?: string;
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
}

export class Output {
  readonly json: boolean;
  readonly dataDir: string;
  readonly #quiet: boolean;
  readonly #color: boolean;

  constructor(flags: GlobalFlags) {
    this.json = flags.json ?? false;
    this.dataDir = flags.dataDir ?? defaultDataDir();
    this.#quiet = flags.quiet ?? false;
    this.#color = flags.color !== false && !process.env["NO_COLOR"] && process.stdout.isTTY;
  }

  /** A line that tells how things go. */
  line(text: string): void {
    if (!this.json && !this.#quiet) process.stdout.write(`${text}\n`);
  }

  /** A line that was asked for. */
  result(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  value(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  warn(text: string): void {
    if (!this.json) process.stderr.write(`${this.paint("33", "warning")}: ${text}\n`);
  }

  /** Prints the error in the one documented shape and returns its exit code. */
  error(error: TuttiError): number {
    if (this.json) this.value(error.toJSON());
    else process.stderr.write(`${this.paint("31", "error")} (${error.code}): ${error.message}\n`);
    return error.kind.exit;
  }

  bold(text: string): string {
    return this.paint("1", text);
  }

  dim(text: string): string {
    return this.paint("2", text);
  }

  paint(code: string, text: string): string {
    return this.#color ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}
