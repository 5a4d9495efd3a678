// Finds real uses of exported names to quote. Tests come first, because a test shows a call with its result.
import { fenceLanguageOf, folderOf, isJavaScript } from "../read/classify.ts";
import type { CodeAnalysis } from "../understand/analyse.ts";
import { compareText, type ExportedName, type FileRole } from "../read/facts.ts";
import { findInJavaScript } from "../languages/javascript-calls.ts";
import { tokenize } from "../languages/javascript-tokens.ts";
import { C_LIKE, GO, mask, PYTHON } from "../languages/mask.ts";
import { type InterruptCheck, readText } from "../read/read-repository.ts";

export interface Example {
  path: string;
  line: number;
  code: string;
  language: string;
}

/** A name to search in one file. */
interface ExampleSearch {
  file: string;
  key: string;
  exported: ExportedName;
  /** The name in the searched file. */
  local: string;
}

const MAX_FILES = 150;
const MAX_LINES = 12;

export const exampleKey = (path: string, name: string): string => `${path}\0${name}`;

export async function findExamples(
  analysis: CodeAnalysis,
  files: string[],
  checkInterrupt: InterruptCheck,
): Promise<Map<string, Example>> {
  const searches = files.flatMap((path) => [...usesOf(analysis, path)]);
  const byFile = Map.groupBy(searches, ({ file }) => file);
  const roles = new Map(analysis.repository.files.map((file) => [file.path, file.role]));
  const ownFiles = new Set(files);
  const rank = (file: string): number => rankOf(roles.get(file) ?? "other", ownFiles.has(file));
  const order = [...byFile.keys()].toSorted((a, b) => rank(a) - rank(b) || compareText(a, b)).slice(0, MAX_FILES);
  const examples = new Map<string, Example>();
  for (const file of order) {
    const open = byFile.get(file)!.filter(({ key }) => !examples.has(key));
    if (open.length === 0) continue;
    await checkInterrupt();
    const text = readText(analysis.repository.root, file);
    if (text !== null) searchFile(file, text, open, examples);
  }
  return examples;
}

function rankOf(role: FileRole, isOwn: boolean): number {
  if (role === "test") return 0;
  if (role === "example") return 1;
  return isOwn ? 3 : 2;
}

/** Yields each file that may use an export of `path`, with the name to search in it. */
function* usesOf(analysis: CodeAnalysis, path: string): Generator<ExampleSearch> {
  const module = analysis.modules.get(path);
  for (const exported of module?.exports ?? []) {
    if (/^(?:type|interface|enum|namespace)$/.test(exported.kind) && module?.language !== "Go") continue;
    const key = exampleKey(path, exported.name);
    for (const use of analysis.graph.uses.get(path)?.get(exported.name) ?? []) yield { ...use, key, exported };
    if (module?.language !== "Go" || exported.kind !== "function") continue;
    // Files of one Go package use the names of each other without an import.
    const folder = folderOf(path);
    const users = [...(analysis.resolver.byFolder.get(folder) ?? []), ...(analysis.graph.importers.get(path) ?? [])];
    for (const file of new Set(users)) if (file.endsWith(".go")) yield { file, key, exported, local: exported.name };
  }
}

function searchFile(file: string, text: string, searches: ExampleSearch[], examples: Map<string, Example>): void {
  const language = fenceLanguageOf(file);
  if (isJavaScript(file)) {
    const tokens = tokenize(text);
    for (const { key, exported, local } of searches) {
      const call = examples.has(key) ? null : findInJavaScript(tokens, local, exported.kind, MAX_LINES);
      if (call) examples.set(key, { path: file, language, ...call });
    }
    return;
  }
  const rules = language === "python" ? PYTHON : language === "go" ? GO : C_LIKE;
  const masked = mask(text, rules).split("\n");
  const lines = text.split("\n");
  for (const { key, local } of searches) {
    const call = examples.has(key) ? null : findInLines(lines, masked, local);
    if (call) examples.set(key, { path: file, language, ...call });
  }
}

/** Finds a call by its line. The quoted statement ends where its brackets are closed. */
function findInLines(lines: string[], masked: string[], local: string): { line: number; code: string } | null {
  const call = new RegExp(`(?<![\\w"'])${local.replaceAll(/[^\w.]/g, "").replaceAll(".", "\\.")}\\s*\\(`);
  for (const [index, line] of masked.entries()) {
    if (!call.test(line) || /^\s*(?:def|async def|class|func|import|from|fn|pub|type)\b/.test(line)) continue;
    let depth = 0;
    for (let end = index; end < Math.min(lines.length, index + MAX_LINES); end += 1) {
      for (const char of masked[end]!) depth += "([{".includes(char) ? 1 : ")]}".includes(char) ? -1 : 0;
      const isOpen = depth > 0 && !/[{:]\s*$/.test(masked[end]!);
      if (isOpen) continue;
      const indent = line.search(/\S|$/);
      const quoted = lines
        .slice(index, end + 1)
        .map((text) => text.slice(Math.min(indent, text.search(/\S|$/))).trimEnd());
      return { line: index + 1, code: quoted.join("\n") };
    }
  }
  return null;
}
