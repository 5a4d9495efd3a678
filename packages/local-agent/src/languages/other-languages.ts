// Selects the reader of a language. Most languages have only an outline: the comment at the top of the file, and for
// some of them public types and functions that one line declares.
import { commentWords, isLicence } from "./comments.ts";
import {
  addMember,
  emptyFacts,
  type ExportedName,
  type DeclarationKind,
  makeExport,
  mergeSameNames,
  type ModuleFacts,
} from "../read/facts.ts";
import { readGo } from "./go.ts";
import { C_LIKE, commentLinesAbove, findOutside, mask, RUST } from "./mask.ts";
import { readPython } from "./python.ts";

const RUST_ITEM =
  /^(\s*)pub\s+(?:(?:async|const|unsafe|extern\s*(?:"[^"]*")?)\s+)*(fn|struct|enum|trait|const|static|type|mod|union)\s+(\w+)/;
const TYPE_ITEM =
  /^(\s*)(?:(?:public|open|abstract|final|sealed|data|static|export|partial|internal|case)\s+)*(class|interface|enum|record|struct|object|trait|protocol)\s+([A-Za-z_]\w*)/;
const METHOD_ITEM = /^\s+public\s+(?!class\b|interface\b|enum\b|record\b|struct\b)[^=;(){}]*?([A-Za-z_]\w*)\s*\(/;
const DOC_LINE = /^\s*(?:\/\/|\/\*|\*)/;
const ATTRIBUTE = /^\s*(?:#!?\[|@\w)/;

const LANGUAGES_WITH_TYPES = new Set(["Java", "Kotlin", "C#", "Scala", "Swift", "PHP", "Dart"]);

export function readOtherLanguage(path: string, language: string, text: string): ModuleFacts {
  if (language === "Python") return readPython(path, text);
  if (language === "Go") return readGo(path, text);
  const facts = emptyFacts(path, language, text);
  facts.header = topComment(text);
  if (language === "Rust") readRust(facts, text);
  else if (LANGUAGES_WITH_TYPES.has(language)) readTypes(facts, text);
  facts.exports = mergeSameNames(facts.exports);
  return facts;
}

function readRust(facts: ModuleFacts, text: string): void {
  const masked = mask(text, RUST);
  const lines = text.split("\n");
  let owner: string | null = null;
  eachLine(masked, (line, index, start) => {
    const block = /^impl(?:<[^>]*>)?\s+(?:[\w:<>', ]+\s+for\s+)?(\w+)/.exec(line);
    if (block) owner = block[1]!;
    else if (line.startsWith("}")) owner = null;
    const module = /^\s*(?:pub\s+)?mod\s+(\w+)\s*;/.exec(line);
    if (module) facts.imports.push({ from: `mod::${module[1]}`, names: [] });
    const used = /^\s*(?:pub\s+)?use\s+((?:crate|super|self)(?:::\w+)+)/.exec(line);
    if (used) facts.imports.push({ from: used[1]!, names: [] });
    if (line.startsWith("fn main(")) facts.isProgram = true;
    const item = RUST_ITEM.exec(line);
    if (!item || module) return;
    const kind: DeclarationKind =
      item[2] === "fn" ? "function" : /struct|enum|trait|union/.test(item[2]!) ? "class" : "constant";
    const end = findOutside(masked, start, item[2] === "fn" || item[2] === "trait" || item[2] === "mod" ? "{;" : ";}");
    const whole = text.slice(start, masked[end] === "}" ? end + 1 : end).trim();
    const signature = item[2] === "struct" || item[2] === "enum" ? wholeItem(text, masked, start) : whole;
    const entry = makeExport(item[3]!, kind, index + 1, signature, docAbove(lines, index));
    const type = item[1] === "" ? undefined : facts.exports.find((candidate) => candidate.name === owner);
    if (type) addMember(type, entry);
    else facts.exports.push(entry);
  });
}

/** Returns a struct or enum with its fields, up to the closing brace, or up to the semicolon if it has no brace. */
function wholeItem(text: string, masked: string, start: number): string {
  const open = findOutside(masked, start, "{;");
  if (masked[open] !== "{") return text.slice(start, open).trim();
  return text.slice(start, findOutside(masked, open + 1, "}") + 1).trim();
}

function readTypes(facts: ModuleFacts, text: string): void {
  const masked = mask(text, C_LIKE);
  const lines = text.split("\n");
  let type: ExportedName | null = null;
  eachLine(masked, (line, index, start) => {
    const imported = /^\s*(?:import|using)\s+(?:static\s+)?([\w.]+)/.exec(line);
    if (imported) facts.imports.push({ from: imported[1]!, names: [] });
    if (/\bstatic\s+void\s+[Mm]ain\s*\(/.test(line) || line.startsWith("fun main(")) facts.isProgram = true;
    const head = (): string =>
      text
        .slice(start, findOutside(masked, start, "{;"))
        .trim()
        .replaceAll(/\s*\n\s*/g, " ");
    const item = TYPE_ITEM.exec(line);
    if (item && item[1]!.length <= 4) {
      const kind = item[2] === "interface" ? "interface" : "class";
      type = makeExport(item[3]!, kind, index + 1, head(), docAbove(lines, index));
      facts.exports.push(type);
      return;
    }
    const method = METHOD_ITEM.exec(line);
    if (method && type) {
      type.members.push({ name: method[1]!, signature: head(), doc: docAbove(lines, index), line: index + 1 });
    }
  });
}

function eachLine(masked: string, visit: (line: string, index: number, start: number) => void): void {
  let start = 0;
  for (const [index, line] of masked.split("\n").entries()) {
    visit(line, index, start);
    start += line.length + 1;
  }
}

function docAbove(lines: string[], index: number): string {
  return commentWords(commentLinesAbove(lines, index, DOC_LINE, ATTRIBUTE).join("\n").trim());
}

/** Returns the comment at the top, in the comment syntax of any language. */
function topComment(text: string): string {
  const rest = text
    .replace(/^#!.*\n/, "")
    .replace(/^<\?php\s*/, "")
    .trimStart();
  const block = /^\/\*[\s\S]*?\*\//.exec(rest)?.[0];
  const run = /^(?:[ \t]*(?:\/\/|#(?!\s*(?:include|define|if|pragma|import)\b)|--).*(?:\n|$))+/.exec(rest)?.[0];
  const words = commentWords((block ?? run ?? "").trim());
  return isLicence(words) ? "" : words;
}
