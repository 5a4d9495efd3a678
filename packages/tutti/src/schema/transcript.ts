import type { Ending, FailureCause } from "./ending.ts";
import type { ContextSize, Usage } from "./outcome.ts";
import type { SubagentEnd } from "./status.ts";

export type AgentQuestion = {
  question: string;
  options?: string[];
  /** Names the tool if the agent asks for permission to use it. */
  permission?: { tool: string; subject: string };
  /** The members of an escalation of document 003, if the agent is blocked. */
  blocker?: Record<string, unknown>;
};

/** The signals of an agent that its transcript has unchanged. */
export type AgentActivity =
  /** The agent received the message `id` of the user during its turn. */
  | { type: "steered"; id: string; text: string }
  /** `parent` is the `id` of the call that started the subagent which makes this call. */
  | { type: "tool"; name: string; input: unknown; id?: string; parent?: string }
  /** The call `id` did nothing: it failed, was denied, or its tool does not exist. */
  | { type: "toolFailed"; id: string; error: string }
  /** The beginning of the result of the call `id`; for display only. */
  | { type: "toolResult"; id: string; text: string }
  /**
   * A subagent of this agent started or ended. `toolId` is the `id` of the call that started it, `parent` the `id` of the
   * subagent that made this call. Without `status` it completed.
   */
  | {
      type: "subagent";
      id: string;
      phase: "started" | "done";
      text: string | null;
      toolId?: string;
      parent?: string;
      status?: SubagentEnd;
    }
  | { type: "usage"; usage: Usage; context?: ContextSize }
  /** The agent withdrew the question `askId`. */
  | { type: "askCancelled"; askId: string }
  /** A line of a type that Tutti does not know, or without a required member. Only the transcript has it. */
  | { type: "other"; message: unknown }
  /** The provider refused; the agent retries by itself, after `retryAfterMs` if that is known. */
  | { type: "trouble"; cause: FailureCause; detail: string; retryAfterMs: number | null };

/**
 * `n` counts from 1. Only the newest text may still grow. `at` is the time as an ISO string, where it is known.
 * `omitted` is the number of characters left out of the middle of a long entry; the session's folder has up to its
 * output limit. Readers of a `TranscriptEntry` must ignore unknown types, because types may be added.
 */
export type TranscriptEntry = { n: number; at?: string; omitted?: number } & (
  | { type: "prompt"; turn: number; text: string }
  /** `capabilities` and `version` are those that the agent reported at its start. */
  | { type: "agent"; agent: string; version: string; conversation: string | null; capabilities: object | null }
  | { type: "text"; text: string }
  /** The agent answered with a tool of Tutti instead of a block. */
  | { type: "report"; phase: string; data: unknown }
  | AgentActivity
  | { type: "ask"; askId: string; question: string; options?: string[] }
  /** The agent was asked to stop this turn. */
  | { type: "interrupted"; turn: number }
  /** The agent showed no activity for `stallTimeout`, so its process was ended. */
  | { type: "stalled"; detail: string }
  | { type: "unstartable"; error: string }
  | { type: "turnOver"; turn: number; ending: Ending }
);

/** Whether a text or number of the entry contains `words`, whatever the case. */
export function hasWords(entry: TranscriptEntry, words: string): boolean {
  return contains({ ...entry, n: null, type: null }, words.toLowerCase());
}

function contains(value: unknown, words: string): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some((part) => contains(part, words));
  return (typeof value === "string" || typeof value === "number") && String(value).toLowerCase().includes(words);
}

export interface TranscriptPage {
  /** Return the entries after this `n`; 0 returns all. */
  after: number;
  limit: number;
  /** Approximate maximum. A page has at least one entry, however many `characters` it has. */
  characters?: number;
}
