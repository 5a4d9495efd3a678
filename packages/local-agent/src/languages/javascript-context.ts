// The state that the readers of statements share while they read a file of JavaScript or TypeScript.
import { commentBefore } from "./comments.ts";
import type { ModuleFacts } from "../read/facts.ts";
import type { Declaration } from "./javascript-declarations.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";

interface LocalDeclaration {
  declaration: Declaration;
  doc: string;
}

export interface ScriptContext {
  tokens: ScriptTokens;
  facts: ModuleFacts;
  /** All top-level declarations by name, exported or not. */
  locals: Map<string, LocalDeclaration[]>;
  /** Names exported by reference. They are resolved at the end of the file. */
  localExports: { local: string; name: string; line: number; isDefault: boolean }[];
}

/** Returns the comment before the statement that starts at the token. */
export function docAt(context: ScriptContext, index: number): string {
  return commentBefore(context.tokens, context.tokens.list[index]!.start)?.words ?? "";
}
