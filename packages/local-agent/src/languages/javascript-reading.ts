// What is known while a file of JavaScript or TypeScript is read, shared by the readers of its statements.
import { commentBefore } from "./comments.ts";
import type { ModuleFacts } from "../read/facts.ts";
import type { Declaration } from "./javascript-declarations.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";

export interface Local {
  declaration: Declaration;
  doc: string;
}

/** What is known so far while a file is read. */
export interface ScriptReading {
  tokens: ScriptTokens;
  facts: ModuleFacts;
  /** Declarations at the top level by name, whether exported or not. */
  locals: Map<string, Local[]>;
  /** Names exported by reference, which are looked up when the whole file has been read. */
  byName: { local: string; name: string; line: number; isDefault: boolean }[];
}

/** The comment in front of the statement that begins at this token. */
export function docAt(reading: ScriptReading, index: number): string {
  return commentBefore(reading.tokens, reading.tokens.list[index]!.start)?.words ?? "";
}
