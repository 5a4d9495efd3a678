// What was said and done in one session, as a person reads it.
import type { Ending } from "./event.ts";
import type { Usage } from "./outcome.ts";

/** `n` counts from 1. The newest text may still grow; everything before it stays as it is. */
export type TranscriptEntry = { n: number } & (
  | { type: "prompt"; turn: number; text: string }
  | { type: "text"; text: string }
  | { type: "tool"; name: string; input: unknown }
  | { type: "usage"; usage: Usage }
  | { type: "ask"; askId: string; question: string; options?: string[] }
  /** The agent was asked to stop this turn. */
  | { type: "interrupted"; turn: number }
  | { type: "turnOver"; turn: number; ending: Ending }
);
