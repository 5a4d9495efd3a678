// The scripted model's answer to one request: a list of steps, played in order.
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

/** Each dialect has a default `status` and wording. */
export interface Failure {
  name: FailureName;
  status?: number;
  message?: string;
  retryAfterSeconds?: number;
}

/** Text in several deltas, `paceMs` apart so that a test can interrupt it. */
export const say = (text: string, paceMs?: number): Step => ({ kind: "text", text, ...(paceMs ? { paceMs } : {}) });
export const think = (text: string): Step => ({ kind: "thinking", text });

/** `path` may be relative to the agent's folder. */
export const write = (path: string, content: string): Step => ({ kind: "write", path, content });

export const run = (command: string): Step => ({ kind: "run", command });

export const call = (tool: string, input: object = {}): Step => ({ kind: "call", tool, input });

/** Calls a tool of an MCP server, by the name that each program gives it. */
export const mcp = (server: string, tool: string, input: object = {}): Step => ({ kind: "mcp", server, tool, input });

/** Default: an estimate from the lengths. */
export const usage = (counts: ModelUsage): Step => ({ kind: "usage", usage: counts });

export const stop = (reason: StopReason): Step => ({ kind: "stop", reason });

export const fail = (name: FailureName, details: Omit<Failure, "name"> = {}): Step => ({
  kind: "fail",
  failure: { name, ...details },
});

/** Pauses. As the first step it also delays the headers. */
export const wait = (ms: number): Step => ({ kind: "wait", ms });

/** Sends nothing, not even headers, until the program disconnects. */
export const hang = (): Step => ({ kind: "hang" });

/** Sends the headers and the steps before this one, then nothing until the program disconnects. */
export const stall = (): Step => ({ kind: "stall" });

export const die = (): Step => ({ kind: "die" });
