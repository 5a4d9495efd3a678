// What Codex says and does in one turn, told in our lines: words while they come and once more as whole messages, and
// tools once they are really used.
import { toolsOf } from "./item.ts";
import { recordOf, textOf, type Fields } from "../acp/fields.ts";
import type { AgentLine, TurnFailure } from "../../dialogue.ts";

/** More of an unfinished message is not kept, so that no agent can fill our memory. */
const MAX_UNFINISHED = 4 * 1024 * 1024;

export class TurnReader {
  readonly #tell: (line: AgentLine) => void;
  /** The items that have begun and not ended, by id. */
  readonly #items = new Map<string, Fields>();
  /** Those that were told as tools, and the names of those that were refused. */
  readonly #told = new Set<string>();
  readonly #refused = new Set<string>();
  /** The words of a message that is not finished. */
  #unfinished: string[] = [];
  #length = 0;
  /** What went wrong last. */
  lastError: Fields = {};

  constructor(tell: (line: AgentLine) => void) {
    this.#tell = tell;
  }

  itemOf(id: string): Fields {
    return this.#items.get(id) ?? {};
  }

  read(method: string, params: Fields): void {
    const item = recordOf(params["item"]);
    const id = textOf(item["id"]) ?? textOf(params["itemId"]) ?? "";
    switch (method) {
      case "item/agentMessage/delta":
        return this.#hearWords(textOf(params["delta"]));
      case "item/started":
        this.#items.set(id, item);
        // A command with a process runs; one without still has to be allowed.
        if (textOf(item["processId"]) !== null) this.#tellTools(id, item);
        return;
      case "item/fileChange/patchUpdated":
        this.#items.set(id, { ...this.itemOf(id), changes: params["changes"] });
        return;
      case "item/completed":
        this.#items.delete(id);
        if (item["type"] === "agentMessage") this.#hearMessage(textOf(item["text"]));
        else if (item["status"] !== "declined") this.#tellTools(id, item);
    }
  }

  decided(id: string, allowed: boolean): void {
    if (allowed) this.#tellTools(id, this.itemOf(id));
    else for (const { name } of toolsOf(this.itemOf(id))) this.#refused.add(name);
  }

  #tellTools(id: string, item: Fields): void {
    const lines = this.#told.has(id) ? [] : toolsOf(item);
    if (lines.length > 0) this.#told.add(id);
    for (const line of lines) this.#tell(line);
  }

  #hearWords(text: string | null): void {
    if (text === null) return;
    if (this.#length < MAX_UNFINISHED) this.#unfinished.push(text);
    this.#length += text.length;
    this.#tell({ type: "assistant", text, partial: true });
  }

  #hearMessage(text: string | null): void {
    this.#unfinished = [];
    this.#length = 0;
    if (text !== null) this.#tell({ type: "assistant", text });
  }

  /** A turn that ended well, but could do nothing of what it wanted to. */
  denial(): TurnFailure | null {
    if (this.#told.size > 0 || this.#refused.size === 0) return null;
    return {
      error: `it was not allowed to use ${[...this.#refused].join(", ")}, and did nothing else`,
      cause: "denied",
    };
  }

  /** What was being said when the agent ended. */
  end(): void {
    this.#hearMessage(textOf(this.#unfinished.join("")));
  }
}
