// Reads Python line by line: lines without indentation belong to the module, lines indented below a class to the class.
// Strings and comments are masked first, because a docstring may contain code.
import { commentWords, tidyLines } from "./comments.ts";
import {
  addMember,
  emptyFacts,
  type ExportedName,
  type ImportedName,
  makeExport,
  mergeSameNames,
  type ModuleFacts,
} from "../read/facts.ts";
import { findOutside, mask, PYTHON, stringEnd } from "./mask.ts";
import { excerpt } from "./quote.ts";

interface PythonSource {
  text: string;
  masked: string;
  /** The offset of each line. */
  starts: number[];
}

export function readPython(path: string, text: string): ModuleFacts {
  const facts = emptyFacts(path, "Python", text);
  const source: PythonSource = { text, masked: mask(text, PYTHON), starts: lineStarts(text) };
  const lines = source.masked.split("\n");
  facts.header = docstringAt(source, 0) || topComment(text);
  facts.isProgram ||= /^if __name__ ==/m.test(source.masked);
  let openClass: ExportedName | null = null;
  let bodyIndent = 0;
  for (const [index, line] of lines.entries()) {
    const found = /^([ \t]*)(?:async\s+)?(def|class)\s+(\w+)/.exec(line);
    if (found?.[1] === "") {
      const entry = readDefinition(source, index, found[2] === "class" ? "class" : "function", found[3]!);
      openClass = entry.kind === "class" ? entry : null;
      bodyIndent = 0;
      facts.exports.push(entry);
    } else if (found && openClass && found[2] === "def") {
      bodyIndent ||= found[1]!.length;
      if (found[1]!.length === bodyIndent && (!found[3]!.startsWith("_") || found[3] === "__init__"))
        addMember(openClass, readDefinition(source, index, "function", found[3]!));
    } else if (/^[A-Z][A-Z0-9_]*\s*(?::[^=]*)?=(?!=)/.test(line)) {
      facts.exports.push(readConstant(source, index, /^\w+/.exec(line)![0]));
    } else if (/^\s*(?:import|from)\s/.test(line)) {
      readImport(facts, source, index);
    }
    if (/^[^\s#)\]}]/.test(line) && !found) openClass = null;
  }
  facts.exports = mergeSameNames(onlyPublic(text, facts.exports));
  return facts;
}

/** `__all__` lists the public names. Without it, names without a leading underscore are public. */
function onlyPublic(text: string, exports: ExportedName[]): ExportedName[] {
  const list = /^__all__\s*(?::[^=\n]*)?=\s*[[(]([^\])]*)[\])]/m.exec(text)?.[1];
  if (list === undefined) return exports.filter((entry) => !entry.name.startsWith("_"));
  const names = new Set([...list.matchAll(/["'](\w+)["']/g)].map((match) => match[1]));
  return exports.filter((entry) => names.has(entry.name));
}

function readDefinition(source: PythonSource, index: number, kind: "class" | "function", name: string): ExportedName {
  const start = source.starts[index]!;
  const end = findOutside(source.masked, start, ":");
  const indent = /^\s*/.exec(source.text.slice(start))![0].length;
  const signature = source.text
    .slice(start, end)
    .split("\n")
    .map((line) => line.slice(Math.min(indent, line.search(/\S|$/))).trimEnd())
    .join("\n");
  const doc = docstringAt(source, end + 1) || commentAbove(source, index);
  return makeExport(name, kind, index + 1, excerpt(signature, 30), doc);
}

function readConstant(source: PythonSource, index: number, name: string): ExportedName {
  const start = source.starts[index]!;
  const end = findOutside(source.masked, start, "\n");
  const signature = excerpt(source.text.slice(start, end).trimEnd(), 14);
  return makeExport(name, "constant", index + 1, signature, commentAbove(source, index));
}

/** Returns the string that is the first statement after `offset`. */
function docstringAt(source: PythonSource, offset: number): string {
  const found = /\S/g;
  found.lastIndex = offset;
  const first = found.exec(source.masked)?.index;
  if (first === undefined) return "";
  const quote = /^[rRuU]?(?=["'])/.exec(source.text.slice(first, first + 2));
  if (!quote) return "";
  const open = first + quote[0].length;
  const end = stringEnd(source.text, open, PYTHON);
  const width = source.text.startsWith(source.text[open]!.repeat(3), open) ? 3 : 1;
  return tidyLines(source.text.slice(open + width, Math.max(open + width, end - width)).split("\n"));
}

function commentAbove(source: PythonSource, index: number): string {
  const lines: string[] = [];
  for (let at = index - 1; at >= 0; at -= 1) {
    const line = source.text.slice(source.starts[at], (source.starts[at + 1] ?? source.text.length + 1) - 1);
    if (/^\s*#/.test(line)) lines.unshift(line);
    else if (lines.length > 0 || !/^\s*@/.test(line)) break;
  }
  return commentWords(lines.join("\n"));
}

function topComment(text: string): string {
  const found = /^(?:#!.*\n)?((?:#.*\n)+)/.exec(text);
  return found ? commentWords(found[1]!.trimEnd()) : "";
}

function readImport(facts: ModuleFacts, source: PythonSource, index: number): void {
  const start = source.starts[index]!;
  const statement = source.masked
    .slice(start, findOutside(source.masked, start, "\n;"))
    .replaceAll(/\s+/g, " ")
    .trim();
  const from = /^from (\.*[\w.]*) import \(?([^)]*)\)?/.exec(statement);
  if (from) {
    facts.imports.push({ from: from[1]!, names: importedNames(from[2]!) });
    // A package re-exports the names that its `__init__.py` imports from its modules.
    if (!facts.path.endsWith("__init__.py") || !from[1]!.startsWith(".")) return;
    for (const { imported, local } of importedNames(from[2]!)) {
      facts.reExports.push({ name: imported === "*" ? "*" : local, imported, from: from[1]!, line: index + 1 });
    }
    return;
  }
  const plain = /^import (.+)$/.exec(statement);
  for (const { imported, local } of plain ? importedNames(plain[1]!) : []) {
    facts.imports.push({ from: imported, names: [{ imported: "*", local }] });
  }
}

function importedNames(list: string): ImportedName[] {
  return list
    .split(",")
    .map((part) => /^\s*([\w.*]+)(?: as (\w+))?/.exec(part))
    .filter((match) => match !== null)
    .map((match) => ({ imported: match[1]!, local: match[2] ?? match[1]! }));
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
