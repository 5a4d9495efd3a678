// `ToolDesk` is the keeper's side of the tools that Tutti offers to its agents: a report of the agent becomes a line of
// the session, a question waits here for its answer. So a waiting call outlives the engine.
import type { AgentLine } from "../dialogue.ts";
import type { AnswerPhase } from "../../schema/status.ts";
import type { DelegationRight } from "../../schema/task.ts";

/** Starts the id of a question that was asked with a tool. Its answer goes to the call, not to the agent's input. */
const ASKED_BY_TOOL = "tutti-tool-";

export const isToolQuestion = (askId: string): boolean => askId.startsWith(ASKED_BY_TOOL);

/** The `phase` of the report that the agent has read the message to it. */
export const TASK_READ = "task_read";

interface ToolDeskOptions {
  role: string;
  /** Null for the main session. */
  taskId: string | null;
  delegation: DelegationRight;
  note: (line: AgentLine) => void;
}

type Question = Omit<Extract<AgentLine, { type: "ask" }>, "type" | "id">;

interface WaitingMessage {
  id: string;
  text: string;
}

export class ToolDesk {
  readonly role: string;
  readonly taskId: string | null;
  readonly delegation: DelegationRight;
  readonly #note: (line: AgentLine) => void;
  readonly #questions = new Map<string, (answer: string) => void>();
  #messages: WaitingMessage[] = [];
  #count = 0;
  /** The phase that the answer of the last turn must have; null before the first turn. */
  phase: AnswerPhase | null = null;
  /** `beginTurn` resets `hasDelegated`. */
  hasDelegated = false;
  /** The message to a role with the protocol `tools`. It is null if the prompts contain the whole task. */
  message: Record<string, unknown> | null = null;

  constructor({ role, taskId, delegation, note }: ToolDeskOptions) {
    this.role = role;
    this.taskId = taskId;
    this.delegation = delegation;
    this.#note = note;
  }

  /** The engine sends messages of an earlier turn again with the next prompt. */
  beginTurn(phase: AnswerPhase | null, message: Record<string, unknown> | null = null): void {
    this.phase = phase;
    this.message = message;
    this.hasDelegated = false;
    this.#messages = [];
  }

  /** `isWaiting` means that a call waits for the user. The agent then does nothing, but has not stalled. */
  get isWaiting(): boolean {
    return this.#questions.size > 0;
  }

  report(phase: string, data: Record<string, unknown>): void {
    this.#note({ type: "report", phase, data });
  }

  /** Rejects if `signal` is aborted: the agent no longer waits for the answer. */
  ask(question: Question, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const id = `${ASKED_BY_TOOL}${++this.#count}`;
    this.#questions.set(id, resolve);
    signal.addEventListener("abort", () => {
      if (!this.#questions.delete(id)) return;
      this.#note({ type: "ask_cancelled", id });
      reject(signal.reason as Error);
    });
    this.#note({ type: "ask", id, ...question });
    return promise;
  }

  /** False for a question that no call waits for. */
  answer(askId: string, text: string): boolean {
    const resolve = this.#questions.get(askId);
    this.#questions.delete(askId);
    resolve?.(text);
    return resolve !== undefined;
  }

  addMessage(message: WaitingMessage): void {
    this.#messages.push(message);
  }

  /** Returns each message once. It then counts as received by the agent. */
  readMessages(): string[] {
    const messages = this.#messages;
    this.#messages = [];
    for (const message of messages) this.#note({ type: "steered", ...message });
    return messages.map(({ text }) => text);
  }
}
