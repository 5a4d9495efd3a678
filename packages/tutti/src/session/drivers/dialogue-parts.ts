import type { AgentLine, DialogueFailure, ProcessExit, TokenCounts } from "../dialogue.ts";
import type { AgentQuestion } from "../../schema/transcript.ts";

/** A program may wait `LONGEST_RETRY_MS` before a retry. The run schedules longer waits. */
export const LONGEST_RETRY_MS = 30_000;

/** In characters. `MAX_ERROR` limits the reason why a tool call failed. */
export const MAX_ERROR = 2000;

/** In characters. `MAX_RESULT` limits the result of a tool call. */
const MAX_RESULT = 4000;

/** Cuts a result to its beginning. Empty for a call without any text. */
export function resultLines(id: string, text: string): AgentLine[] {
  if (text.trim() === "") return [];
  const rest = text.length - MAX_RESULT;
  const cut = rest <= 0 ? text : `${text.slice(0, MAX_RESULT)}\n… ${rest} more characters`;
  return [{ type: "tool_result", id, text: cut }];
}

/** `repeatedPrompt` is for a turn that is sent again to a resumed conversation. */
export const repeatedPrompt = (prompt: string): string =>
  "Your process ended in the middle of this turn and was restarted. Your work so far is in the working directory: " +
  `inspect it first, then continue. This was the request:\n\n${prompt}`;

// oxlint-disable-next-line no-control-regex -- a terminal colour starts with the control character ESC
const COLOURS = /\u001b\[[\d;]*m/g;

/** `exitProblem` has the last line of stderr of a program that has exited and cannot be used. */
export function exitProblem(program: string, { code, signal, errors }: ProcessExit, when: string): string {
  const how = signal ? `was ended by ${signal}` : `exited with ${code}`;
  const lastLine = errors.replaceAll(COLOURS, "").trim().split("\n").at(-1)!.slice(0, 300);
  return `${program} ${how} ${when}${lastLine === "" ? "" : `: ${lastLine}`}`;
}

/** `denialOf` is the failure of a turn that ran no tool, because all of its calls were refused. */
export const denialOf = (tools: Iterable<string>): DialogueFailure => ({
  error: `the agent was not allowed to use ${[...new Set(tools)].join(", ")}, and did nothing else`,
  cause: "denied",
});

/** Returns null if the count restarted, which smaller totals mean. */
export function tokensSince(total: TokenCounts, previous: TokenCounts): TokenCounts | null {
  const inputTokens = total.inputTokens - previous.inputTokens;
  const outputTokens = total.outputTokens - previous.outputTokens;
  return inputTokens < 0 || outputTokens < 0 ? null : { inputTokens, outputTokens };
}

/** `OpenQuestions` wait for an answer of the user, each with the value that `take` returns for its answer. */
export class OpenQuestions<T> {
  readonly #emit: (line: AgentLine) => void;
  readonly #open = new Map<string, T>();

  constructor(emit: (line: AgentLine) => void) {
    this.#emit = emit;
  }

  ask(question: AgentQuestion & { id: string }, value: T): void {
    this.#open.set(question.id, value);
    this.#emit({ type: "ask", ...question });
  }

  /** Undefined for an unknown or withdrawn question. */
  take(id: string): T | undefined {
    const value = this.#open.get(id);
    this.#open.delete(id);
    return value;
  }

  withdraw(isWithdrawn: (value: T) => boolean = () => true): T[] {
    const found = [...this.#open].filter(([, value]) => isWithdrawn(value));
    for (const [id] of found) {
      this.#open.delete(id);
      this.#emit({ type: "ask_cancelled", id });
    }
    return found.map(([, value]) => value);
  }
}
