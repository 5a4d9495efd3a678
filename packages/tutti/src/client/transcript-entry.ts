// What was said and done in one session, as the server tells it. Here and not taken from `session/`, because a client
// runs where there are no sessions.
import type { Ending } from "../schema/event.ts";
import type { Usage } from "../schema/outcome.ts";

/** `n` counts from 1. The newest text may still grow; everything before it stays as it is. */
export type TranscriptEntry = { n: number } & (
  | { type: "prompt"; turn: number; text: string }
  | { type: "text"; text: string }
  | { type: "tool"; name: string; input: unknown }
  | { type: "usage"; usage: Usage }
  | { type: "ask"; askId: string; question: string; options?: string[] }
  | { type: "turnOver"; turn: number; ending: Ending }
);
