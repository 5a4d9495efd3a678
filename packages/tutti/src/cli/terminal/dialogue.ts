// `UserDialogue` asks the user on the last line of the screen, which stays there while events are printed above.
//
// Invariants
// 1. At most one question is open. Another one waits until it is answered.
// 2. A question opens at once if no other is open, so keys that were typed ahead reach it.
import type { Paint } from "./board.ts";
import { endOfInput, prompt, promptUntil } from "./ask.ts";
import { Keyboard } from "./keyboard.ts";
import type { DrawnLine } from "./screen.ts";
import { cutTo, textWidth } from "./text-width.ts";

const ESCAPE = "\u001b";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];

/** Null after Escape, and once `until` resolves, because the question is settled elsewhere. */
type Reply = Promise<string | null>;

export interface UserDialogue {
  askKey: (question: string, keys: string, until?: Promise<unknown>) => Reply;
  askLine: (question: string, until?: Promise<unknown>) => Reply;
  /** `onKey` gets the keys that no question takes; null keeps them for the next question. `hint` names these keys. */
  listen(onKey: ((key: string) => void) | null, hint?: string): void;
  /** Lends the terminal to another program, such as an editor, while `work` runs. */
  suspend<T>(work: () => Promise<T>): Promise<T>;
  draw(columns: number, paint: Paint): DrawnLine[];
  close(): void;
}

interface OpenQuestion {
  words: string;
  typed: string;
  take(key: string): void;
  closed: Promise<unknown>;
}

interface DialogueScreen {
  redraw(): void;
  hide(): void;
  show(): void;
  /** Prints the question with its answer as a line that stays, unlike `redraw`. */
  keep(line: string): void;
}

export function openDialogue(screen: DialogueScreen): UserDialogue {
  const keyboard = new Keyboard();
  const now: { open: OpenQuestion | null } = { open: null };
  let onKey: ((key: string) => void) | null = null;
  let hint = "";
  let isClosed = false;
  const update = () => {
    if (isClosed) return;
    keyboard.listen(now.open ? (key) => now.open?.take(key) : onKey);
    screen.redraw();
  };

  async function ask(words: string, readKey: (question: Asked, key: string) => void, until?: Promise<unknown>): Reply {
    while (now.open) await now.open.closed;
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    until?.then(() => resolve(null), reject);
    const closed = promise.catch(() => {});
    const question: OpenQuestion = {
      words,
      typed: "",
      closed,
      take: (key) => readKey({ ...controls, typed: question.typed }, key),
    };
    const settle = () => {
      now.open = null;
      // Keys that were typed ahead wait for the caller, which may ask another question.
      keyboard.listen(null);
    };
    const controls = {
      type: (text: string) => {
        question.typed = text;
        screen.redraw();
      },
      answer: (text: string | null) => {
        settle();
        if (text !== null) screen.keep(`${words}${text}`);
        resolve(text);
      },
      fail: (error: Error) => {
        settle();
        reject(error);
      },
    };
    now.open = question;
    update();
    try {
      return await promise;
    } finally {
      if (now.open === question) settle();
      // The caller continues first. If it asks again, `update` gives the keys to that question.
      setImmediate(update);
    }
  }

  keyboard.open();
  return {
    askKey: (words, keys, until) =>
      ask(
        words,
        ({ answer, fail }, key) => {
          if (key === ESCAPE) answer(null);
          else if (key === CTRL_D) fail(endOfInput());
          else if (keys.includes(key.toLowerCase())) answer(key.toLowerCase());
        },
        until,
      ),
    askLine: (words, until) => ask(words, editLine, until),
    listen(listener, words = "") {
      onKey = listener;
      hint = words;
      if (!now.open) update();
    },
    async suspend(work) {
      keyboard.close();
      screen.hide();
      try {
        return await work();
      } finally {
        screen.show();
        if (!isClosed) keyboard.open();
      }
    },
    draw(columns, paint) {
      if (!now.open) {
        const line = cutTo(hint, columns - 1);
        return line === "" || onKey === null ? [] : [{ plain: line, text: paint("dim", line) }];
      }
      const line = endOf(`${now.open.words}${now.open.typed}`, columns - 1);
      return [{ plain: line, text: line, hasCursor: true }];
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      now.open = null;
      onKey = null;
      keyboard.listen(null);
      keyboard.close();
    },
  };
}

interface Asked {
  typed: string;
  type: (text: string) => void;
  answer: (text: string | null) => void;
  fail: (error: Error) => void;
}

function editLine({ typed, type, answer, fail }: Asked, key: string): void {
  if (ENTER.includes(key)) answer(typed);
  else if (key === ESCAPE) answer(null);
  else if (key === CTRL_D && typed === "") fail(endOfInput());
  else if (BACKSPACE.includes(key)) type(typed.replace(/.$/u, ""));
  else if (key === CTRL_U) type("");
  else if (!/\p{Cc}/u.test(key)) type(typed + key);
}

function endOf(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  for (const sign of Array.from(text).toReversed()) {
    if (textWidth(kept) + textWidth(sign) > columns - 1) break;
    kept = sign + kept;
  }
  return `…${kept}`;
}

/**
 * Asks with whole lines on a terminal that cannot move its cursor. Unlike `openDialogue`, has no keys outside of
 * questions.
 */
export function openPlainDialogue(signal: AbortSignal): UserDialogue {
  const askLine = (question: string, until?: Promise<unknown>) =>
    until ? promptUntil(question, signal, until) : prompt(question, signal);
  return {
    askLine,
    async askKey(question, keys, until) {
      for (;;) {
        const key = (await askLine(question, until))?.trim().charAt(0).toLowerCase();
        if (key === undefined) return null;
        if (key !== "" && keys.includes(key)) return key;
      }
    },
    listen: () => {},
    suspend: (work) => work(),
    draw: () => [],
    close: () => {},
  };
}
