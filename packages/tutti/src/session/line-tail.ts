import { closeSync, openSync, readSync, watch, type FSWatcher } from "node:fs";
import { LineSplitter } from "./line-splitter.ts";

const CHUNK_BYTES = 256 * 1024;
/** The file is polled as well, because notifications can be missing or late. */
const POLL_MS = 100;

export class LineTail {
  readonly #fd: number;
  readonly #onLine: (line: string) => void;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  readonly #watcher: FSWatcher | null;
  readonly #timer: NodeJS.Timeout;
  #splitter = new LineSplitter();
  #offset = 0;
  #reading = false;

  constructor(file: string, onLine: (line: string) => void) {
    this.#fd = openSync(file, "r");
    this.#onLine = onLine;
    this.#watcher = watchQuietly(file, () => this.read());
    this.#timer = setInterval(() => this.read(), POLL_MS);
  }

  /** Ignores nested calls: `#onLine` may call `read`, and the outer call reads everything in any case. */
  read(): void {
    if (this.#reading) return;
    this.#reading = true;
    try {
      for (;;) {
        const length = readSync(this.#fd, this.#buffer, 0, CHUNK_BYTES, this.#offset);
        if (length === 0) return;
        this.#offset += length;
        for (const line of this.#splitter.push(this.#buffer.subarray(0, length))) this.#onLine(line);
      }
    } finally {
      this.#reading = false;
    }
  }

  /** Call it when the program has exited: its last line may have no line break. */
  finish(): void {
    this.read();
    for (const line of this.#splitter.flush()) this.#onLine(line);
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
