// `JSON_LINES` is the protocol of `command:` agents: one JSON object per line in both directions. Dialogues write the
// same lines.
import { droppedMessage, LineSplitter } from "../lines/line-splitter.ts";
import { ShortenedJson } from "../lines/shortened-json.ts";
import type { Coding, Decoded, Decoder, TurnFailure } from "../driver.ts";
import type { Capabilities } from "../dialogue.ts";
import { parseRecord } from "../json-fields.ts";
import type { Turn } from "../session.ts";
import { FailureCause } from "../../schema/ending.ts";
import { SUBAGENT_ENDS } from "../../schema/status.ts";

export const JSON_LINES: Coding = {
  encodeTurn: (turn) => encodeTurn(turn),
  encodeAnswer: (id, text) => encode({ type: "answer", id, text }),
  encodeInterrupt: () => encode({ type: "interrupt" }),
  decoder: () => new JsonLinesDecoder(),
};

/** `OWN_JSON_LINES` is for agents that are part of Tutti: a turn also contains its template variables. */
export const OWN_JSON_LINES: Coding = {
  ...JSON_LINES,
  encodeTurn: (turn) => encodeTurn(turn, { variables: turn.variables }),
};

const encodeTurn = ({ number, text, phase }: Turn, more: object = {}): string =>
  encode({ type: "user", id: `turn-${number}`, text, phase, ...more });

const encode = (message: object): string => `${JSON.stringify(message)}\n`;

export class JsonLinesDecoder implements Decoder {
  #decoded: Decoded[] = [];
  #plainOpen = false;
  /** Plain lines that `#decoded` does not contain yet. */
  #plain: string[] = [];
  readonly #lines = new LineSplitter(
    (line) => this.#read(line),
    (length) => this.#readDropped(length),
  );

  push(bytes: Uint8Array): Decoded[] {
    this.#lines.push(bytes);
    return this.#take();
  }

  flush(): Decoded[] {
    this.#lines.flush();
    this.#endPlain();
    return this.#take();
  }

  #take(): Decoded[] {
    this.#gatherPlain();
    const decoded = this.#decoded;
    this.#decoded = [];
    return decoded;
  }

  /** Consecutive plain lines form one text, up to the next message or the end. */
  #read(line: string): void {
    // A failed `JSON.parse` is much slower than a successful one, so plain lines are sorted out first.
    const isObject = line.startsWith("{") || OBJECT.test(line);
    if (!isObject && !this.#plainOpen && line.trim() === "") return;
    const short = isObject ? shortenMessage(line) : line;
    if (short === null) return this.#readDropped(line.length);
    const message = isObject ? readMessage(short) : null;
    if (message === null) {
      this.#plainOpen = true;
      this.#plain.push(short, "\n");
      return;
    }
    this.#endPlain();
    this.#decoded.push(decodeMessage(message));
  }

  #readDropped(length: number): void {
    this.#endPlain();
    this.#decoded.push({ type: "text", text: droppedMessage(length), complete: true });
  }

  #endPlain(): void {
    this.#gatherPlain();
    if (this.#plainOpen) this.#decoded.push({ type: "text", text: "", complete: true });
    this.#plainOpen = false;
  }

  /** One signal for all lines, because there may be very many of them. */
  #gatherPlain(): void {
    if (this.#plain.length > 0) this.#decoded.push({ type: "text", text: this.#plain.join(""), complete: false });
    this.#plain = [];
  }
}

type Message = Record<string, unknown>;
const OBJECT = /^\s*\{/;
/** In characters. Unless it is `SAID`, a message longer than `MAX_MESSAGE` loses the middle of its long members. */
const MAX_MESSAGE = 1024 * 1024;
const MAX_MEMBER = 512 * 1024;
const PIECE = 64 * 1024;
/** `SAID` and `SAID_LAST` match a message with the agent's own text. */
const SAID = /^\s*\{\s*"type"\s*:\s*"assistant"/;
const SAID_LAST = /"type"\s*:\s*"assistant"\s*\}\s*$/;

/** Null for a line that is not a JSON object with a `type`; it counts as text. */
function readMessage(line: string): Message | null {
  const message = parseRecord(line);
  return typeof message["type"] === "string" ? message : null;
}

/**
 * Leaves the agent's own text alone, which may contain a large answer. All further work on a message,
 * such as the search for secrets, is one step. Null if the message stays too long.
 */
function shortenMessage(line: string): string | null {
  if (line.length <= MAX_MESSAGE || SAID.test(line.slice(0, 100)) || SAID_LAST.test(line.slice(-100))) return line;
  const shortened = new ShortenedJson(MAX_MESSAGE, MAX_MEMBER);
  for (let from = 0; from < line.length; from += PIECE) shortened.push(line.slice(from, from + PIECE));
  return shortened.end();
}

/** Unknown types and messages without their required members become `other`, which only the transcript has. */
export function decodeMessage(message: Message): Decoded {
  const decoded = decodeBody(message) ?? { type: "other", message };
  const { at } = message;
  return typeof at === "string" && ISO_TIME.test(at) ? { ...decoded, at } : decoded;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

function decodeBody(message: Message): Decoded | null {
  const { type, text, name, id } = message;
  switch (type) {
    case "ready":
      return decodeReady(message);
    case "assistant":
      if (typeof text !== "string") return null;
      return message["partial"] === true ? { type: "partial", text } : { type: "text", text, complete: true };
    case "tool":
      if (typeof name !== "string") return null;
      return { type: "tool", name, input: message["input"] ?? null, ...texts(message, "id", "parent") };
    case "tool_failed":
      return typeof id === "string" ? { type: "toolFailed", id, error: "", ...texts(message, "error") } : null;
    case "tool_result":
      return typeof id === "string" && typeof text === "string" ? { type: "toolResult", id, text } : null;
    case "subagent": {
      const { phase } = message;
      if (typeof id !== "string" || (phase !== "started" && phase !== "done")) return null;
      const status = SUBAGENT_ENDS.find((end) => end === message["status"]);
      const about = { text: null, ...texts(message, "text", "toolId", "parent") };
      return { type: "subagent", id, phase, ...about, ...(status && phase === "done" ? { status } : {}) };
    }
    case "usage": {
      const usage = {
        inputTokens: count(message["inputTokens"]),
        outputTokens: count(message["outputTokens"]),
        usd: count(message["usd"]),
      };
      const [tokens, window] = [count(message["contextTokens"]), count(message["contextWindow"])];
      return { type: "usage", usage, ...(tokens > 0 && { context: { tokens, ...(window > 0 && { window }) } }) };
    }
    case "ask":
      return decodeAsk(message);
    case "steered":
      return typeof id === "string" && typeof text === "string" ? { type: "steered", id, text } : null;
    case "ask_cancelled":
      return typeof id === "string" ? { type: "askCancelled", askId: id } : null;
    case "provider_trouble": {
      const { cause, detail, retryAfterMs } = readFailure(message, message["detail"]);
      return cause ? { type: "trouble", cause, detail, retryAfterMs: retryAfterMs ?? null } : null;
    }
    case "turn_end": {
      const failed = typeof message["error"] === "string";
      return { type: "turnEnd", failure: failed ? readFailure(message, message["error"]) : null };
    }
    default:
      return null;
  }
}

function texts<Name extends string>(message: Message, ...names: Name[]): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) if (typeof message[name] === "string") found[name] = message[name];
  return found;
}

function decodeReady({ agent, version, conversation, capabilities }: Message): Decoded | null {
  if (typeof agent !== "string" || typeof version !== "string") return null;
  return {
    type: "agent",
    agent: agent.slice(0, 200),
    version: version.slice(0, 200),
    conversation: typeof conversation === "string" ? conversation.slice(0, 200) : null,
    capabilities: readCapabilities(capabilities),
  };
}

function readCapabilities(value: unknown): Capabilities | null {
  if (typeof value !== "object" || value === null) return null;
  const { partialText, interrupt, resume, permissions, cost, subagents, steer } = value as Message;
  return {
    partialText: partialText === true,
    interrupt: interrupt === true,
    resume: resume === true,
    permissions: permissions === true,
    cost: cost === "usd" || cost === "tokens" ? cost : "none",
    subagents: subagents === true,
    ...(steer === true ? { steer } : {}),
  };
}

function decodeAsk({ id, question, options, permission, blocker }: Message): Decoded | null {
  if (typeof id !== "string" || typeof question !== "string") return null;
  const choices = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
  const { tool, subject } = (typeof permission === "object" && permission !== null ? permission : {}) as Message;
  return {
    type: "ask",
    askId: id,
    question,
    ...(choices.length > 0 ? { options: choices } : {}),
    ...(typeof tool === "string" ? { permission: { tool, subject: typeof subject === "string" ? subject : "" } } : {}),
    ...(typeof blocker === "object" && blocker !== null ? { blocker: { ...blocker } } : {}),
  };
}

function readFailure(message: Message, detail: unknown): TurnFailure {
  const cause = FailureCause.safeParse(message["cause"]);
  const { retryAfterMs, resetAt } = message;
  return {
    detail: typeof detail === "string" ? detail : "",
    ...(cause.success ? { cause: cause.data } : {}),
    ...(isCount(retryAfterMs) ? { retryAfterMs } : {}),
    ...(isCount(resetAt) ? { resetAt } : {}),
  };
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Invalid numbers count as 0. */
const count = (value: unknown): number => (isCount(value) ? Math.min(value, MAX_COUNT) : 0);
/** With `MAX_COUNT` sums stay exact integers. */
const MAX_COUNT = 1e12;
