// One span of a trace, before it is written for a collector.
import { createHash } from "node:crypto";

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Span {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  /** `client`: what happens is done by another program. */
  kind: "internal" | "client";
  /** In milliseconds since 1970. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why it failed; null if it did not. */
  error: string | null;
}

/** Ids follow from what a span is about, so that whoever sends it again sends the same one. */
export const traceIdOf = (run: string): string => digest(["trace", run]).slice(0, 32);
export const spanIdOf = (run: string, ...about: (string | number)[]): string => digest([run, ...about]).slice(0, 16);

const digest = (parts: readonly (string | number)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
