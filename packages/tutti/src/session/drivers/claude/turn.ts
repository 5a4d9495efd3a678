import { readLimitEvent, type Troubles } from "./failure.ts";
import { asList, asObject, asText, type Message } from "./wire.ts";
import type { AgentLine, DialogueFailure } from "../../dialogue.ts";

interface Call {
  name: string;
  input: unknown;
}

/** The `model` of messages that the program generates itself. */
const SYNTHETIC = "<synthetic>";
const STRUCTURE_DEMANDED = "[structured-output-enforce]";

/** Messages of subagents have a `parent_tool_use_id`. */
const isOfMainAgent = (message: Message): boolean => (message["parent_tool_use_id"] ?? null) === null;

export class ClaudeTurn {
  readonly number: number;
  /** The id of the prompt. */
  readonly uuid: string;
  /** The program has started to work on the prompt. */
  begun = false;
  interrupted = false;
  readonly troubles: Troubles = { error: "", retryAfterMs: null, limitResetAt: null, structureDemanded: false };
  /** The reason for which the dialogue interrupted the turn. */
  brokenOff: DialogueFailure | null = null;
  /** The last of possibly several results. */
  result: { failure: DialogueFailure | null } | null = null;
  /** Calls without a decision about their permission yet, by id. */
  readonly #calls = new Map<string, Call>();
  readonly #refused = new Map<string, string>();
  readonly #tell: (line: AgentLine) => void;
  #ran = 0;

  constructor(number: number, uuid: string, tell: (line: AgentLine) => void) {
    this.number = number;
    this.uuid = uuid;
    this.#tell = tell;
  }

  read(message: Message): void {
    switch (message["type"]) {
      case "stream_event":
        this.#readDelta(message);
        return;
      case "assistant":
        this.#readAssistant(message);
        return;
      case "user":
        this.#readUser(message);
        return;
      case "tool_progress":
        this.run(asText(message["tool_use_id"]));
        return;
      case "rate_limit_event":
        this.troubles.limitResetAt = readLimitEvent(message) ?? this.troubles.limitResetAt;
    }
  }

  #readDelta(message: Message): void {
    const { type, delta } = asObject(message["event"]);
    const text = asText(asObject(delta)["text"]);
    if (isOfMainAgent(message) && type === "content_block_delta" && text !== "")
      this.#tell({ type: "assistant", text, partial: true });
  }

  #readAssistant(message: Message): void {
    if (message["is_api_error_message"] === true || typeof message["error"] === "string") {
      this.troubles.error = asText(message["error"]);
      return;
    }
    const { content, model } = asObject(message["message"]);
    const blocks = asList(content);
    const text = blocks.map((block) => (block["type"] === "text" ? asText(block["text"]) : "")).join("");
    const whole = isOfMainAgent(message) && message["aborted"] !== true && model !== SYNTHETIC;
    if (whole && text !== "") this.#tell({ type: "assistant", text });
    for (const block of blocks) {
      const byProvider = block["type"] === "server_tool_use";
      if (block["type"] !== "tool_use" && !byProvider) continue;
      const id = asText(block["id"]);
      this.#calls.set(id, { name: asText(block["name"]), input: block["input"] ?? null });
      // Tools that the provider runs need no permission.
      if (byProvider) this.run(id);
    }
  }

  #readUser(message: Message): void {
    if (message["isReplay"] === true) this.begun ||= (message["uuid"] ?? this.uuid) === this.uuid;
    this.#readToolResults(message);
    const texts = asList(asObject(message["message"])["content"]).map((block) => asText(block["text"]));
    const demanded = message["isSynthetic"] === true && texts.some((text) => text.startsWith(STRUCTURE_DEMANDED));
    if (demanded) this.troubles.structureDemanded = true;
  }

  /** Emits the `tool` line only now: a refused call is no work. */
  run(id: string): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    this.#ran += 1;
    this.#tell({ type: "tool", ...call });
  }

  refuse(id: string, name?: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const toolName = name ?? call?.name;
    if (toolName !== undefined) this.#refused.set(id, toolName);
  }

  #readToolResults(message: Message): void {
    const rejected = new Set(
      asList(message["tool_result_meta"])
        .filter((meta) => asObject(meta["permission_decision"])["decision"] === "reject")
        .map((meta) => asText(meta["id"])),
    );
    for (const block of asList(asObject(message["message"])["content"])) {
      if (block["type"] !== "tool_result") continue;
      const id = asText(block["tool_use_id"]);
      if (rejected.has(id)) this.refuse(id);
      else this.run(id);
    }
  }

  /** The failure of a turn that ran no tool because all of its calls were refused. */
  denial(): DialogueFailure | null {
    if (this.#ran > 0 || this.#refused.size === 0) return null;
    const names = [...new Set(this.#refused.values())];
    return { error: `the agent was not allowed to use ${names.join(", ")}, and did nothing else`, cause: "denied" };
  }
}
