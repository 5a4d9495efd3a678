// A `TranscriptFile` of Claude Code has JSON lines and only grows. Its layout is undocumented and changes with every
// release, so unknown entries are skipped and every member may be missing.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { listOf, parseRecord, recordOf, textOf, type Fields } from "../json-fields.ts";

/** `readMessages` of a session controller reads this form. The content of results is left out. */
export interface TranscriptMessage {
  uuid: string;
  role: string;
  content: Fields[];
}

const READ_BYTES = 1024 * 1024;
const LAUNCHED = "async_launched";

export class TranscriptFile {
  readonly #file: string;
  readonly #isOfSubagent: boolean;
  #inode = 0;
  #offset = 0;
  #rest = Buffer.alloc(0);
  messages: TranscriptMessage[] = [];
  cwd: string | null = null;
  /** Ids of tool calls without a result, and of calls with a sub-agent at work in the background. */
  readonly pending = new Set<string>();
  /** Ids of calls with a result that the session has received. */
  readonly received = new Set<string>();
  /** `isRefused` means that the last message is an error of the provider, for example a usage limit. */
  isRefused = false;

  constructor(file: string, isOfSubagent: boolean) {
    this.#file = file;
    this.#isOfSubagent = isOfSubagent;
  }

  /** Reads the lines that were added since the last `update`. Throws if the file does not exist. */
  update(): void {
    const file = openSync(this.#file, "r");
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== this.#inode || size < this.#offset) this.#reset(ino);
      while (this.#offset < size) {
        const buffer = Buffer.alloc(Math.min(READ_BYTES, size - this.#offset));
        const read = readSync(file, buffer, 0, buffer.length, this.#offset);
        if (read === 0) break;
        this.#offset += read;
        this.#rest = Buffer.concat([this.#rest, buffer.subarray(0, read)]);
        this.#readLines();
      }
    } finally {
      closeSync(file);
    }
  }

  #reset(inode: number): void {
    this.#inode = inode;
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
    this.messages = [];
    this.pending.clear();
    this.received.clear();
    this.isRefused = false;
  }

  #readLines(): void {
    const end = this.#rest.lastIndexOf(10);
    if (end === -1) return;
    const lines = this.#rest.subarray(0, end).toString("utf8").split("\n");
    this.#rest = this.#rest.subarray(end + 1);
    for (const line of lines) this.#readEntry(parseRecord(line));
  }

  #readEntry(entry: Fields): void {
    this.cwd ??= textOf(entry["cwd"]) || null;
    const { type } = entry;
    // Older versions keep the entries of sub-agents, with `isSidechain`, in the file of the session.
    const isOther = entry["isSidechain"] === true && !this.#isOfSubagent;
    if ((type !== "user" && type !== "assistant") || isOther || entry["isMeta"] === true) return;
    this.isRefused = entry["isApiErrorMessage"] === true;
    if (this.isRefused) return;
    const { content, role } = recordOf(entry["message"]);
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
    for (const part of parts) this.#readPart(part, entry);
    this.messages.push({ uuid: textOf(entry["uuid"]), role: textOf(role) || type, content: parts.flatMap(kept) });
  }

  #readPart(part: Fields, entry: Fields): void {
    if (part["type"] === "tool_use") this.pending.add(textOf(part["id"]));
    if (part["type"] === "tool_result") {
      const isLaunch = recordOf(entry["toolUseResult"])["status"] === LAUNCHED;
      if (!isLaunch) this.#settle(textOf(part["tool_use_id"]));
    }
    if (part["type"] === "text" && entry["type"] === "user") {
      for (const [, id] of textOf(part["text"]).matchAll(NOTIFICATION)) this.#settle(id!);
    }
  }

  #settle(toolId: string): void {
    this.pending.delete(toolId);
    this.received.add(toolId);
  }
}

/** The session gets a `NOTIFICATION` when a sub-agent in the background has ended. */
const NOTIFICATION = /<task-notification>[^]*?<tool-use-id>([^<]+)<\/tool-use-id>/g;

/** `kept` parts decide about sub-sessions; the rest may be large. */
function kept(part: Fields): Fields[] {
  const { type, id, name, input, text } = part;
  if (type === "text") return [{ type, text }];
  if (type === "tool_use") return [{ type, id, name, input: { description: recordOf(input)["description"] } }];
  return type === "tool_result" ? [{ type, tool_use_id: part["tool_use_id"] }] : [];
}
