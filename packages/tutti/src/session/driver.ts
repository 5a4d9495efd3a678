// A `Driver` describes one kind of agent: its command, and either the coding of its input and output or the dialogue
// that translates its own protocol to JSON lines. It is stateless and starts no process; the keeper does.
import type { DialogueName } from "./dialogues.ts";
import type { AgentSignal, SessionSpec, Turn } from "./session.ts";
import type { FailureCause } from "../schema/ending.ts";
import type { SandboxPaths } from "../schema/agent/sandbox.ts";

export interface Launch {
  mode: "stream" | "turn";
  command: string[];
  /** Variables that the driver sets. */
  env?: Record<string, string>;
  /** Unlike those in `env`, the user can override `defaults`. */
  defaults?: Readonly<Record<string, string>>;
  /** Further names to copy from the keeper's environment, where they are set. */
  passEnv?: string[];
  /** Files that the agent needs in the sandbox besides its program and its workspace. */
  access?: SandboxPaths;
}

export type Driver = CodingDriver | DialogueDriver;

interface ProgramDriver {
  /** Throws a `TuttiError` if `rest`, the agent's name after the prefix, is invalid or names a missing program. */
  check(rest: string, cwd: string): void;
  /**
   * `folder` is the session folder. In `launch` the driver may create subfolders in it, which are removed when the
   * session is archived. `env` is the engine's environment with the user's agent variables on top.
   */
  launch(rest: string, spec: SessionSpec, folder: string, env: NodeJS.ProcessEnv): Launch;
  /** Only the driver may set `ownEnv`; the host rejects these variables in the user's settings. */
  ownEnv?: readonly string[];
  /** True for a program that cannot be an MCP client. */
  lacksTools?: boolean;
}

export interface CodingDriver extends ProgramDriver {
  coding: Coding;
}

export interface DialogueDriver extends ProgramDriver {
  /** The `dialogue` runs in the keeper, which writes its JSON lines to `output.log`. */
  dialogue: DialogueName;
  /** Turns the command of `launch` into one that resumes a conversation. Absent if the program cannot. */
  resume?: (command: readonly string[]) => string[];
}

export interface Coding {
  encodeTurn(turn: Turn): string;
  /** Returns null for agents that cannot ask. */
  encodeAnswer(askId: string, text: string): string | null;
  /** Returns null for agents that run one process per turn: the keeper kills the process instead. */
  encodeInterrupt(): string | null;
  decoder(): Decoder;
}

/** A push of a `Decoder` may end in the middle of a character or a line. */
export interface Decoder {
  push(bytes: Uint8Array): Decoded[];
  flush(): Decoded[];
}

/** `at` is the time as an ISO string, if the line has one. */
export type Decoded = { at?: string } & (AgentSignal | { type: "turnEnd"; failure: TurnFailure | null });

export interface TurnFailure {
  detail: string;
  cause?: FailureCause;
  retryAfterMs?: number;
  resetAt?: number;
}
