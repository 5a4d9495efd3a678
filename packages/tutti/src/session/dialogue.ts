// How a keeper speaks with an agent that has a protocol of its own: hand-shakes, permissions, requests with numbers. A
// dialogue hears the lines that the agent writes and says what it has to; what matters of it for us it tells in the
// lines of `command:` agents (drivers/json-lines.ts). So everybody else reads one language, and a dialogue goes on
// while no engine is there.
import type { FailureCause } from "../schema/ending.ts";
import type { Permissions } from "../schema/permissions.ts";

/** What the agent can do, as it showed at its start; nothing is assumed. */
export interface Capabilities {
  /** Whether the words of an answer come while it is written. */
  partialText: boolean;
  /** Whether a turn can be stopped without ending the session. */
  interrupt: boolean;
  /** Whether a conversation goes on after its process died. */
  resume: boolean;
  /** Whether it asks before it uses a tool. */
  permissions: boolean;
  cost: "usd" | "tokens" | "none";
  /** What it tells of agents that it starts itself. */
  subagents: boolean;
}

/** A line of our own language, as `command:` agents write it. */
export type AgentLine =
  | { type: "ready"; agent: string; version: string; conversation: string | null; capabilities: Capabilities }
  | { type: "assistant"; text: string; partial?: boolean }
  | { type: "tool"; name: string; input: unknown }
  | { type: "subagent"; id: string; phase: "started" | "done"; text?: string }
  /** What was used since the last such line. */
  | { type: "usage"; inputTokens: number; outputTokens: number; usd?: number }
  /** `permission` names the tool if the question is whether it may be used. */
  | { type: "ask"; id: string; question: string; options?: string[]; permission?: { tool: string; subject: string } }
  /** The agent takes back a question that nobody has answered yet. */
  | { type: "ask_cancelled"; id: string }
  /** The provider refused for now, and the agent tries again by itself. */
  | { type: "provider_trouble"; cause: FailureCause; detail: string; retryAfterMs?: number }
  | ({ type: "turn_end" } & TurnFailure);

/** Without `error` the turn ended well. */
export interface TurnFailure {
  error?: string;
  cause?: FailureCause;
  retryAfterMs?: number;
  resetAt?: number;
}

export interface DialogueContext {
  sessionId: string;
  /** The folder the agent works in. */
  cwd: string;
  permissions: Permissions;
  /** What was started; a relaunch may need it. */
  command: readonly string[];
  /** Says something to the agent. */
  write(text: string): void;
  /** Tells everybody else what it means. */
  tell(line: AgentLine): void;
  /** The agent can take a turn now. Turns that were asked for before are kept and given then. */
  ready(): void;
  /** The agent cannot be used at all; the session ends with this reason. */
  fail(error: string): void;
}

export interface DialogueTurn {
  number: number;
  text: string;
}

export interface Dialogue {
  /** The agent's process is there; also once more after a relaunch. */
  open(): void;
  /** One line that the agent wrote, without its end. */
  hear(line: string): void;
  turn(turn: DialogueTurn): void;
  answer(askId: string, text: string): void;
  /** Asks the agent to stop its open turn. */
  interrupt(): void;
  /** The process has ended by itself and everything it wrote was heard; `errors` is the end of what it wrote to stderr. */
  exited(how: { code: number | null; signal: string | null; errors: string }): void;
  /**
   * The command that takes the conversation up again after its process died in the middle of a turn, or null if that
   * cannot be. The turn is then given again.
   */
  relaunch?(): string[] | null;
}

export type OpenDialogue = (context: DialogueContext) => Dialogue;
