// A driver knows one kind of agent: what to run, how to put a turn into words for it, and what its output means. It has
// no state of its own beyond its decoder and starts nothing; that is the keeper's work.
import type { SessionSpec, Turn } from "./session.ts";
import type { Usage } from "../schema/outcome.ts";

export interface Launch {
  mode: "stream" | "turn";
  command: string[];
}

export interface Driver {
  /** Fails with a TuttiError if the rest of the agent's name makes no sense, or what it names cannot be had. */
  check(rest: string, cwd: string): void;
  launch(rest: string, spec: SessionSpec): Launch;
  encodeTurn(turn: Turn): string;
  /** The answer to a question, or null for agents that cannot ask. */
  encodeAnswer(askId: string, text: string): string | null;
  /** What asks the agent to stop its turn, or null for agents whose turn is a process of its own and ends with it. */
  encodeInterrupt(): string | null;
  decoder(): Decoder;
}

/** Turns the agent's bytes into what they mean. A character or a line may be cut anywhere between two pushes. */
export interface Decoder {
  push(bytes: Uint8Array): Decoded[];
  /** No more bytes will come for what is open. */
  flush(): Decoded[];
}

export type Decoded =
  | { type: "text"; text: string; complete: boolean }
  | { type: "partial"; text: string }
  | { type: "tool"; name: string; input: unknown }
  | { type: "usage"; usage: Usage }
  | { type: "ask"; askId: string; question: string; options?: string[] }
  | { type: "turnEnd"; error: string | null };
