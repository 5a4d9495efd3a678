// Converts signals to transcript entries, with texts truncated to MAX_TEXT.
import type { SessionSignal } from "../session.ts";
import type { TranscriptEntry } from "../../schema/transcript.ts";

/** In characters, per text. */
export const MAX_TEXT = 256 * 1024;

export type Entry = TranscriptEntry extends infer E ? (E extends TranscriptEntry ? Omit<E, "n"> : never) : never;

/** Null for signals that a transcript does not show. `promptOf` returns the prompt of a turn. */
export function toEntry(signal: SessionSignal, promptOf: (turn: number) => string | null): Entry | null {
  switch (signal.type) {
    case "sent": {
      const text = promptOf(signal.turn);
      return text === null ? null : { type: "prompt", turn: signal.turn, ...cut(text) };
    }
    case "text":
      return signal.text === "" ? null : { type: "text", ...cut(signal.text) };
    case "tool":
      return { ...signal, name: cut(signal.name).text, ...cutInput(signal.input) };
    case "toolFailed": {
      const { text: error, ...more } = cut(signal.error);
      return { ...signal, error, ...more };
    }
    case "ask": {
      const { type, askId, question, options, permission } = signal;
      const { text, ...more } = cut(question);
      return { type, askId, question: text, ...(options && { options }), ...(permission && { permission }), ...more };
    }
    case "subagent":
      return { ...signal, ...(signal.text === null ? { text: null } : cut(signal.text)) };
    case "trouble":
    case "stalled": {
      const { text: detail, ...more } = cut(signal.detail);
      return { ...signal, detail, ...more };
    }
    case "unstartable": {
      const { text: error, ...more } = cut(signal.error);
      return { type: signal.type, error, ...more };
    }
    case "turnOver": {
      const { text: detail, ...more } = cut(signal.ending.detail);
      return { ...signal, ending: { ...signal.ending, detail }, ...more };
    }
    case "agent":
    case "usage":
    case "askCancelled":
    case "interrupted":
      return signal;
    // The run's log shows it, because it ends the attempt.
    case "forged":
    case "ready":
    case "partial":
    case "caughtUp":
    case "gone":
      return null;
  }
}

/** Appends the next piece of a text. */
export function extend(entry: Extract<Entry, { type: "text" }>, more: string): void {
  const room = MAX_TEXT - entry.text.length;
  const { text, omitted = 0 } = cut(more, room);
  entry.text += text;
  if (omitted > 0) entry.omitted = (entry.omitted ?? 0) + omitted;
}

function cut(text: string, most = MAX_TEXT): { text: string; omitted?: number } {
  if (text.length <= most) return { text };
  // Do not split a surrogate pair.
  const end = isHigh(text, most - 1) ? most - 1 : most;
  return { text: text.slice(0, end), omitted: text.length - end };
}

const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;

/** An input that is too long becomes the beginning of its JSON text. */
function cutInput(input: unknown): { input: unknown; omitted?: number } {
  const json = JSON.stringify(input) ?? "";
  if (json.length <= MAX_TEXT) return { input };
  const { text, ...more } = cut(json);
  return { input: text, ...more };
}
