// `Screen`: the part of a terminal that is redrawn in place, below the lines that stay.
//
// Invariants
// 1. Each update is one write, so that the terminal never shows half a drawing.
// 2. The cursor is hidden only while the screen is open and no question is, and comes back however the process ends.
// 3. No line is wider than the terminal, so a drawing takes as many rows as it has lines.
import { textWidth } from "./text-width.ts";

const ESC = "\u001b[";
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const ERASE_BELOW = `${ESC}0J`;
/** Calls of `changed` within this time share one drawing. */
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

/** `text` may contain colours; `plain` is the same line without them, for measuring. */
export interface DrawnLine {
  text: string;
  plain: string;
  /** Only of the last line: the user types at its end, so `SHOW_CURSOR` is written there. */
  hasCursor?: true;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #draw: (size: Size) => DrawnLine[];
  readonly #onResize = () => this.redraw();
  readonly #onExit = () => this.#terminal.write(SHOW_CURSOR);
  #shown: DrawnLine[] = [];
  #state: "open" | "hidden" | "closed" = "open";
  #redrawTimer: NodeJS.Timeout | null = null;
  readonly #tick: NodeJS.Timeout;

  constructor(terminal: Terminal, draw: (size: Size) => DrawnLine[]) {
    this.#terminal = terminal;
    this.#draw = draw;
    this.#tick = setInterval(() => this.redraw(), TICK_MS);
    this.#tick.unref();
    terminal.on("resize", this.#onResize);
    process.once("exit", this.#onExit);
    this.redraw();
  }

  changed(): void {
    if (this.#state !== "open" || this.#redrawTimer !== null) return;
    this.#redrawTimer = setTimeout(() => {
      this.#redrawTimer = null;
      this.redraw();
    }, REDRAW_MS);
  }

  above(text: string): void {
    if (this.#state !== "open") return void this.#terminal.write(text);
    this.#write(`${this.#eraseSequence()}${text}`);
  }

  /** Makes room for another program; `show` draws again. */
  hide(): void {
    if (this.#state !== "open") return;
    this.#terminal.write(`${BEGIN}${this.#eraseSequence()}${SHOW_CURSOR}${END}`);
    this.#shown = [];
    this.#state = "hidden";
  }

  show(): void {
    if (this.#state !== "hidden") return;
    this.#state = "open";
    this.redraw();
  }

  /** `keep` leaves the last drawing as ordinary lines; otherwise it is erased. */
  close({ keep }: { keep: boolean }): void {
    if (this.#state === "closed") return;
    if (this.#state === "open") {
      if (keep) this.redraw();
      this.#terminal.write(`${BEGIN}${keep ? "" : this.#eraseSequence()}${SHOW_CURSOR}${END}`);
    }
    this.#state = "closed";
    clearInterval(this.#tick);
    if (this.#redrawTimer !== null) clearTimeout(this.#redrawTimer);
    this.#terminal.off("resize", this.#onResize);
    process.off("exit", this.#onExit);
  }

  #size(): Size {
    return { columns: this.#terminal.columns || 80, rows: this.#terminal.rows || 24 };
  }

  redraw(): void {
    if (this.#state === "open") this.#write(this.#eraseSequence());
  }

  #write(prefix: string): void {
    const { columns, rows } = this.#size();
    this.#shown = this.#draw({ columns, rows }).slice(0, Math.max(1, rows - 1));
    const body = this.#shown.map(({ text, hasCursor }) => (hasCursor ? text : `${text}\n`)).join("");
    this.#terminal.write(`${BEGIN}${HIDE_CURSOR}${prefix}${body}${this.#hasCursor() ? SHOW_CURSOR : ""}${END}`);
  }

  /** Moves to the first row of `#shown` and erases it. A terminal that became narrower has wrapped these lines. */
  #eraseSequence(): string {
    const { columns } = this.#size();
    const rows = this.#shown.reduce((sum, { plain }) => sum + Math.max(1, Math.ceil(textWidth(plain) / columns)), 0);
    const above = this.#hasCursor() ? rows - 1 : rows;
    return `\r${above === 0 ? "" : `${ESC}${above}A`}${ERASE_BELOW}`;
  }

  #hasCursor(): boolean {
    return this.#shown.at(-1)?.hasCursor ?? false;
  }
}
