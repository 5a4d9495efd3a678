// Reads imports in every form: statements, `require` and `import()`.
import type { ImportedName } from "../read/facts.ts";
import type { ScriptContext } from "./javascript-context.ts";
import { isName, textAt } from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";

export function readImportStatement(context: ScriptContext, index: number): number {
  const { tokens, facts } = context;
  let at = index + 1;
  if (textAt(tokens, at) === "type" && !/^(?:from|,|=)$/.test(textAt(tokens, at + 1))) at += 1;
  const names: ImportedName[] = [];
  for (; at < tokens.list.length && at < index + 5_000; at += 1) {
    const token = tokens.list[at]!;
    if (token.type === "string") {
      facts.imports.push({ from: stringValue(token.text), names });
      return at + 1;
    }
    if (token.text === ";") return at;
    if (token.text === "{") {
      const close = Math.min(tokens.partner[at]!, tokens.list.length);
      names.push(...readNames(tokens, at, close, "as"));
      at = close;
    } else if (token.text === "*") {
      names.push({ imported: "*", local: textAt(tokens, at + 2) });
      at += 2;
    } else if (isName(token) && token.text !== "from") {
      // `readLazyImports` reads the call in `import tool = require("tool")`.
      if (textAt(tokens, at + 1) === "=") return at + 2;
      names.push({ imported: "default", local: token.text });
    }
  }
  return at;
}

/** Reads all calls of `require` and `import()`, with the names that are assigned from them. */
export function readLazyImports({ tokens, facts }: ScriptContext): void {
  for (let at = 0; at + 2 < tokens.list.length; at += 1) {
    const text = textAt(tokens, at);
    if (text !== "require" && text !== "import") continue;
    const argument = tokens.list[at + 2]!;
    const isCall = textAt(tokens, at + 1) === "(" && argument.type === "string" && textAt(tokens, at - 1) !== ".";
    if (!isCall || !/^[),]$/.test(textAt(tokens, at + 3))) continue;
    facts.imports.push({ from: stringValue(argument.text), names: assignedNames(tokens, at) });
  }
}

function assignedNames(tokens: ScriptTokens, callIndex: number): ImportedName[] {
  let equals = callIndex - 1;
  if (textAt(tokens, equals) === "await") equals -= 1;
  if (textAt(tokens, equals) !== "=") return [];
  const target = equals - 1;
  const member = textAt(tokens, callIndex + 4) === "." ? textAt(tokens, callIndex + 5) : null;
  if (isName(tokens.list[target])) return [{ imported: member ?? "*", local: textAt(tokens, target) }];
  if (textAt(tokens, target) !== "}") return [];
  const open = tokens.partner[target]!;
  return open >= target ? [] : readNames(tokens, open, target, ":");
}

function readNames(tokens: ScriptTokens, open: number, close: number, rename: "as" | ":"): ImportedName[] {
  const names: ImportedName[] = [];
  for (let at = open + 1; at < close; at += 1) {
    if (textAt(tokens, at) === "type" && !/^(?:,|as|\}|:)$/.test(textAt(tokens, at + 1))) at += 1;
    const imported = stringValue(textAt(tokens, at));
    const isRenamed = textAt(tokens, at + 1) === rename;
    const local = isRenamed ? textAt(tokens, at + 2) : imported;
    if (/^[\p{ID_Start}$_]/u.test(imported)) names.push({ imported, local });
    while (at < close && textAt(tokens, at) !== ",") at += 1;
  }
  return names;
}

/** Returns the value of a string literal, and a name unchanged. */
export function stringValue(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text;
}
