// Reads Go line by line. A name with a capital first letter is public. The comment directly above a declaration or above
// the package clause documents it.
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
import { commentLinesAbove, findOutside, GO, mask } from "./mask.ts";
import { excerpt } from "./quote.ts";

export function readGo(path: string, text: string): ModuleFacts {
  const facts = emptyFacts(path, "Go", text);
  const masked = mask(text, GO);
  const lines = text.split("\n");
  const maskedLines = masked.split("\n");
  const methods: { receiver: string; entry: ExportedName }[] = [];
  let offset = 0;
  let group: DeclarationKind | null = null;
  for (const [index, line] of maskedLines.entries()) {
    const start = offset;
    offset += line.length + 1;
    const entry = (name: string, kind: DeclarationKind, signature: string): ExportedName => {
      const doc = commentWords(
        commentLinesAbove(lines, index, /^\s*\/\//)
          .join("\n")
          .trim(),
      );
      return makeExport(name, kind, index + 1, excerpt(signature, 30), doc);
    };
    const whole = (): string => text.slice(start, findOutside(masked, start, "\n")).trimEnd();
    const func = /^func\s+(?:\(\s*(?:\w+\s+)?\*?(\w+)(?:\[[^\]]*\])?\s*\)\s*)?([A-Z]\w*)/.exec(line);
    const type = /^type\s+([A-Z]\w*)/.exec(line);
    const value = /^(const|var)\s+([A-Z]\w*)/.exec(line);
    const groupStart = /^(const|var|type)\s*\(/.exec(line);
    if (line.startsWith("package ")) facts.header = packageComment(lines, index);
    else if (func) {
      const exported = entry(func[2]!, "function", functionHead(text, masked, start));
      if (func[1] === undefined) facts.exports.push(exported);
      else if (/^[A-Z]/.test(func[1])) methods.push({ receiver: func[1], entry: exported });
    } else if (type) facts.exports.push(entry(type[1]!, kindOfType(line), whole()));
    else if (value) facts.exports.push(entry(value[2]!, "constant", whole()));
    else if (groupStart) group = groupStart[1] === "type" ? "type" : "constant";
    else if (line.startsWith(")")) group = null;
    else if (group && /^\t[A-Z]\w*/.test(line))
      facts.exports.push(entry(line.trim().split(/\W/)[0]!, group, whole().trim()));
    if (line.startsWith("func main()") && /^package main\b/m.test(masked)) facts.isProgram = true;
  }
  for (const { receiver, entry } of methods) {
    const owner = facts.exports.find((candidate) => candidate.name === receiver);
    if (owner) addMember(owner, entry);
    else facts.exports.push(entry);
  }
  facts.exports = mergeSameNames(facts.exports);
  facts.imports = readImports(text);
  return facts;
}

/** Returns the text up to the brace of the body, which is not the brace of a type in the results. */
function functionHead(text: string, masked: string, start: number): string {
  let end = findOutside(masked, start, "{\n");
  while (/\b(?:interface|struct)\s*$/.test(masked.slice(start, end)) && masked[end] === "{") {
    const close = findOutside(masked, end + 1, "}");
    end = findOutside(masked, close + 1, "{\n");
  }
  return text.slice(start, end).trimEnd();
}

function kindOfType(line: string): DeclarationKind {
  return /\binterface\s*\{/.test(line) ? "interface" : /\bstruct\s*\{/.test(line) ? "class" : "type";
}

function packageComment(lines: string[], index: number): string {
  const above = commentLinesAbove(lines, index, /^\s*(?:\/\/|\/\*|\*|\*\/)|\*\/\s*$/);
  const words = commentWords(above.join("\n").trim());
  return isLicence(words) ? "" : words;
}

function readImports(text: string): ModuleFacts["imports"] {
  const imports: ModuleFacts["imports"] = [];
  for (const block of text.matchAll(/^import\s*(?:\(([^)]*)\)|(.+)$)/gm)) {
    for (const entry of (block[1] ?? block[2] ?? "").matchAll(/(?:([\w.]+)\s+)?"([^"\n]+)"/g)) {
      const from = entry[2]!;
      const local = entry[1] ?? from.split("/").at(-1)!;
      imports.push({ from, names: [{ imported: "*", local }] });
    }
  }
  return imports;
}
