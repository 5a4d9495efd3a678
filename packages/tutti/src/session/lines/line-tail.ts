import { closeSync, openSync, readSync, watch, type FSWatcher } from "node:fs";
import { LineSplitter } from "./line-splitter.ts";
import { TimeSlice } from "../time-slice.ts";

const CHUNK_BYTES = 256 * 1024;
/** The file is polled as well, every `POLL_MS`, because notifications can be missing or late. */
const POLL_MS = 100;

export class LineTail {
  readonly #fd: number;
  readonly #onLine: (line: string) => void;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  readonly #watcher: FSWatcher | null;
  readonly #timer: NodeJS.Timeout;
  readonly #onDropped: (length: number) => void;
  #splitter: LineSplitter;
  #offset = 0;
  #reading = false;
  #isClosed = false;

  /** `onDropped` is called for a line that is too long to keep. */
  constructor(file: string, onLine: (line: string) => void, onDropped: (length: number) => void = () => {}) {
    this.#fd = openSync(file, "r");
    this.#onLine = onLine;
    this.#onDropped = onDropped;
    this.#splitter = new LineSplitter(onLine, onDropped);
    this.#watcher = watchQuietly(file, () => this.read());
    this.#timer = setInterval(() => this.read(), POLL_MS);
  }

  get offset(): number {
    return this.#offset;
  }

  /** If there are very many new lines, `read` reads the rest after other work has had its turn. */
  read(): void {
    const slice = new TimeSlice();
    if (!this.#readUntil(() => slice.isOver)) setImmediate(() => this.read());
  }

  /** Call `finish` when the program has exited: its last line may have no line break. */
  finish(): void {
    this.#readUntil(() => false);
    this.#splitter.flush();
    this.#splitter = new LineSplitter(this.#onLine, this.#onDropped);
  }

  /**
   * Returns whether it read the whole file. Ignores nested calls: `#onLine` may call `read`, and the outer call reads
   * everything in any case.
   */
  #readUntil(isOver: () => boolean): boolean {
    if (this.#reading || this.#isClosed) return true;
    this.#reading = true;
    try {
      while (!isOver()) {
        const length = readSync(this.#fd, this.#buffer, 0, CHUNK_BYTES, this.#offset);
        if (length === 0) return true;
        this.#offset += length;
        this.#splitter.push(this.#buffer.subarray(0, length));
      }
      return false;
    } finally {
      this.#reading = false;
    }
  }

  close(): void {
    this.#isClosed = true;
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
