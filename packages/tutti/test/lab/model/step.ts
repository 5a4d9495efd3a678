// What the scripted model does in answer to one request: a list of steps, played in order.
//
// A list that begins with `fail` or `hang` sends no stream at all. Anywhere else, `fail` is an error within the stream.

export type Step =
  | { kind: "text" | "thinking"; text: string; paceMs?: number }
  | { kind: "write"; path: string; content: string }
  | { kind: "run"; command: string }
  | { kind: "call"; tool: string; input: object }
  | { kind: "mcp"; server: string; tool: string; input: object }
  | { kind: "usage"; usage: ModelUsage }
  | { kind: "stop"; reason: StopReason }
  | { kind: "fail"; failure: Failure }
  | { kind: "wait"; ms: number }
  | { kind: "hang" | "stall" | "die" };

export type StopReason = "refusal" | "max_tokens";

export interface ModelUsage {
  input: number;
  output: number;
  cached?: number;
}

export type FailureName =
  | "badRequest"
  | "promptTooLong"
  | "unauthorised"
  | "billing"
  | "rateLimit"
  | "serverError"
  | "overloaded";

/** An error of the vendor. Each dialect knows its status and wording; both can be set. */
export interface Failure {
  name: FailureName;
  status?: number;
  message?: string;
  retryAfterSeconds?: number;
}

/** Text, in several deltas; `paceMs` apart, for answers that somebody interrupts. */
export const say = (text: string, paceMs?: number): Step => ({ kind: "text", text, ...(paceMs ? { paceMs } : {}) });
export const think = (text: string): Step => ({ kind: "thinking", text });

/** A call of the agent's own tool for new files. The path may be relative to the agent's folder. */
export const write = (path: string, content: string): Step => ({ kind: "write", path, content });

/** A call of the agent's own shell tool. */
export const run = (command: string): Step => ({ kind: "run", command });

/** A call of a tool by the name that the vendor knows it under. */
export const call = (tool: string, input: object = {}): Step => ({ kind: "call", tool, input });

/** A call of a tool of an MCP server, under the name that each program gives it. */
export const mcp = (server: string, tool: string, input: object = {}): Step => ({ kind: "mcp", server, tool, input });

/** The tokens that the answer is said to have used. Without it they follow from the lengths. */
export const usage = (counts: ModelUsage): Step => ({ kind: "usage", usage: counts });

/** Ends the answer for another reason than being complete. */
export const stop = (reason: StopReason): Step => ({ kind: "stop", reason });

export const fail = (name: FailureName, details: Omit<Failure, "name"> = {}): Step => ({
  kind: "fail",
  failure: { name, ...details },
});

/** Nothing is sent for a while; before the first other step not even headers. */
export const wait = (ms: number): Step => ({ kind: "wait", ms });

/** Nothing at all is sent, not even headers, until the program goes away. */
export const hang = (): Step => ({ kind: "hang" });

/** Headers and the steps before this one are sent, then nothing until the program goes away. */
export const stall = (): Step => ({ kind: "stall" });

/** The connection breaks after the steps before this one. */
export const die = (): Step => ({ kind: "die" });
