import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { clock, drawBoard } from "../../src/cli/terminal/board.ts";
import { planTree } from "../../src/cli/terminal/plan-tree.ts";
import { Screen, type DrawnLine, type Terminal } from "../../src/cli/terminal/screen.ts";
import { cutTo, textWidth } from "../../src/cli/terminal/text-width.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Task } from "../../src/schema/task.ts";
import type { Worker } from "../../src/schema/worker.ts";

const task = (id: string, ...dependencies: string[]): Task => ({
  id,
  title: `Title of ${id}`,
  description: "d",
  scope: [],
  priority: 5,
  dependencies,
});

const NONE = { inputTokens: 0, outputTokens: 0, usd: 0 };
const worker = (status: Worker["status"], more: Partial<Worker> = {}): Worker =>
  ({
    status,
    startedAt: 0,
    completedAt: null,
    usage: NONE,
    progress: 0,
    currentAction: null,
    attempt: 1,
    error: null,
    outputFiles: [],
    ...more,
  }) as unknown as Worker;

const runOf = (tasks: Task[], workers: Record<string, Worker>, more: Partial<Run> = {}): Run =>
  ({
    tasks,
    workers,
    skipped: {},
    blocked: {},
    inbox: {},
    status: "running",
    outcome: null,
    currentPhase: "workerExecution",
    main: null,
    usage: { inputTokens: 12_000, outputTokens: 345, usd: 0.1234 },
    startedAt: 0,
    completedAt: null,
    ...more,
  }) as unknown as Run;

const draw = (run: Run, columns = 120, rows = 30): string[] =>
  drawBoard(run, null, 65_000, { columns, rows }, (_, text) => text).map(({ text, plain }) => {
    expect(text).toBe(plain);
    expect(textWidth(plain)).toBeLessThan(columns);
    return plain;
  });

describe("planTree", () => {
  it("puts each task below the last of its dependencies, and keeps tasks that form a cycle", () => {
    const lines = planTree([task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"), task("e")]);
    expect(lines.map(({ stem, task: { id } }) => stem + id)).toEqual([
      "  ├ a",
      "  │ ├ b",
      "  │ └ c",
      "  │   └ d",
      "  └ e",
    ]);
    expect(lines.map(({ alsoAfter }) => alsoAfter)).toEqual([[], [], [], ["b"], []]);
    expect(planTree([task("x", "y"), task("y", "x")]).map(({ task: { id } }) => id)).toEqual(["x", "y"]);
  });
});

describe("drawBoard", () => {
  it("shows a summary line, and for each task its state, action and duration", () => {
    const tasks = [task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"), task("e"), task("f", "e")];
    const run = runOf(
      tasks,
      {
        a: worker("completed", { completedAt: 20_000, outputFiles: ["x"], usage: { ...NONE, usd: 0.05 } }),
        b: worker("running", { startedAt: 20_000, progress: 40, currentAction: "writing\u001b[2J docs/b.md" }),
        e: worker("failed", { completedAt: 5000, error: "no luck" }),
      },
      { blocked: { f: ["e"] } },
    );
    expect(draw(run)).toEqual([
      "working  1/6 tasks  1:05  12.3k tokens  $0.12  critical path: 2 left ≈ 0:40",
      "  ├ ✔ a  Title of a  0:20  1 file  $0.05",
      "  │ ├ ▶ b  Title of b  0:45  40 %  writing [2J docs/b.md",
      "  │ └ · c  Title of c",
      "  │   └ · d  Title of d  also after b",
      "  └ ✗ e  Title of e  no luck  0:05",
      "    └ ⊘ f  Title of f  needs e",
    ]);
  });

  it("shows active and failed tasks, and the number of hidden ones, if there are more tasks than rows", () => {
    const tasks = Array.from({ length: 40 }, (_, i) => task(`t${i}`));
    const lines = draw(runOf(tasks, { t30: worker("running"), t39: worker("failed") }), 80, 10);
    expect(lines).toHaveLength(9);
    expect(lines.join("\n")).toMatch(/▶ t30 [^]*✗ t39 [^]*and 33 more/);
  });

  it("fits into any width, also with wide characters", () => {
    const tasks = [{ ...task("a"), title: "日本語の長い題名がここに書いてある".repeat(4) }];
    for (const columns of [6, 10, 24, 61])
      draw(runOf(tasks, { a: worker("running", { currentAction: "書く".repeat(60) }) }), columns);
    expect([textWidth("a日🎭é"), cutTo("日本語", 4), cutTo("abc", 3)]).toEqual([6, "日…", "abc"]);
    expect([clock(7000), clock(3_723_000), clock(-5)]).toEqual(["0:07", "1:02:03", "0:00"]);
  });
});

/** Interprets only the escape sequences that `Screen` writes. */
class Emulator extends EventEmitter implements Terminal {
  columns = 20;
  rows = 10;
  lines = [""];
  row = 0;
  cursor = true;

  write(text: string): void {
    for (const [part, code, kind] of text
      .replaceAll("\u001b", "⎋")
      .matchAll(/⎋\[([?\d]*)([A-Za-z])|\r|\n|[^⎋\r\n]+/g)) {
      if (kind === "A") this.row -= Number(code);
      else if (kind === "J") this.lines = [...this.lines.slice(0, this.row), ""];
      else if (kind === "h" || kind === "l") this.cursor = code === "?25" ? kind === "h" : this.cursor;
      else if (part === "\n") this.lines[++this.row] ??= "";
      else if (part !== "\r") this.lines[this.row] += part;
    }
  }
}

const lines = (...texts: string[]): DrawnLine[] => texts.map((text) => ({ text, plain: text }));

describe("Screen", () => {
  it("stays below printed lines, redraws in place, hides during a question, and shows the cursor again at the end", () => {
    const terminal = new Emulator();
    const listening = process.listenerCount("exit");
    let shown = lines("one", "two");
    const screen = new Screen(terminal, () => shown);
    expect([terminal.lines, terminal.cursor]).toEqual([["one", "two", ""], false]);
    screen.above("said\n");
    shown = lines("three");
    screen.above("more\n");
    expect(terminal.lines).toEqual(["said", "more", "three", ""]);
    screen.hide();
    expect([terminal.lines, terminal.cursor]).toEqual([["said", "more", ""], true]);
    terminal.write("yes or no? y\n");
    screen.show();
    expect(terminal.lines).toEqual(["said", "more", "yes or no? y", "three", ""]);
    screen.close({ keep: true });
    screen.above("end\n");
    expect([terminal.lines, terminal.cursor]).toEqual([["said", "more", "yes or no? y", "three", "end", ""], true]);
    expect([terminal.listenerCount("resize"), process.listenerCount("exit")]).toEqual([0, listening]);
  });

  it("erases all rows after the terminal became narrower and wrapped its lines", () => {
    const terminal = new Emulator();
    const screen = new Screen(terminal, ({ columns }) => lines("x".repeat(columns - 1)));
    terminal.columns = 10;
    terminal.lines = ["x".repeat(10), "x".repeat(9), ""];
    terminal.row = 2;
    terminal.emit("resize");
    expect(terminal.lines).toEqual(["x".repeat(9), ""]);
    screen.close({ keep: false });
    expect(terminal.lines).toEqual([""]);
  });

  it("is never higher than the terminal", () => {
    const terminal = new Emulator();
    terminal.rows = 4;
    const screen = new Screen(terminal, () => lines("1", "2", "3", "4", "5"));
    expect(terminal.lines).toEqual(["1", "2", "3", ""]);
    screen.close({ keep: false });
  });
});
