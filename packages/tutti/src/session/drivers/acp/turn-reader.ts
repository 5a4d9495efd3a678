// `AcpTurnReader` translates the updates of one turn to JSON lines: text as partial and as whole messages, tool calls
// once they have begun, and the cost.
import { countOf, listOf, recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import { inputOf, nameOf, NEW_CALL, parentOf, withUpdate, type ToolCall } from "./tool-call.ts";
import type { AgentLine } from "../../dialogue.ts";
import { MAX_ERROR, resultLines } from "../dialogue-parts.ts";

/** In characters. A message longer than `MAX_MESSAGE` is split, so that no agent can exhaust the memory. */
const MAX_MESSAGE = 4 * 1024 * 1024;
const MAX_ANNOUNCED = 100;

export class AcpTurnReader {
  readonly #emit: (line: AgentLine) => void;
  #pieces: string[] = [];
  #length = 0;
  #messageId: unknown;
  lastWords = "";
  /** Calls that have not begun yet. */
  readonly #announced = new Map<string, ToolCall>();
  /** Calls that have begun or were refused. */
  readonly #settled = new Set<string>();
  /** Calls that have begun and did not fail. */
  readonly #begun = new Set<string>();
  /** Calls with a result that was emitted. */
  readonly #answered = new Set<string>();
  /** `trouble` is the agent's text after it reported an internal failure; null without one. */
  trouble: string | null = null;
  /** `cost` is the agent's own count for the whole conversation, in USD. */
  cost: number | null = null;
  /** The size of the conversation, as the agent reported it last; zeros if unknown. */
  context = { contextTokens: 0, contextWindow: 0 };

  constructor(emit: (line: AgentLine) => void) {
    this.#emit = emit;
  }

  read(update: Fields): void {
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
        return this.#readText(update);
      case "tool_call":
      case "tool_call_update":
        return void this.readCall(update);
      case "usage_update": {
        const { amount, currency } = recordOf(update["cost"]);
        if (currency === "USD") this.cost = countOf(amount);
        this.context = { contextTokens: countOf(update["used"]), contextWindow: countOf(update["size"]) };
        return;
      }
      case "session_info_update": {
        const status = recordOf(recordOf(recordOf(update["_meta"])["codex"])["threadStatus"])["type"];
        if (status === "systemError") this.#startTrouble();
      }
    }
  }

  #readText(update: Fields): void {
    // Text of a subagent is not part of the answer.
    if (parentOf(update) !== null) return;
    const content = recordOf(update["content"]);
    const text = content["type"] === "text" ? textOrNull(content["text"]) : null;
    if (text === null) return;
    if (this.trouble !== null) {
      this.trouble = (this.trouble + text).slice(0, MAX_MESSAGE);
      return;
    }
    if (update["messageId"] !== this.#messageId || this.#length > MAX_MESSAGE) this.endMessage();
    this.#messageId = update["messageId"];
    this.#beginAnnounced();
    this.#pieces.push(text);
    this.#length += text.length;
    this.#emit({ type: "assistant", text, partial: true });
  }

  /** `readCall` also gets permission requests, because some calls first appear there. */
  readCall(update: Fields): ToolCall {
    const id = textOf(update["toolCallId"]);
    const call = withUpdate(this.#announced.get(id) ?? NEW_CALL, update);
    const status = textOrNull(update["status"]);
    if (!this.#settled.has(id)) {
      this.endMessage();
      const parent = parentOf(update);
      if (parent !== null) this.beginCall(parent);
      this.#announced.set(id, call);
      if ((status !== null && status !== "pending") || this.#announced.size > MAX_ANNOUNCED) this.beginCall(id);
    }
    if (status === "failed") this.#failCall(id, update);
    // Some agents repeat the last update, hence `#answered`.
    if (status === "completed" && this.#begun.has(id) && !this.#answered.has(id)) {
      this.#answered.add(id);
      for (const line of resultLines(id, resultOf(update))) this.#emit(line);
    }
    return call;
  }

  #failCall(id: string, update: Fields): void {
    if (!this.#begun.delete(id)) return;
    const error = resultOf(update) || "it gave no reason";
    this.#emit({ type: "tool_failed", id, error: error.slice(0, MAX_ERROR) });
  }

  beginCall(id: string): void {
    const call = this.#announced.get(id);
    this.refuseCall(id);
    if (!call) return;
    this.#begun.add(id);
    const parent = call.parent === null ? {} : { parent: call.parent };
    this.#emit({ type: "tool", id, name: nameOf(call), input: inputOf(call), ...parent });
  }

  /** A refused call never becomes a `tool` line. */
  refuseCall(id: string): void {
    this.#announced.delete(id);
    this.#settled.add(id);
  }

  #beginAnnounced(): void {
    for (const id of this.#announced.keys()) this.beginCall(id);
  }

  #startTrouble(): void {
    this.endMessage();
    this.trouble ??= "";
  }

  endMessage(): void {
    if (this.#length === 0) return;
    this.lastWords = this.#pieces.join("");
    this.#emit({ type: "assistant", text: this.lastWords });
    this.#pieces = [];
    this.#length = 0;
  }

  end(): void {
    this.endMessage();
    this.#beginAnnounced();
  }
}

function resultOf({ content, rawOutput }: Fields): string {
  const texts = listOf(content).map((part) => textOf(recordOf(part["content"])["text"]));
  return texts.join("\n") || textOf(rawOutput);
}
