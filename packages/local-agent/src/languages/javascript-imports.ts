// Imports of every form: statements, require, and the lazy import().
import type { ImportedName } from "../read/facts.ts";
import type { ScriptReading } from "./javascript-reading.ts";
import { isName, textAt } from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";

export function readImportStatement(reading: ScriptReading, index: number): number {
  const { tokens, facts } = reading;
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
      // `import tool = require("tool")` is found again as a call of require.
      if (textAt(tokens, at + 1) === "=") return at + 2;
      names.push({ imported: "default", local: token.text });
    }
  }
  return at;
}

/** Calls of require and import(), wherever they stand, with the names taken from them where that can be seen. */
export function readLazyImports({ tokens, facts }: ScriptReading): void {
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
  let before = callIndex - 1;
  if (textAt(tokens, before) === "await") before -= 1;
  if (textAt(tokens, before) !== "=") return [];
  const target = before - 1;
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

/** The value of a string literal; a name is its own value. */
export function stringValue(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text;
}
