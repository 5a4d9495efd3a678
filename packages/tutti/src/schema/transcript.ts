// What was said and done in one session, as a person reads it.
import type { Ending, FailureCause } from "./ending.ts";
import type { Usage } from "./outcome.ts";

/**
 * `n` counts from 1. The newest text may still grow; everything before it stays as it is. `omitted` is how many characters
 * of a long one were left out at its end; the session's folder has all of them. Types that a reader does not know are to
 * be passed over: there may be more of them one day.
 */
export type TranscriptEntry = { n: number; omitted?: number } & (
  | { type: "prompt"; turn: number; text: string }
  /** Which program it is, and what it can do, as it showed at its start. */
  | { type: "agent"; agent: string; version: string; conversation: string | null; capabilities: object | null }
  | { type: "text"; text: string }
  | { type: "tool"; name: string; input: unknown }
  /** An agent that this one started itself has begun or ended. */
  | { type: "subagent"; id: string; phase: "started" | "done"; text: string | null }
  | { type: "usage"; usage: Usage }
  | { type: "ask"; askId: string; question: string; options?: string[] }
  /** It no longer wants to know. */
  | { type: "askCancelled"; askId: string }
  /** Its provider refused for now; the agent tries again by itself. */
  | { type: "trouble"; cause: FailureCause; detail: string; retryAfterMs: number | null }
  /** The agent was asked to stop this turn. */
  | { type: "interrupted"; turn: number }
  /** Nothing of the agent moved for too long, and its process was ended. */
  | { type: "stalled"; detail: string }
  /** It could not be started at all. */
  | { type: "unstartable"; error: string }
  | { type: "turnOver"; turn: number; ending: Ending }
);

/** A part of a transcript. */
export interface TranscriptPage {
  /** Entries after this one; 0 is all of them. */
  after: number;
  limit: number;
  /** About as many characters at most; one entry there is in any case. */
  characters?: number;
}
