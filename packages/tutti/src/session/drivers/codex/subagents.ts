// `CodexSubagents` are threads of the same process. Their tools become lines below the call that started them. Their
// text is only for their parent.
import { CodexTurnReader } from "./turn-reader.ts";
import { CodexUsageMeter } from "./usage.ts";
import { listOf, recordOf, textOf, textOrNull, textsOf, type Fields } from "../../json-fields.ts";
import type { AgentLine } from "../../dialogue.ts";
import type { SubagentEnd } from "../../../schema/status.ts";

interface Subagent {
  toolId: string;
  reader: CodexTurnReader;
  usage: CodexUsageMeter;
  turnId: string | null;
  isOver: boolean;
}

/** Notifications in `#early` beyond this number are dropped. */
const MAX_EARLY = 1000;

const ENDS: Readonly<Record<string, SubagentEnd>> = { completed: "completed", failed: "failed" };

export class CodexSubagents {
  readonly #emit: (line: AgentLine) => void;
  readonly #byThread = new Map<string, Subagent>();
  /** A sub-agent may work, and start others, before the call that started it is completed and contains its thread. */
  #early: { thread: string; method: string; params: Fields }[] = [];

  constructor(emit: (line: AgentLine) => void) {
    this.#emit = emit;
  }

  /** Reads a notification of any thread. Call it after the main agent's own lines, because they contain the call. */
  read(method: string, params: Fields, isMain: boolean): void {
    const thread = textOf(params["threadId"]);
    const subagent = this.#byThread.get(thread);
    if (!subagent && !isMain) {
      if (this.#early.length < MAX_EARLY) this.#early.push({ thread, method, params });
      return;
    }
    if (subagent) this.#readOwn(thread, subagent, method, params);
    const item = recordOf(params["item"]);
    if (method === "item/completed" && item["type"] === "collabAgentToolCall") this.#readCall(item);
  }

  #readCall(item: Fields): void {
    if (item["tool"] !== "spawnAgent") return;
    const toolId = textOf(item["id"]);
    const parent = textOf(item["senderThreadId"]);
    for (const id of textsOf(item["receiverThreadIds"])) {
      if (this.#byThread.has(id)) continue;
      const reader = new CodexTurnReader((line) => this.#emitTool(line, toolId));
      this.#byThread.set(id, { toolId, reader, usage: new CodexUsageMeter(), turnId: null, isOver: false });
      const nested = this.#byThread.has(parent) ? { parent } : {};
      this.#emit({ type: "subagent", id, phase: "started", text: textOf(item["prompt"]), toolId, ...nested });
      const early = this.#early.filter(({ thread }) => thread === id);
      this.#early = this.#early.filter(({ thread }) => thread !== id);
      for (const { method, params } of early) this.read(method, params, false);
    }
  }

  #emitTool(line: AgentLine, parent: string): void {
    if (line.type === "tool") this.#emit({ ...line, parent });
    else if (line.type === "tool_failed" || line.type === "tool_result") this.#emit(line);
  }

  #readOwn(id: string, subagent: Subagent, method: string, params: Fields): void {
    const turn = recordOf(params["turn"]);
    switch (method) {
      case "turn/started":
        subagent.turnId = textOrNull(turn["id"]);
        return;
      case "turn/completed":
        subagent.turnId = null;
        return this.#end(id, subagent, ENDS[textOf(turn["status"])] ?? "cancelled", lastWords(turn));
      case "thread/tokenUsage/updated": {
        const used = subagent.usage.read(recordOf(recordOf(params["tokenUsage"])["total"]));
        if (used) this.#emit({ type: "usage", ...used });
        return;
      }
      default:
        subagent.reader.read(method, params);
    }
  }

  /** A sub-agent that gets more to do after its end is not reported again. */
  #end(id: string, subagent: Subagent, status: SubagentEnd, text: string): void {
    if (subagent.isOver) return;
    subagent.isOver = true;
    this.#emit({ type: "subagent", id, phase: "done", text, status });
  }

  readerOf(itemId: string): CodexTurnReader | null {
    const readers = [...this.#byThread.values()].map(({ reader }) => reader);
    return readers.find((reader) => Object.keys(reader.itemOf(itemId)).length > 0) ?? null;
  }

  /** `openTurns` do not end with that of the main agent. */
  openTurns(): { threadId: string; turnId: string }[] {
    return [...this.#byThread].flatMap(([threadId, { turnId }]) => (turnId === null ? [] : { threadId, turnId }));
  }

  endAll(): void {
    for (const [id, subagent] of this.#byThread) this.#end(id, subagent, "cancelled", "");
    this.#byThread.clear();
    this.#early = [];
  }
}

const lastWords = ({ items, error }: Fields): string => {
  const said = listOf(items).findLast(({ type }) => type === "agentMessage");
  return textOrNull(recordOf(error)["message"]) ?? textOf(said?.["text"]);
};
