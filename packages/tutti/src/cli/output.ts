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
    if (!this.json && !this.#quiet) process.stdout.write(`${plain(text)}\n`);
  }

  /** A line that was asked for. */
  result(text: string): void {
    if (!this.json) process.stdout.write(`${plain(text)}\n`);
  }

  /** A text of several lines that was asked for, such as a message. */
  document(text: string): void {
    if (!this.json) process.stdout.write(`${text.split("\n").map(plain).join("\n")}\n`);
  }

  value(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  warn(text: string): void {
    if (!this.json) process.stderr.write(`${this.#paint("33", "warning")}: ${plain(text)}\n`);
  }

  /** Prints the error in the one documented shape and returns its exit code. */
  error(error: TuttiError): number {
    if (this.json) this.value(error.toJSON());
    else process.stderr.write(`${this.#paint("31", "error")} (${error.code}): ${plain(error.message)}\n`);
    return error.kind.exit;
  }

  #paint(code: string, text: string): string {
    return this.#color ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

/** Much of what is shown was written by agents; on a terminal it may only be read, not move the cursor or forge lines. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");

/** Somebody who no longer reads (`| head`) ends the command in order, as if told to end. */
export function endWhenUnread(): void {
  let told = false;
  // A terminal that is gone cannot be read either; that it cannot be written says so, too.
  process.stdin.on("error", () => {});
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A pipe that nobody reads, or a terminal whose window was closed.
      if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
      if (!told) process.kill(process.pid, "SIGTERM");
      told = true;
    });
  }
}
