// `readModule` selects the reader of a language. Without a grammar, only the comment at the top of the file is read.
import { isJavaScript } from "../read/classify.ts";
import { emptyFacts, keepFirstNames, MAX_SECTIONS, type ModuleFacts } from "../read/facts.ts";
import { readCSharp, readJava, readPhp } from "./class-based.ts";
import { commentWords, isLicence } from "./comments.ts";
import { readCpp, withoutMacros } from "./cpp.ts";
import { readGo } from "./go.ts";
import { readJavaScript } from "./javascript.ts";
import { readPython } from "./python.ts";
import { readRuby } from "./ruby.ts";
import { readRust } from "./rust.ts";
import { readShell } from "./shell.ts";
import type { SourceFile } from "./source.ts";
import { parseCode } from "./syntax.ts";

const READERS: Record<string, (source: SourceFile) => void> = {
  Python: readPython,
  Go: readGo,
  Rust: readRust,
  Java: readJava,
  "C#": readCSharp,
  C: readCpp,
  "C++": readCpp,
  PHP: readPhp,
  Ruby: readRuby,
  Shell: readShell,
};

export async function readModule(path: string, language: string, text: string): Promise<ModuleFacts> {
  const facts = emptyFacts(path, language, text);
  const read = isJavaScript(path) ? readJavaScript : READERS[language];
  const parsed = read ? await parseCode(path, read === readCpp ? withoutMacros(text) : text) : null;
  if (!read || !parsed) {
    facts.header = topComment(text);
    return facts;
  }
  try {
    read({ text, root: parsed.root, facts });
  } finally {
    parsed.release();
  }
  if (read === readCpp) keepFirstNames(facts, MAX_SECTIONS);
  // A substring keeps the whole text in memory; a copy through JSON does not.
  return JSON.parse(JSON.stringify(facts)) as ModuleFacts;
}

/** Returns the comment at the top, in the comment syntax of any language. */
function topComment(text: string): string {
  const rest = text.replace(/^#!.*\n/, "").trimStart();
  const block = /^\/\*[\s\S]*?\*\//.exec(rest)?.[0];
  const run = /^(?:[ \t]*(?:\/\/|#(?!\s*(?:include|define|if|pragma|import)\b)|--).*(?:\n|$))+/.exec(rest)?.[0];
  const words = commentWords((block ?? run ?? "").trim());
  return isLicence(words) ? "" : words;
}
