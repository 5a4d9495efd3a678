// Where in a transcript a session has started an agent of its own. Uses of a tool are certain. A block of that form in the
// text is what some programs show instead; a mention alone is a hint, because one can also talk about it.
import type { SeenMessage } from "./session-reach.ts";

export interface TaskInvocation {
  /** What the transcript calls the use of the tool, if it says. */
  taskToolId: string | null;
  source: "tool" | "block" | "mention";
  /** What the agent was told, as far as that can be read. */
  description: string | null;
  /** The place of the message in the transcript. */
  message: number;
}

/** Exactly these: tools such as TaskCreate or TaskList are about lists of things to do. */
const SPAWNS = new Set(["Task", "Agent", "new_task"]);
/** The document's pattern opens without a prefix and closes with one; either may have it. */
const BLOCK = /<(?:antml:)?invoke name="(?:Task|Agent)"[^>]*>[\s\S]*?<\/(?:antml:)?invoke>/gi;
const DESCRIPTION = /<(?:antml:)?parameter name="description"[^>]*>([\s\S]*?)<\//i;
const MENTIONS = ["subagent_type", "Task tool"];

/** Only what the assistant says counts: others may quote anything. */
export function findTaskInvocations(messages: readonly SeenMessage[]): TaskInvocation[] {
  return messages.flatMap((message, place) => (message.role === "assistant" ? inMessage(message, place) : []));
}

function inMessage({ text, tools }: SeenMessage, message: number): TaskInvocation[] {
  const used = tools
    .filter(({ name }) => SPAWNS.has(name))
    .map(({ id, input }): TaskInvocation => {
      return { taskToolId: id, source: "tool", description: describe(input), message };
    });
  const blocks = Array.from(text.matchAll(BLOCK), ([block]): TaskInvocation => {
    return { taskToolId: null, source: "block", description: DESCRIPTION.exec(block)?.[1]?.trim() ?? null, message };
  });
  const certain = [...used, ...blocks];
  if (certain.length > 0 || !MENTIONS.some((word) => text.includes(word))) return certain;
  return [{ taskToolId: null, source: "mention", description: null, message }];
}

function describe(input: unknown): string | null {
  const { description } = (input ?? {}) as { description?: unknown };
  return typeof description === "string" ? description : null;
}
