// One turn as its transcript shows it: what is new in it, and when it is over. Pure, but for the clock that is passed in.
//
// Invariants
// 1. Only what the assistant says is told, each message once, and only what came after the prompt.
// 2. A turn is over when the page says that the session is at rest; where it cannot say, when the answer that was asked
//    for is there, or when nothing has changed for a long time after the assistant's last word.
import { boundedInput, boundedText, shortName } from "./read-page.ts";
import type { Place } from "../../polled-journal.ts";
import { holdsAnswer, unread } from "../../polled-turn.ts";
import { readMessages, type ControllerMessage } from "../../session-controller.ts";
import type { Phase } from "../../../schema/status.ts";

/** What was asked for, as far as it says how the answer looks. */
export interface Asked {
  phase: Phase;
  delimiterStart: string;
  delimiterEnd: string;
}

export interface Look {
  /** Whether the session is at work, or null if the page does not say. */
  busy: boolean | null;
  /** Whether it waits for a person. */
  waits: boolean;
  transcript: unknown;
}

export type Tell = (line: object) => void;

/** The page has said that the session rests; the transcript may follow a moment later. */
const REST_MS = 300;
/** Nobody says whether the session is at work: so long nothing has changed. */
const SETTLE_MS = 10_000;
/** The same after a tool was called, which may take its time. */
const TOOL_SETTLE_MS = 120_000;
/** A session that rests, and has not even begun after this time, has not taken the message. */
const SILENCE_MS = 60_000;

/** The turn has failed, and looking again would not help. */
export class TurnFault extends Error {}

export class TurnWatch {
  readonly #asked: Asked;
  readonly #tell: Tell;
  #place: Place;
  #begun = false;
  #answered = false;
  #shape = "";
  #shapeSince: number;

  constructor(asked: Asked, place: Place, now: number, tell: Tell) {
    this.#asked = asked;
    this.#place = place;
    this.#shapeSince = now;
    this.#tell = tell;
  }

  /** How far the transcript has been read. */
  get place(): Place {
    return this.#place;
  }

  /** Tells what is new. Whether the turn is over; if it cannot say yet, in how many milliseconds it could. */
  take({ busy, waits, transcript }: Look, interrupted: boolean, now: number): { over: boolean; againMs: number } {
    const messages = readMessages(transcript);
    const fresh = unread(messages, this.#place);
    const spoken = fresh.filter(({ message }) => message.role === "assistant");
    this.#answered ||= spoken.some(({ message }) => holdsAnswer(message.text, this.#asked));
    this.#begun ||= busy === true || spoken.length > 0 || interrupted;
    const restMs = this.#restMs(busy, waits, interrupted, messages.at(-1));
    const quietMs = this.#quietMs(messages, busy, now);
    const over = quietMs >= restMs;
    for (const { message, count, isLast } of fresh) {
      // The last message may still grow.
      if (isLast && !over) break;
      if (message.role === "assistant") this.#pass(message);
      this.#place = { count, key: message.key };
    }
    if (over && !this.#begun) throw new TurnFault("the session rests, and has not answered the message it was sent");
    return { over, againMs: restMs - quietMs };
  }

  /** How long nothing may have changed for the turn to be over. */
  #restMs(busy: boolean | null, waits: boolean, interrupted: boolean, last: ControllerMessage | undefined): number {
    if (waits || busy === true) return Infinity;
    if (busy === false) return this.#begun ? REST_MS : SILENCE_MS;
    if (this.#answered) return 0;
    if (interrupted) return SETTLE_MS;
    if (!this.#begun || last?.role !== "assistant") return TOOL_SETTLE_MS;
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
    for (const { name, input } of tools)
      this.#tell({ type: "tool", name: shortName(name), input: boundedInput(input) });
    if (text !== "") this.#tell({ type: "assistant", text: boundedText(text) });
  }
}

/** The end of a transcript: what was said before a prompt does not answer it. */
export function endOf(transcript: unknown): Place {
  const messages = readMessages(transcript);
  return { count: messages.length, key: messages.at(-1)?.key ?? null };
}
