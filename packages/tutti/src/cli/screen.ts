// A part of a terminal that is drawn again in place, below the lines that stay.
//
// Invariants
// 1. Whatever is written goes out as one piece, so that nothing half drawn is ever seen.
// 2. The cursor is hidden only while the part is drawn, and is back however the process ends.
// 3. No line of the part is wider than the terminal, so it always takes as many rows as it has lines.
import { textWidth } from "./text-width.ts";

const ESC = "\u001b[";
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const ERASE_BELOW = `${ESC}0J`;
/** Often enough to be seen as live, seldom enough to cost nothing. */
const REDRAW_MS = 100;
const TICK_MS = 1000;

export interface Terminal {
  columns: number;
  rows: number;
  write(text: string): unknown;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

export interface Size {
  columns: number;
  rows: number;
}

/** A line as it is drawn, and as plain text for measuring it. */
export interface DrawnLine {
  text: string;
  plain: string;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #draw: (size: Size) => DrawnLine[];
  readonly #onResize = () => this.#redraw();
  readonly #onExit = () => this.#terminal.write(SHOW_CURSOR);
  #shown: DrawnLine[] = [];
  #state: "open" | "hidden" | "closed" = "open";
  #soon: NodeJS.Timeout | null = null;
  readonly #tick: NodeJS.Timeout;

  constructor(terminal: Terminal, draw: (size: Size) => DrawnLine[]) {
    this.#terminal = terminal;
    this.#draw = draw;
    this.#tick = setInterval(() => this.#redraw(), TICK_MS);
    this.#tick.unref();
    terminal.on("resize", this.#onResize);
    process.once("exit", this.#onExit);
    this.#redraw();
  }

  /** Something has changed; many changes at once are one drawing. */
  changed(): void {
    if (this.#state !== "open" || this.#soon !== null) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      this.#redraw();
    }, REDRAW_MS);
  }

  /** Lines that stay, above the part. */
  above(text: string): void {
    if (this.#state !== "open") return void this.#terminal.write(text);
    this.#write(`${this.#erased()}${text}`);
  }

  /** Takes the part away, so that the person can be asked something; `show` brings it back. */
  hide(): void {
    if (this.#state !== "open") return;
    this.#terminal.write(`${BEGIN}${this.#erased()}${SHOW_CURSOR}${END}`);
    this.#shown = [];
    this.#state = "hidden";
  }

  show(): void {
    if (this.#state !== "hidden") return;
    this.#state = "open";
    this.#redraw();
  }

  /** The last drawing stays as ordinary lines if it is to be kept, and is taken away otherwise. */
  close({ keep }: { keep: boolean }): void {
    if (this.#state === "closed") return;
    if (this.#state === "open") {
      if (keep) this.#redraw();
      this.#terminal.write(`${BEGIN}${keep ? "" : this.#erased()}${SHOW_CURSOR}${END}`);
    }
    this.#state = "closed";
    clearInterval(this.#tick);
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#terminal.off("resize", this.#onResize);
    process.off("exit", this.#onExit);
  }

  /** A terminal that does not know its size says 0. */
  #size(): Size {
    return { columns: this.#terminal.columns || 80, rows: this.#terminal.rows || 24 };
  }

  #redraw(): void {
    if (this.#state === "open") this.#write(this.#erased());
  }

  #write(before: string): void {
    const { columns, rows } = this.#size();
    this.#shown = this.#draw({ columns, rows }).slice(0, Math.max(1, rows - 1));
    const body = this.#shown.map(({ text }) => `${text}\n`).join("");
    this.#terminal.write(`${BEGIN}${HIDE_CURSOR}${before}${body}${END}`);
  }

  /** To the first row of what was drawn. A terminal that became narrower has broken its lines into several rows. */
  #erased(): string {
    const { columns } = this.#size();
    const rows = this.#shown.reduce((sum, { plain }) => sum + Math.max(1, Math.ceil(textWidth(plain) / columns)), 0);
    return `\r${rows === 0 ? "" : `${ESC}${rows}A`}${ERASE_BELOW}`;
  }
}
