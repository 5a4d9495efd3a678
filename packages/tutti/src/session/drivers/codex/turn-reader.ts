// `CodexTurnReader` translates the items of one turn to JSON lines: text as partial and as whole messages, tools once
// they really run.
import { resultOf, toolsOf, whyFailed } from "./item.ts";
import { recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import type { AgentLine, DialogueFailure } from "../../dialogue.ts";
import { denialOf, resultLines } from "../dialogue-parts.ts";

/** In characters. `MAX_UNFINISHED` limits an unfinished message, so that no agent can exhaust the memory. */
const MAX_UNFINISHED = 4 * 1024 * 1024;

export class CodexTurnReader {
  readonly #emit: (line: AgentLine) => void;
  /** Open items by id. */
  readonly #items = new Map<string, Fields>();
  /** Ids of items with tools that were emitted. */
  readonly #emitted = new Set<string>();
  /** Those of `#emitted` that failed. */
  readonly #failed = new Set<string>();
  /** Names of refused tools. */
  readonly #refused = new Set<string>();
  /** Pieces of an unfinished message. */
  #unfinished: string[] = [];
  #length = 0;
  lastError: Fields = {};

  constructor(emit: (line: AgentLine) => void) {
    this.#emit = emit;
  }

  itemOf(id: string): Fields {
    return this.#items.get(id) ?? {};
  }

  read(method: string, params: Fields): void {
    const item = recordOf(params["item"]);
    const id = textOrNull(item["id"]) ?? textOf(params["itemId"]);
    switch (method) {
      case "item/agentMessage/delta":
        return this.#addText(textOrNull(params["delta"]));
      case "item/started":
        this.#items.set(id, item);
        // A command without a `processId` still waits for approval.
        if (textOrNull(item["processId"]) !== null) this.#emitTools(id, item);
        return;
      case "item/fileChange/patchUpdated":
        this.#items.set(id, { ...this.itemOf(id), changes: params["changes"] });
        return;
      case "item/completed":
        this.#items.delete(id);
        if (item["type"] === "agentMessage") this.#finishMessage(textOrNull(item["text"]));
        else if (item["status"] !== "declined") this.#complete(id, item);
    }
  }

  decided(id: string, allowed: boolean): void {
    if (allowed) this.#emitTools(id, this.itemOf(id));
    else for (const { name } of toolsOf(this.itemOf(id))) this.#refused.add(name);
  }

  #emitTools(id: string, item: Fields): void {
    const lines = this.#emitted.has(id) ? [] : toolsOf(item);
    if (lines.length > 0) this.#emitted.add(id);
    for (const line of lines) this.#emit(line);
  }

  #complete(id: string, item: Fields): void {
    this.#emitTools(id, item);
    const error = whyFailed(item);
    if (error === null) {
      const [first] = toolsOf(item);
      if (first) for (const line of resultLines(first.id, resultOf(item))) this.#emit(line);
      return;
    }
    this.#failed.add(id);
    for (const line of toolsOf(item)) this.#emit({ type: "tool_failed", id: line.id, error });
  }

  #addText(text: string | null): void {
    if (text === null) return;
    if (this.#length < MAX_UNFINISHED) this.#unfinished.push(text);
    this.#length += text.length;
    this.#emit({ type: "assistant", text, partial: true });
  }

  #finishMessage(text: string | null): void {
    this.#unfinished = [];
    this.#length = 0;
    if (text !== null) this.#emit({ type: "assistant", text });
  }

  denial(): DialogueFailure | null {
    return this.#emitted.size > this.#failed.size || this.#refused.size === 0 ? null : denialOf(this.#refused);
  }

  end(): void {
    this.#finishMessage(textOrNull(this.#unfinished.join("")));
  }
}
