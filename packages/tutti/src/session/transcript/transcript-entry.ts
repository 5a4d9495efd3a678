// Converts signals to transcript entries. A text longer than MAX_TEXT loses its middle.
import { HeadAndTail } from "../lines/head-and-tail.ts";
import type { SessionSignal } from "../session.ts";
import type { TranscriptEntry } from "../../schema/transcript.ts";

/** In characters, per text, without the notice in the place of its middle. */
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
    case "toolResult":
      return { ...signal, ...cut(signal.text) };
    case "ask": {
      const { type, askId, question, options, permission } = signal;
      const { text, ...more } = cut(question);
      return { type, askId, question: text, ...(options && { options }), ...(permission && { permission }), ...more };
    }
    case "report": {
      const { input: data, ...more } = cutInput(signal.data);
      return { type: signal.type, phase: signal.phase, data, ...more };
    }
    case "other": {
      const { input: message, ...more } = cutInput(signal.message);
      return { type: signal.type, message, ...more };
    }
    case "steered":
      return { ...signal, ...cut(signal.text) };
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
    // The run's log shows these, because they end the attempt.
    case "forged":
    case "tooMuchOutput":
    case "suspended":
    case "revived":
    case "ready":
    case "partial":
    case "caughtUp":
    case "gone":
      return null;
  }
}

export function newText(text: string): HeadAndTail {
  const kept = new HeadAndTail(MAX_TEXT / 2);
  kept.push(text);
  return kept;
}

export function shownText(kept: HeadAndTail): { text: string; omitted?: number } {
  const { omitted } = kept.parts();
  return { text: kept.text(), ...(omitted > 0 ? { omitted } : {}) };
}

const cut = (text: string): { text: string; omitted?: number } =>
  text.length <= MAX_TEXT ? { text } : shownText(newText(text));

/** In `cutInput`, an input that is too long becomes the beginning and the end of its JSON text. */
function cutInput(input: unknown): { input: unknown; omitted?: number } {
  const json = JSON.stringify(input) ?? "";
  if (json.length <= MAX_TEXT) return { input };
  const { text, ...more } = cut(json);
  return { input: text, ...more };
}
