// The sub-agents of Codex are threads of the same process. Their tools become lines below the call that started them; what
// they say is a matter between them and their parent.
import { CodexTurnReader } from "./turn-reader.ts";
import { CodexUsageMeter } from "./usage.ts";
import { listOf, recordOf, textOf, textOrNull, textsOf, type Fields } from "../../json-fields.ts";
import type { AgentLine } from "../../dialogue.ts";
import type { SubagentEnd } from "../../../schema/status.ts";

interface Subagent {
  /** The call that started it. */
  toolId: string;
  reader: CodexTurnReader;
  usage: CodexUsageMeter;
  /** The turn that it works on. */
  turnId: string | null;
  isOver: boolean;
}

const ENDS: Readonly<Record<string, SubagentEnd>> = { completed: "completed", failed: "failed" };

export class CodexSubagents {
  readonly #tell: (line: AgentLine) => void;
  readonly #byThread = new Map<string, Subagent>();

  constructor(tell: (line: AgentLine) => void) {
    this.#tell = tell;
  }

  /** Reads a notification of any thread. Call it after the main agent's own lines, because they contain the call. */
  read(method: string, params: Fields): void {
    const thread = textOf(params["threadId"]);
    const subagent = this.#byThread.get(thread);
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
      const reader = new CodexTurnReader((line) => this.#tellTool(line, toolId));
      this.#byThread.set(id, { toolId, reader, usage: new CodexUsageMeter(), turnId: null, isOver: false });
      const nested = this.#byThread.has(parent) ? { parent } : {};
      this.#tell({ type: "subagent", id, phase: "started", text: textOf(item["prompt"]), toolId, ...nested });
    }
  }

  #tellTool(line: AgentLine, parent: string): void {
    if (line.type === "tool") this.#tell({ ...line, parent });
    else if (line.type === "tool_failed" || line.type === "tool_result") this.#tell(line);
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
        if (used) this.#tell({ type: "usage", ...used });
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
    this.#tell({ type: "subagent", id, phase: "done", text, status });
  }

  /** The sub-agent that has the item. */
  readerOf(itemId: string): CodexTurnReader | null {
    const readers = [...this.#byThread.values()].map(({ reader }) => reader);
    return readers.find((reader) => Object.keys(reader.itemOf(itemId)).length > 0) ?? null;
  }

  /** The turns under way, which do not end with that of the main agent. */
  openTurns(): { threadId: string; turnId: string }[] {
    return [...this.#byThread].flatMap(([threadId, { turnId }]) => (turnId === null ? [] : { threadId, turnId }));
  }

  /** The process of all threads has exited. */
  endAll(): void {
    for (const [id, subagent] of this.#byThread) this.#end(id, subagent, "cancelled", "");
    this.#byThread.clear();
  }
}

const lastWords = ({ items, error }: Fields): string => {
  const said = listOf(items).findLast(({ type }) => type === "agentMessage");
  return textOrNull(recordOf(error)["message"]) ?? textOf(said?.["text"]);
};
