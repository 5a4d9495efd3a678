// `findTaskInvocations` finds the places in a transcript where a session starts a sub-agent. A tool call is certain. A
// block in the text is the form that some programs show instead. A mention is only a hint.
import type { SeenMessage } from "../sessions/session-access.ts";

export interface TaskInvocation {
  taskToolId: string | null;
  source: "tool" | "block" | "mention";
  /** The description passed to the sub-agent; null if `describe` cannot read it. */
  description: string | null;
  /** Index of the message in the transcript. */
  message: number;
}

/** Matched exactly: tools such as `TaskCreate` or `TaskList` manage to-do lists. */
const SPAWNS = new Set(["Task", "Agent", "new_task"]);
/** The pattern of document 004 opens without a prefix and closes with one; `BLOCK` accepts both forms of both tags. */
const BLOCK = /<(?:antml:)?invoke name="(?:Task|Agent)"[^>]*>[\s\S]*?<\/(?:antml:)?invoke>/gi;
const DESCRIPTION = /<(?:antml:)?parameter name="description"[^>]*>([\s\S]*?)<\//i;
const MENTIONS = ["subagent_type", "Task tool"];

/** Only assistant messages count, because others may quote anything. */
export function findTaskInvocations(messages: readonly SeenMessage[]): TaskInvocation[] {
  return messages.flatMap((message, index) => (message.role === "assistant" ? inMessage(message, index) : []));
}

function inMessage({ text, tools }: SeenMessage, message: number): TaskInvocation[] {
  const calls = tools
    .filter(({ name }) => SPAWNS.has(name))
    .map(({ id, input }): TaskInvocation => {
      return { taskToolId: id, source: "tool", description: describe(input), message };
    });
  const blocks = Array.from(text.matchAll(BLOCK), ([block]): TaskInvocation => {
    return { taskToolId: null, source: "block", description: DESCRIPTION.exec(block)?.[1]?.trim() ?? null, message };
  });
  const certain = [...calls, ...blocks];
  if (certain.length > 0 || !MENTIONS.some((word) => text.includes(word))) return certain;
  return [{ taskToolId: null, source: "mention", description: null, message }];
}

function describe(input: unknown): string | null {
  const { description } = (input ?? {}) as { description?: unknown };
  return typeof description === "string" ? description : null;
}
