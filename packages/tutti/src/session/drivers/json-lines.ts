// The line protocol of `command:` agents: one JSON object per line in both directions.
import { StringDecoder } from "node:string_decoder";
import type { Decoded, Decoder } from "../driver.ts";
import type { Turn } from "../session.ts";

/** A longer line is dropped and said so: an agent must not be able to fill our memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export const encodeUser = (turn: Turn, more: object = {}): string =>
  `${JSON.stringify({ type: "user", id: `turn-${turn.number}`, text: turn.text, phase: turn.phase, ...more })}\n`;

export const encodeAnswer = (id: string, text: string): string => `${JSON.stringify({ type: "answer", id, text })}\n`;

export const encodeInterrupt = (): string => `${JSON.stringify({ type: "interrupt" })}\n`;

export class JsonLinesDecoder implements Decoder {
  readonly #utf8 = new StringDecoder("utf8");
  #line = "";
  #dropping = false;
  #plainOpen = false;

  push(bytes: Uint8Array): Decoded[] {
    const decoded: Decoded[] = [];
    const parts = this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).split("\n");
    for (const [i, part] of parts.entries()) {
      if (i > 0) decoded.push(...this.#endLine());
      this.#extend(part);
    }
    return decoded;
  }

  flush(): Decoded[] {
    this.#extend(this.#utf8.end());
    const rest = this.#line === "" ? [] : this.#endLine();
    return [...rest, ...this.#endPlain()];
  }

  #extend(part: string): void {
    if (this.#dropping) return;
    this.#line += part;
    this.#dropping = this.#line.length > MAX_LINE_BYTES;
  }

  #endLine(): Decoded[] {
    const line = this.#line;
    const dropped = this.#dropping;
    this.#line = "";
    this.#dropping = false;
    if (dropped) return [{ type: "partial", text: `[a line of more than ${MAX_LINE_BYTES} bytes was dropped]` }];
    return line.trim() === "" && !this.#plainOpen ? [] : this.#decodeLine(line);
  }

  /** Lines that are no messages form one text together, until a message or the end. */
  #decodeLine(line: string): Decoded[] {
    const message = readMessage(line);
    if (message === null) {
      this.#plainOpen = true;
      return [{ type: "text", text: `${line}\n`, complete: false }];
    }
    return [...this.#endPlain(), ...decodeMessage(message)];
  }

  #endPlain(): Decoded[] {
    if (!this.#plainOpen) return [];
    this.#plainOpen = false;
    return [{ type: "text", text: "", complete: true }];
  }
}

/** A message is an object with a type; everything else is text. */
function readMessage(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    const typed = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
    return typed ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Unknown types, and known ones without their members, stay in the transcript and mean nothing. */
function decodeMessage(message: Record<string, unknown>): Decoded[] {
  const { type, text, name, id, question, options, error } = message;
  switch (type) {
    case "assistant":
      if (typeof text !== "string") return [];
      return message["partial"] === true ? [{ type: "partial", text }] : [{ type: "text", text, complete: true }];
    case "tool":
      return typeof name === "string" ? [{ type: "tool", name, input: message["input"] ?? null }] : [];
    case "usage": {
      const usage = {
        inputTokens: count(message["inputTokens"]),
        outputTokens: count(message["outputTokens"]),
        usd: count(message["usd"]),
      };
      return [{ type: "usage", usage }];
    }
    case "ask": {
      if (typeof id !== "string" || typeof question !== "string") return [];
      const texts = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
      return [{ type: "ask", askId: id, question, ...(texts.length > 0 ? { options: texts } : {}) }];
    }
    case "turn_end":
      return [{ type: "turnEnd", error: typeof error === "string" ? error : null }];
    default:
      return [];
  }
}

/** Numbers from outside: anything that is not a finite count is nothing. */
const count = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, MAX_COUNT) : 0;
/** Sums of these stay numbers. */
const MAX_COUNT = 1e12;
