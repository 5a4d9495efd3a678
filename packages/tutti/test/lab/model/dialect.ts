// What the endpoint has to know of a vendor, and what the three have in common.
import type { IncomingHttpHeaders } from "node:http";
import type { Asked, ModelRequest, Vendor } from "./model-request.ts";
import type { Failure, ModelUsage, Step } from "./step.ts";

/** A piece of the stream, or what happens to the stream at this place. */
export type Frame = string | { wait: number } | { end: "stall" | "die" };

export interface FailedReply {
  status: number;
  headers: Record<string, string>;
  body: object;
}

export interface Dialect {
  vendor: Vendor;
  read(body: unknown, headers: IncomingHttpHeaders, path: string): Asked;
  /** The answer as server-sent events. */
  stream(request: ModelRequest, steps: Step[]): Iterable<Frame>;
  /** The answer in one piece, for requests that want no stream. */
  whole(request: ModelRequest, steps: Step[]): object;
  failed(failure: Failure): FailedReply;
  /** The answer to a small question that a program asks on its own; undefined for what belongs to the script. */
  aside?(request: ModelRequest): Step[] | undefined;
}

/** Text as the deltas of a stream bring it, never cut within a character. */
export const deltas = (text: string, size = 80): string[] => text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [""];

export function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

/** Deltas of a text with the pauses between them. */
export function* paced(step: Step & { text: string; paceMs?: number }, frame: (delta: string) => string) {
  for (const delta of deltas(step.text)) {
    yield frame(delta);
    if (step.paceMs !== undefined) yield { wait: step.paceMs };
  }
}

/** The tokens that a script names, or numbers that follow from the lengths. */
export function usageOf(request: ModelRequest, steps: Step[]): Required<ModelUsage> {
  const named = steps.findLast((step) => step.kind === "usage")?.usage;
  const input = Math.ceil(JSON.stringify(request.body).length / 4);
  const output = Math.ceil(JSON.stringify(steps).length / 4);
  return { input, output, cached: 0, ...named };
}

export const stopOf = (steps: Step[]) => steps.findLast((step) => step.kind === "stop")?.reason;

/** What happens to any stream at a step that says nothing itself. */
export function faultFrame(step: Step): Frame | undefined {
  if (step.kind === "stall" || step.kind === "die") return { end: step.kind };
  if (step.kind === "hang") return { end: "stall" };
  if (step.kind === "wait") return { wait: step.ms };
  return undefined;
}
