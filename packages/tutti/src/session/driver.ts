// A driver knows one kind of agent: what to run, how to put a turn into words for it, and what its output means. It has
// no state of its own beyond its decoder and starts nothing; that is the keeper's work.
import type { DialogueName } from "./dialogues.ts";
import type { AgentSignal, SessionSpec, Turn } from "./session.ts";
import type { FailureCause } from "../schema/ending.ts";

export interface Launch {
  mode: "stream" | "turn";
  command: string[];
  /** The protocol of its own that the agent speaks; the keeper then makes our lines of it. */
  dialogue?: DialogueName;
  /** Variables that this agent needs besides, and that nobody else may set. */
  env?: Record<string, string>;
  /** Variables that it gets unless the person gives them another value. */
  defaults?: Readonly<Record<string, string>>;
  /** Names to take over from the engine's environment besides, where they are set. */
  passEnv?: string[];
}

export interface Driver {
  /** Fails with a TuttiError if the rest of the agent's name makes no sense, or what it names cannot be had. */
  check(rest: string, cwd: string): void;
  /**
   * `folder` is the session's own, where the agent may keep what it needs; in folders of its own, which go when the
   * session is archived. `env` is the engine's environment with what the person gives the agents on top.
   */
  launch(rest: string, spec: SessionSpec, folder: string, env: NodeJS.ProcessEnv): Launch;
  /** Variables that only the driver can set; it refuses them from the person. */
  ownEnv?: readonly string[];
  /** For agents with a dialogue these say what to encode, and the dialogue how. */
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

export type Decoded = AgentSignal | { type: "turnEnd"; failure: TurnFailure | null };

export interface TurnFailure {
  detail: string;
  cause?: FailureCause;
  retryAfterMs?: number;
  resetAt?: number;
}
