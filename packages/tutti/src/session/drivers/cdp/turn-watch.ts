// `TurnWatch` detects new messages and the end of a turn in a transcript.
//
// Invariants
// 1. Only assistant messages after the prompt are passed on, each once.
// 2. A turn ends when the page reports that the session is idle. If the page does not report it, the turn ends with the
//    expected answer, or when the transcript has not changed for long after the last assistant message.
import { boundedInput, boundedText, shortName } from "./read-page.ts";
import type { JournalPosition } from "../../polled/polled-journal.ts";
import { holdsAnswer, unread, type ExpectedAnswer } from "../../polled/polled-turn.ts";
import { readMessages, type ControllerMessage } from "../../polled/session-controller.ts";

export interface PageState {
  /** Null if the page does not report it. */
  busy: boolean | null;
  /** `waits` means that a permission request is pending. */
  waits: boolean;
  transcript: unknown;
}

export type EmitLine = (line: object) => void;

/** The transcript of an idle session may be updated up to `REST_MS` later. */
const REST_MS = 300;
/** If the page does not report whether it is busy, a turn is over after `SETTLE_MS` without a change. */
const SETTLE_MS = 10_000;
/** After a tool call `TOOL_SETTLE_MS` applies, because tools may run for long. */
const TOOL_SETTLE_MS = 120_000;
/** An idle session that has not started after `SILENCE_MS` has lost the message. */
const SILENCE_MS = 60_000;

/** A retry after a `TurnFault` is useless. */
export class TurnFault extends Error {}

export class TurnWatch {
  readonly #expected: ExpectedAnswer;
  readonly #emit: EmitLine;
  #place: JournalPosition;
  #started = false;
  #answered = false;
  #shape = "";
  #shapeSince: number;

  constructor(expected: ExpectedAnswer, place: JournalPosition, now: number, emit: EmitLine) {
    this.#expected = expected;
    this.#place = place;
    this.#shapeSince = now;
    this.#emit = emit;
  }

  /** Passes new messages on. `againMs` is the earliest time at which an open turn could be over. */
  take({ busy, waits, transcript }: PageState, interrupted: boolean, now: number): { over: boolean; againMs: number } {
    const messages = readMessages(transcript);
    const fresh = unread(messages, this.#place);
    const spoken = fresh.filter(({ message }) => message.role === "assistant");
    this.#answered ||= spoken.some(({ message }) => holdsAnswer(message.text, this.#expected));
    this.#started ||= busy === true || spoken.length > 0 || interrupted;
    const restMs = this.#restMs(busy, waits, interrupted, messages.at(-1));
    const quietMs = this.#quietMs(messages, busy, now);
    const over = quietMs >= restMs;
    for (const { message, count, isLast } of fresh) {
      // The last message may be incomplete.
      if (isLast && !over) break;
      if (message.role === "assistant") this.#pass(message);
      for (const failure of message.failures) this.#emit({ type: "tool_failed", ...failure });
      this.#place = { count, key: message.key };
    }
    if (over && !this.#started) throw new TurnFault("the session is idle and has not answered the message");
    return { over, againMs: restMs - quietMs };
  }

  /** `#restMs` is the time without a change after which the turn is over. */
  #restMs(busy: boolean | null, waits: boolean, interrupted: boolean, last: ControllerMessage | undefined): number {
    if (waits || busy === true) return Infinity;
    if (busy === false) return this.#started ? REST_MS : SILENCE_MS;
    if (this.#answered) return 0;
    if (interrupted) return SETTLE_MS;
    if (!this.#started || last?.role !== "assistant") return TOOL_SETTLE_MS;
    return last.tools.length > 0 ? TOOL_SETTLE_MS : SETTLE_MS;
  }

  #quietMs(messages: readonly ControllerMessage[], busy: boolean | null, now: number): number {
    const last = messages.at(-1);
    const shape = [busy, messages.length, last?.key, last?.text.length, last?.tools.length].join(" ");
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#shapeSince = now;
    }
    return now - this.#shapeSince;
  }

  #pass({ text, tools }: ControllerMessage): void {
    for (const tool of tools)
      this.#emit({ type: "tool", ...tool, name: shortName(tool.name), input: boundedInput(tool.input) });
    if (text !== "") this.#emit({ type: "assistant", text: boundedText(text) });
  }
}

/** Messages before `endOf(transcript)` cannot answer the next prompt. */
export function endOf(transcript: unknown): JournalPosition {
  const messages = readMessages(transcript);
  return { count: messages.length, key: messages.at(-1)?.key ?? null };
}
