// `Keyboard` reads single keys of the terminal without Enter and without an echo.
import { openStdin } from "./stdin.ts";

const ESC = "\u001b";
/** Matches an escape sequence, as of an arrow key, or one character. */
const KEY = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|O.)|[^]`, "gu");
const CTRL_C = "\u0003";
const MAX_QUEUED = 10_000;

export class Keyboard {
  #listener: ((key: string) => void) | null = null;
  #queued: string[] = [];
  readonly #onData = (text: string) => {
    for (const [key] of text.matchAll(KEY)) {
      // In raw mode the terminal sends no signal.
      if (key === CTRL_C) process.kill(process.pid, "SIGINT");
      else if (this.#queued.length < MAX_QUEUED) this.#queued.push(key);
    }
    this.#flush();
  };

  open(): void {
    const stdin = openStdin();
    stdin.setRawMode(true);
    stdin.setEncoding("utf8").on("data", this.#onData).resume();
  }

  close(): void {
    process.stdin.off("data", this.#onData).pause();
    process.stdin.setRawMode(false);
  }

  /** Without a `listener`, keys stay in `#queued` for the next one. */
  listen(listener: ((key: string) => void) | null): void {
    this.#listener = listener;
    this.#flush();
  }

  #flush(): void {
    while (this.#listener && this.#queued.length > 0) this.#listener(this.#queued.shift()!);
  }
}
