// `findExamples` quotes real uses of exported names. Tests come first (`rankOf`), because a test shows a call with its
// result.
import { findUse } from "../languages/find-use.ts";
import { parseCode } from "../languages/syntax.ts";
import { fenceLanguageOf, folderOf } from "../read/classify.ts";
import type { CodeAnalysis } from "../understand/analyse.ts";
import type { Component } from "../understand/components.ts";
import { compareText, type ExportedName, type FileRole, type ModuleFacts } from "../read/facts.ts";
import { type InterruptCheck, readText } from "../read/read-repository.ts";
import { hasRoomForSections } from "./page-limits.ts";

export interface Example {
  path: string;
  line: number;
  code: string;
  language: string;
}

interface ExampleSearch {
  file: string;
  key: string;
  exported: ExportedName;
  /** The name in `file`: an alias, or `module.name` after a namespace import. */
  local: string;
}

const MAX_FILES = 150;
const MAX_LINES = 12;
const MAX_COMPANIONS = 40;

export const exampleKey = (path: string, name: string): string => `${path}\0${name}`;

export async function findExamples(
  analysis: CodeAnalysis,
  component: Component,
  checkInterrupt: InterruptCheck,
): Promise<Map<string, Example>> {
  if (!analysis.settings.includesExamples || !hasRoomForSections(analysis, component)) return new Map();
  const { files } = component;
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
    if (text !== null) await searchFile(file, text, open, examples);
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
  if (!module) return;
  const companions = companionsOf(analysis, module);
  for (const exported of module.exports) {
    if (/^(?:type|interface|enum|namespace)$/.test(exported.kind)) continue;
    const key = exampleKey(path, exported.name);
    for (const use of analysis.graph.uses.get(path)?.get(exported.name) ?? []) yield { ...use, key, exported };
    const local = module.language.startsWith("C") ? exported.name.split("::").at(-1)! : exported.name;
    for (const file of companions) yield { file, key, exported, local };
  }
}

/** Returns the files that use the names of `module` as they are, without an import that lists them. */
function companionsOf(analysis: CodeAnalysis, module: ModuleFacts): string[] {
  const { modules, graph, resolver, repository } = analysis;
  const { language, namespace, path } = module;
  const files = /^C(?:\+\+)?$/.test(language)
    ? [...(graph.importers.get(path) ?? [])]
    : language === "Go"
      ? (resolver.byFolder.get(folderOf(path)) ?? [])
      : language === "Ruby"
        ? repository.files.filter(({ role }) => role === "test").map((file) => file.path)
        : namespace === ""
          ? []
          : (resolver.byNamespace.get(namespace) ?? []);
  return files.filter((file) => file !== path && modules.get(file)?.language === language).slice(0, MAX_COMPANIONS);
}

async function searchFile(
  file: string,
  text: string,
  searches: ExampleSearch[],
  examples: Map<string, Example>,
): Promise<void> {
  const mentioned = searches.filter(({ local }) => text.includes(local.split(/\.|::/)[0]!));
  const parsed = mentioned.length === 0 ? null : await parseCode(file, text);
  if (!parsed) return;
  for (const { key, exported, local } of mentioned) {
    const use = examples.has(key) ? null : findUse(text, parsed.root, local, exported.kind, MAX_LINES);
    if (use) examples.set(key, { path: file, language: fenceLanguageOf(file), ...use });
  }
  parsed.release();
}
