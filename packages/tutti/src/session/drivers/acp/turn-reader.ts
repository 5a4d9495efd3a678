// What the agent says and does in one turn, told in our lines: words while they come and once more as whole messages,
// tools once what they are used on is known, and what it cost.
import { countOf, recordOf, textOf, type Fields } from "./fields.ts";
import { inputOf, nameOf, NEW_CALL, withUpdate, type ToolCall } from "./tool-call.ts";
import type { AgentLine } from "../../dialogue.ts";

/** A message is told in parts of this length at most, so that no agent can fill our memory. */
const MAX_MESSAGE = 4 * 1024 * 1024;
const MAX_ANNOUNCED = 100;

export class TurnReader {
  readonly #tell: (line: AgentLine) => void;
  #pieces: string[] = [];
  #length = 0;
  #messageId: unknown;
  #lastWords = "";
  /** Calls that were announced and have not begun, and those that were told or refused. */
  readonly #announced = new Map<string, ToolCall>();
  readonly #settled = new Set<string>();
  /** What the agent said after it had noted a failure of its own; null if it noted none. */
  #trouble: string | null = null;
  /** What the whole conversation has cost so far, as the agent counts it. */
  cost: number | null = null;

  constructor(tell: (line: AgentLine) => void) {
    this.#tell = tell;
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  /** The last whole message. */
  get lastWords(): string {
    return this.#lastWords;
  }

  read(update: Fields): void {
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
        return this.#hearWords(update);
      case "tool_call":
      case "tool_call_update":
        return void this.readCall(update);
      case "usage_update": {
        const { amount, currency } = recordOf(update["cost"]);
        if (currency === "USD") this.cost = countOf(amount);
        return;
      }
      case "session_info_update": {
        const status = recordOf(recordOf(recordOf(update["_meta"])["codex"])["threadStatus"])["type"];
        if (status === "systemError") this.#noteTrouble();
      }
    }
  }

  #hearWords(update: Fields): void {
    // A subagent's words are not an answer to us.
    if (parentOf(update) !== null) return;
    const content = recordOf(update["content"]);
    const text = content["type"] === "text" ? textOf(content["text"]) : null;
    if (text === null) return;
    if (this.#trouble !== null) {
      this.#trouble = (this.#trouble + text).slice(0, MAX_MESSAGE);
      return;
    }
    if (update["messageId"] !== this.#messageId || this.#length > MAX_MESSAGE) this.endMessage();
    this.#messageId = update["messageId"];
    this.#tellAnnounced();
    this.#pieces.push(text);
    this.#length += text.length;
    this.#tell({ type: "assistant", text, partial: true });
  }

  /** Told once it has begun. Some calls first show themselves when the agent asks whether it may. */
  readCall(update: Fields): ToolCall {
    const id = textOf(update["toolCallId"]) ?? "";
    const call = withUpdate(this.#announced.get(id) ?? NEW_CALL, update);
    if (this.#settled.has(id)) return call;
    this.endMessage();
    const parent = parentOf(update);
    if (parent !== null) this.beginCall(parent);
    this.#announced.set(id, call);
    const status = textOf(update["status"]);
    if ((status !== null && status !== "pending") || this.#announced.size > MAX_ANNOUNCED) this.beginCall(id);
    return call;
  }

  beginCall(id: string): void {
    const call = this.#announced.get(id);
    this.refuseCall(id);
    if (call) this.#tell({ type: "tool", name: nameOf(call), input: inputOf(call) });
  }

  /** A call that is not carried out is not told. */
  refuseCall(id: string): void {
    this.#announced.delete(id);
    this.#settled.add(id);
  }

  #tellAnnounced(): void {
    for (const id of this.#announced.keys()) this.beginCall(id);
  }

  #noteTrouble(): void {
    this.endMessage();
    this.#trouble ??= "";
  }

  endMessage(): void {
    if (this.#length === 0) return;
    this.#lastWords = this.#pieces.join("");
    this.#tell({ type: "assistant", text: this.#lastWords });
    this.#pieces = [];
    this.#length = 0;
  }

  end(): void {
    this.endMessage();
    this.#tellAnnounced();
  }
}

/** The call that started the subagent which this comes from. */
const parentOf = (update: Fields): string | null =>
  textOf(recordOf(recordOf(update["_meta"])["claudeCode"])["parentToolUseId"]);
