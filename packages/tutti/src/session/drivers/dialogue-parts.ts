// Parts that the dialogues share.
import type { AgentLine, DialogueFailure, ProcessExit } from "../dialogue.ts";

/** A program may wait this long before a retry. The run schedules longer waits. */
export const LONGEST_RETRY_MS = 30_000;

/** In characters, for the reason why a tool call failed. */
export const MAX_ERROR = 2000;

/** In characters, for the result of a tool call. */
const MAX_RESULT = 4000;

/** The line of a result, cut to its beginning; none for a call without any text. */
export function resultLines(id: string, text: string): AgentLine[] {
  if (text.trim() === "") return [];
  const rest = text.length - MAX_RESULT;
  const cut = rest <= 0 ? text : `${text.slice(0, MAX_RESULT)}\n… ${rest} more characters`;
  return [{ type: "tool_result", id, text: cut }];
}

/** The prompt of a turn that is sent again to a resumed conversation. */
export const repeatedPrompt = (prompt: string): string =>
  "Your process ended in the middle of this turn and was restarted. Your work so far is in the working directory: " +
  `inspect it first, then continue. This was the request:\n\n${prompt}`;

// oxlint-disable-next-line no-control-regex -- a terminal colour starts with the control character ESC
const COLOURS = /\u001b\[[\d;]*m/g;

/** Why a program that has exited cannot be used, with the last line of its stderr. */
export function exitProblem(program: string, { code, signal, errors }: ProcessExit, when: string): string {
  const how = signal ? `was ended by ${signal}` : `exited with ${code}`;
  const lastLine = errors.replaceAll(COLOURS, "").trim().split("\n").at(-1)!.slice(0, 300);
  return `${program} ${how} ${when}${lastLine === "" ? "" : `: ${lastLine}`}`;
}

/** The failure of a turn that ran no tool because all of its calls were refused. */
export const denialOf = (tools: Iterable<string>): DialogueFailure => ({
  error: `the agent was not allowed to use ${[...new Set(tools)].join(", ")}, and did nothing else`,
  cause: "denied",
});

type Ask = Omit<Extract<AgentLine, { type: "ask" }>, "type">;

/** The questions that the user has not answered yet, each with the value that `take` returns for its answer. */
export class OpenQuestions<T> {
  readonly #tell: (line: AgentLine) => void;
  readonly #open = new Map<string, T>();

  constructor(tell: (line: AgentLine) => void) {
    this.#tell = tell;
  }

  ask(question: Ask, value: T): void {
    this.#open.set(question.id, value);
    this.#tell({ type: "ask", ...question });
  }

  /** Undefined for an unknown or withdrawn question. */
  take(id: string): T | undefined {
    const value = this.#open.get(id);
    this.#open.delete(id);
    return value;
  }

  /** Returns the values of the withdrawn questions. */
  withdraw(isWithdrawn: (value: T) => boolean = () => true): T[] {
    const found = [...this.#open].filter(([, value]) => isWithdrawn(value));
    for (const [id] of found) {
      this.#open.delete(id);
      this.#tell({ type: "ask_cancelled", id });
    }
    return found.map(([, value]) => value);
  }
}
