// `mentionsFile` decides from the text of a file whether it imports another one. It uses neither the parsers nor the
// resolver, so that a mistake of either becomes visible.
import { baseName, folderOf, isJavaScript } from "../read/classify.ts";
import { containsWord } from "./doc-check.ts";

/** The statements of each language that name another file, a module or a package. */
const STATEMENTS: Record<string, RegExp> = {
  JavaScript:
    /\b(?:import|export)\b[^;"'`]*?\bfrom\s*["'][^"']+["']|\bimport\s*["'][^"']+["']|\b(?:import|require(?:\.\w+)?)\s*(?:<[^>]*>)?\(\s*["'`][^"'`]+["'`]/g,
  Python: /^[ \t]*(?:from\s+[\w.]+\s+import\s*(?:\([^)]*\)|[^\n]*)|import\s+[^\n]+)/gm,
  Go: /^import\s*(?:\([\s\S]*?^\)|[^\n]+)/gm,
  Rust: /\b(?:use|mod|extern\s+crate)\s[^;]*[;{]|\b\w+(?:::\w+)+/g,
  C: /^\s*#\s*(?:include|import)\s*[<"][^>"]+[>"]/gm,
  Ruby: /\b(?:require|require_relative|load|autoload)\b[^\n]*/g,
  Shell: /(?:^|[;&|{]|\bthen\b)\s*(?:source|\.)\s+\S[^\n]*/gm,
};
/** A file with such a name stands for its folder. */
const INDEX = /^(?:index|mod|lib|main|__init__)$/;

/** `packageName` is the name of the package that contains `imported`, or "". */
export function mentionsFile(
  importer: { path: string; language: string; text: string },
  imported: { path: string; text: string },
  packageName: string,
): boolean {
  const { path, language, text } = importer;
  const stem = baseName(imported.path)
    .replace(/\.[^.]+$/, "")
    .replace(/\.d$/, "");
  const family = isJavaScript(path) ? "JavaScript" : language === "C++" ? "C" : language;
  const statements = STATEMENTS[family];
  // Other languages import types, which a file also uses without an import if they are in the same namespace.
  if (statements === undefined)
    return containsWord(text, stem) || declaredTypes(imported.text).some((type) => containsWord(text, type));
  const parts = packageName.split("/");
  const words = [
    ...(family === "Go" ? [] : [stem]),
    ...(INDEX.test(stem) || family === "Go" || family === "Rust" ? [baseName(folderOf(imported.path))] : []),
    ...(INDEX.test(stem) && folderOf(imported.path).endsWith("src")
      ? [baseName(folderOf(folderOf(imported.path)))]
      : []),
    parts.at(-1)!,
    family === "Rust" ? "crate" : "",
    family === "Go" ? (parts.findLast((part) => !/^v\d+$/.test(part)) ?? "") : "",
    // A relative import of the folder itself.
    ...(INDEX.test(stem) ? ["."] : []),
  ].filter((word) => word !== "");
  const found = [...text.matchAll(statements)].map(([statement]) => statement.replaceAll("-", "_"));
  return words.some((word) =>
    found.some((statement) =>
      word === "." ? /["'\s]\.{1,2}\/?["'\s]/.test(statement) : containsWord(statement, word.replaceAll("-", "_")),
    ),
  );
}

function declaredTypes(text: string): string[] {
  return [...text.matchAll(/\b(?:class|interface|enum|record|struct|trait|delegate\s+[\w<>]+)\s+(\w+)/g)].map(
    ([, name]) => name!,
  );
}
