import { readLimitEvent, type Troubles } from "./failure.ts";
import { countOf, listOf, recordOf, textOf, type Fields } from "../../json-fields.ts";
import type { AgentLine, DialogueFailure } from "../../dialogue.ts";
import { denialOf, MAX_ERROR, resultLines } from "../dialogue-parts.ts";

interface Call {
  name: string;
  input: unknown;
  parent?: string;
}

/** The program generates messages with the model `SYNTHETIC` itself. */
const SYNTHETIC = "<synthetic>";
const CONTEXT_COUNTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
const STRUCTURE_DEMANDED = "[structured-output-enforce]";

/** Messages of subagents have a `parent_tool_use_id`. */
const isOfMainAgent = (message: Fields): boolean => (message["parent_tool_use_id"] ?? null) === null;

export class ClaudeTurn {
  readonly number: number;
  readonly uuid: string;
  /** The program has stored the prompt, which it does with the first answer. */
  begun = false;
  interrupted = false;
  readonly troubles: Troubles = { error: "", retryAfterMs: null, limitResetAt: null, structureDemanded: false };
  /** The reason for which the dialogue interrupted the turn. */
  brokenOff: DialogueFailure | null = null;
  /** The tokens of the main agent's last request and answer. */
  context: { model: string; tokens: number } | null = null;
  /** The last of possibly several results. */
  result: { failure: DialogueFailure | null } | null = null;
  /** Calls without a decision about their permission yet, by id. */
  readonly #calls = new Map<string, Call>();
  readonly #refused = new Map<string, string>();
  readonly #emit: (line: AgentLine) => void;
  /** Calls that ran and did not fail. */
  readonly #ran = new Set<string>();

  constructor(number: number, uuid: string, emit: (line: AgentLine) => void) {
    this.number = number;
    this.uuid = uuid;
    this.#emit = emit;
  }

  read(message: Fields): void {
    switch (message["type"]) {
      case "stream_event":
        return this.#readDelta(message);
      case "assistant":
        return this.#readAssistant(message);
      case "user":
        return this.#readUser(message);
      case "tool_progress":
        return this.run(textOf(message["tool_use_id"]));
      case "rate_limit_event":
        this.troubles.limitResetAt = readLimitEvent(message) ?? this.troubles.limitResetAt;
    }
  }

  #readDelta(message: Fields): void {
    const { type, delta } = recordOf(message["event"]);
    const text = textOf(recordOf(delta)["text"]);
    if (isOfMainAgent(message) && type === "content_block_delta" && text !== "")
      this.#emit({ type: "assistant", text, partial: true });
  }

  #readAssistant(message: Fields): void {
    if (message["is_api_error_message"] === true || typeof message["error"] === "string") {
      this.troubles.error = textOf(message["error"]);
      return;
    }
    const { content, model } = recordOf(message["message"]);
    const blocks = listOf(content);
    const text = blocks.map((block) => (block["type"] === "text" ? textOf(block["text"]) : "")).join("");
    if (isOfMainAgent(message)) this.#readContext(recordOf(message["message"]));
    const whole = isOfMainAgent(message) && message["aborted"] !== true && model !== SYNTHETIC;
    if (whole && text !== "") this.#emit({ type: "assistant", text });
    for (const block of blocks) {
      const byProvider = block["type"] === "server_tool_use";
      if (block["type"] !== "tool_use" && !byProvider) continue;
      const id = textOf(block["id"]);
      const parent = textOf(message["parent_tool_use_id"]);
      const call = { name: textOf(block["name"]), input: block["input"] ?? null };
      this.#calls.set(id, parent === "" ? call : { ...call, parent });
      // Tools that the provider runs need no permission.
      if (byProvider) this.run(id);
    }
  }

  #readContext({ model, usage }: Fields): void {
    const counts = recordOf(usage);
    const tokens = CONTEXT_COUNTS.reduce((sum, name) => sum + countOf(counts[name]), 0);
    if (tokens > 0) this.context = { model: textOf(model), tokens };
  }

  #readUser(message: Fields): void {
    if (message["isReplay"] === true) this.begun ||= (message["uuid"] ?? this.uuid) === this.uuid;
    this.#readToolResults(message);
    const texts = listOf(recordOf(message["message"])["content"]).map((block) => textOf(block["text"]));
    const demanded = message["isSynthetic"] === true && texts.some((text) => text.startsWith(STRUCTURE_DEMANDED));
    if (demanded) this.troubles.structureDemanded = true;
  }

  /** Emits the `tool` line only now: a refused call is no work. */
  run(id: string): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    this.#ran.add(id);
    this.#emit({ type: "tool", id, ...call });
  }

  #fail(id: string, content: unknown): void {
    this.run(id);
    if (!this.#ran.delete(id)) return;
    this.#emit({ type: "tool_failed", id, error: wordsOf(content).slice(0, MAX_ERROR) });
  }

  #succeed(id: string, content: unknown): void {
    this.run(id);
    if (this.#ran.has(id)) for (const line of resultLines(id, wordsOf(content))) this.#emit(line);
  }

  refuse(id: string, name?: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const toolName = name ?? call?.name;
    if (toolName !== undefined) this.#refused.set(id, toolName);
  }

  #readToolResults(message: Fields): void {
    const rejected = new Set(
      listOf(message["tool_result_meta"])
        .filter((meta) => recordOf(meta["permission_decision"])["decision"] === "reject")
        .map((meta) => textOf(meta["id"])),
    );
    for (const block of listOf(recordOf(message["message"])["content"])) {
      if (block["type"] !== "tool_result") continue;
      const id = textOf(block["tool_use_id"]);
      if (rejected.has(id)) this.refuse(id);
      else if (block["is_error"] === true) this.#fail(id, block["content"]);
      else this.#succeed(id, block["content"]);
    }
  }

  denial(): DialogueFailure | null {
    return this.#ran.size > 0 || this.#refused.size === 0 ? null : denialOf(this.#refused.values());
  }
}

const wordsOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : listOf(content)
        .map((part) => textOf(part["text"]))
        .join("\n");
