// Follows a file that a program writes lines to, and gives them out one by one, within bounded memory.
import { closeSync, openSync, readSync, watch, type FSWatcher } from "node:fs";
import { LineSplitter } from "./line-splitter.ts";

const CHUNK_BYTES = 256 * 1024;
/** Notifications may be missing or late. */
const POLL_MS = 100;

export class LineTail {
  readonly #fd: number;
  readonly #hear: (line: string) => void;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  readonly #watcher: FSWatcher | null;
  readonly #timer: NodeJS.Timeout;
  #splitter = new LineSplitter();
  #offset = 0;
  #reading = false;

  constructor(file: string, hear: (line: string) => void) {
    this.#fd = openSync(file, "r");
    this.#hear = hear;
    this.#watcher = watchQuietly(file, () => this.read());
    this.#timer = setInterval(() => this.read(), POLL_MS);
  }

  /** Everything that is there by now. What hears a line may cause another read; that one has nothing left to do. */
  read(): void {
    if (this.#reading) return;
    this.#reading = true;
    try {
      for (;;) {
        const length = readSync(this.#fd, this.#buffer, 0, CHUNK_BYTES, this.#offset);
        if (length === 0) return;
        this.#offset += length;
        for (const line of this.#splitter.push(this.#buffer.subarray(0, length))) this.#hear(line);
      }
    } finally {
      this.#reading = false;
    }
  }

  /** The program has ended: what it wrote last need not have an end of line. */
  finish(): void {
    this.read();
    for (const line of this.#splitter.flush()) this.#hear(line);
    this.#splitter = new LineSplitter();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    closeSync(this.#fd);
  }
}

function watchQuietly(file: string, changed: () => void): FSWatcher | null {
  try {
    const watcher = watch(file, changed);
    watcher.on("error", () => {});
    return watcher;
  } catch {
    return null;
  }
}
