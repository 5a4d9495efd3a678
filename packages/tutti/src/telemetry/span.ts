import { createHash } from "node:crypto";

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Span {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  /** `client` means that another program does the work. */
  kind: "internal" | "client";
  /** Milliseconds since 1970, like `endMs`. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** The reason of a failure; null on success. */
  error: string | null;
}

/** `traceIdOf` and `spanIdOf` hash the subject of a span, so a span that is sent again has the same id. */
export const traceIdOf = (run: string): string => digest(["trace", run]).slice(0, 32);
export const spanIdOf = (run: string, ...about: (string | number)[]): string => digest([run, ...about]).slice(0, 16);

const digest = (parts: readonly (string | number)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
