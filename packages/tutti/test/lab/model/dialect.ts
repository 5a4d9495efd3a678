// The interface between the endpoint and a vendor's dialect, and code shared by all vendors.
import type { IncomingHttpHeaders } from "node:http";
import type { Asked, ModelRequest, Vendor } from "./model-request.ts";
import type { Failure, ModelUsage, Step } from "./step.ts";

/** A piece of the stream, or a fault at this position. */
export type Frame = string | { wait: number } | { end: "stall" | "die" };

export interface FailedReply {
  status: number;
  headers: Record<string, string>;
  body: object;
}

export interface Dialect {
  vendor: Vendor;
  read(body: unknown, headers: IncomingHttpHeaders, path: string): Asked;
  stream(request: ModelRequest, steps: Step[]): Iterable<Frame>;
  /** For requests without streaming. */
  whole(request: ModelRequest, steps: Step[]): object;
  failed(failure: Failure): FailedReply;
  /**
   * Answers a minor request that a program makes by itself. Returns undefined for requests that belong to the script.
   */
  aside?(request: ModelRequest): Step[] | undefined;
}

/** `size` counts whole characters, so no delta cuts one. */
export const deltas = (text: string, size = 80): string[] => text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [""];

export function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

export function* paced(step: Step & { text: string; paceMs?: number }, frame: (delta: string) => string) {
  for (const delta of deltas(step.text)) {
    yield frame(delta);
    if (step.paceMs !== undefined) yield { wait: step.paceMs };
  }
}

/** Uses the last `usage` step, or an estimate from the lengths. */
export function usageOf(request: ModelRequest, steps: Step[]): Required<ModelUsage> {
  const named = steps.findLast((step) => step.kind === "usage")?.usage;
  const input = Math.ceil(JSON.stringify(request.body).length / 4);
  const output = Math.ceil(JSON.stringify(steps).length / 4);
  return { input, output, cached: 0, ...named };
}

export const stopOf = (steps: Step[]) => steps.findLast((step) => step.kind === "stop")?.reason;

export function faultFrame(step: Step): Frame | undefined {
  if (step.kind === "stall" || step.kind === "die") return { end: step.kind };
  if (step.kind === "hang") return { end: "stall" };
  if (step.kind === "wait") return { wait: step.ms };
  return undefined;
}
