// A `Dialogue` translates between an agent's own protocol and the JSON lines of `command:` agents
// (drivers/json-lines.ts), so that all other code reads one format. It runs in the keeper and therefore continues
// without an engine.
import type { ToolAddress } from "./tools/tool-listener.ts";
import type { FailureCause } from "../schema/ending.ts";
import type { Permissions } from "../schema/permissions.ts";
import type { SubagentEnd } from "../schema/status.ts";
import type { AgentActivity, AgentQuestion } from "../schema/transcript.ts";

/** The agent announces its `Capabilities` at its start. */
export interface Capabilities {
  /** The agent streams the text of an answer while writing it. */
  partialText: boolean;
  /** The agent can stop a turn without ending the session. */
  interrupt: boolean;
  /** The agent can continue a conversation in a new process. */
  resume: boolean;
  /** The agent asks before it uses a tool. */
  permissions: boolean;
  cost: "usd" | "tokens" | "none";
  /** The agent reports the agents that it starts itself. */
  subagents: boolean;
  /** The agent receives messages during a turn. */
  steer?: boolean;
}

/** A JSON line as `command:` agents write it. */
export type AgentLine =
  | { type: "ready"; agent: string; version: string; conversation: string | null; capabilities: Capabilities }
  | { type: "assistant"; text: string; partial?: boolean }
  | Extract<AgentActivity, { type: "tool" | "steered" }>
  /** The call `id` did nothing: it failed, was denied, or its tool does not exist. */
  | { type: "tool_failed"; id: string; error: string }
  /** The beginning of the result of the call `id`. */
  | { type: "tool_result"; id: string; text: string }
  /**
   * `toolId` is the id of the call that started the subagent, `parent` the id of the subagent that made it. With `done`
   * the `text` is its result, or its error.
   */
  | {
      type: "subagent";
      id: string;
      phase: "started" | "done";
      text?: string;
      toolId?: string;
      parent?: string;
      status?: SubagentEnd;
    }
  /** Counts since the previous `usage` line, and the size of the conversation now, if the agent knows it. */
  | {
      type: "usage";
      inputTokens: number;
      outputTokens: number;
      usd?: number;
      contextTokens?: number;
      contextWindow?: number;
    }
  | ({ type: "ask"; id: string } & AgentQuestion)
  /** The agent answered with a tool of Tutti. Only the keeper writes this line. */
  | { type: "report"; phase: string; data: Record<string, unknown> }
  /** The agent withdraws an open question. */
  | { type: "ask_cancelled"; id: string }
  /** The provider refused a request and the agent retries by itself. */
  | { type: "provider_trouble"; cause: FailureCause; detail: string; retryAfterMs?: number }
  | ({ type: "turn_end" } & DialogueFailure);

/** Without `error` the turn succeeded. */
export interface DialogueFailure {
  error?: string;
  cause?: FailureCause;
  retryAfterMs?: number;
  resetAt?: number;
}

export interface TokenCounts {
  inputTokens: number;
  outputTokens: number;
}

/** A `ResumedConversation` was begun by an earlier keeper. */
export interface ResumedConversation {
  conversation: string;
  /** How often the session was continued before, counting from 1, for ids that must differ from earlier ones. */
  count: number;
  /** Totals of the conversation so far. */
  used: TokenCounts & { usd: number };
}

export interface DialogueContext {
  sessionId: string;
  cwd: string;
  permissions: Permissions;
  /** How many levels of sub-agents the agent may start. Without `subagentDepth` there is no limit. */
  subagentDepth?: number | undefined;
  /** Null for the agent's own default. */
  model: string | null;
  /** The conversation to resume; null for a new one. */
  resumed: ResumedConversation | null;
  tools: ToolAddress;
  /** The command of the first process, for `relaunch`. */
  command: readonly string[];
  write(text: string): void;
  /** Writes `line` to `output.log`. */
  emit(line: AgentLine): void;
  /** Call `ready` when the agent accepts turns. Turns requested earlier are queued until then. */
  ready(): void;
  /** Call `fail` if the agent is unusable: ends the session with this reason. */
  fail(error: string): void;
}

export interface DialogueTurn {
  number: number;
  text: string;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  /** The end of stderr. */
  errors: string;
}

export interface Dialogue {
  /** Called for each process of the agent, so again after a `relaunch`. */
  open(): void;
  /** Handles one line of the agent's output, without the line break. */
  receive(line: string): void;
  turn(turn: DialogueTurn): void;
  answer(askId: string, text: string): void;
  /** Sends a message in the open turn. Emits `steered` once the agent has it. */
  steer?(id: string, text: string): void;
  interrupt(): void;
  /** Called when the process has exited by itself, after all of its lines were received. */
  exited(exit: ProcessExit): void;
  /**
   * The command that resumes the conversation after its process died in the middle of a turn, or null if it cannot be
   * resumed. The turn is then sent again.
   */
  relaunch?(): string[] | null;
}

export type OpenDialogue = (context: DialogueContext) => Dialogue;
