// Parses source code with the grammars of tree-sitter. A grammar is `loaded` with the first file of its language, so
// that a repository in one language costs the time and memory of one grammar.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Node, Parser, Query } from "@vscode/tree-sitter-wasm";
import { extensionOf } from "../read/classify.ts";

export type SyntaxNode = Node;

interface ParsedCode {
  root: SyntaxNode;
  /** Frees the memory of the tree, which the garbage collector does not know. */
  release(): void;
}

const require = createRequire(import.meta.url);
/**
 * The grammars of each extension, best first. `parseCode` takes a later one if only that parses the file without
 * errors.
 */
const GRAMMARS: Record<string, string[]> = {
  ts: ["typescript", "tsx"],
  mts: ["typescript"],
  cts: ["typescript"],
  tsx: ["tsx"],
  // JavaScript with types, as of Flow, is close to TypeScript.
  js: ["javascript", "tsx"],
  mjs: ["javascript"],
  cjs: ["javascript"],
  jsx: ["javascript", "tsx"],
  py: ["python"],
  pyi: ["python"],
  go: ["go"],
  rs: ["rust"],
  java: ["java"],
  cs: ["c-sharp"],
  c: ["cpp"],
  h: ["cpp"],
  cc: ["cpp"],
  cpp: ["cpp"],
  cxx: ["cpp"],
  hpp: ["cpp"],
  hh: ["cpp"],
  rb: ["ruby"],
  php: ["php"],
  sh: ["bash"],
  bash: ["bash"],
};
/**
 * `progressCallback` is called once per some hundred characters of real code. More calls than `maxParserCalls` end the
 * error recovery of hostile files. The limit counts calls and not seconds, so that the result never depends on the
 * machine.
 */
const maxParserCalls = (text: string): number => 2_000 + text.length / 20;

let binding: typeof import("@vscode/tree-sitter-wasm") | null = null;
/** Resolves when the parser of `binding` is ready. Several grammars may wait for it at once. */
let started: Promise<void> | null = null;
const loaded = new Map<string, Promise<Parser>>();
const queries = new Map<string, Query>();

/** Returns null for a language without a grammar and for code that exceeds `maxParserCalls`. */
export async function parseCode(path: string, text: string): Promise<ParsedCode | null> {
  let best: ParsedCode | null = null;
  for (const grammar of GRAMMARS[extensionOf(path)] ?? []) {
    // In code without elements and Flow types, another of the `GRAMMARS` would find the same errors.
    if (best !== null && !/<\/|\/>|@flow/.test(text)) return best;
    const parsed = await parseWith(grammar, text);
    if (parsed === null) continue;
    if (!parsed.root.hasError || best === null) {
      best?.release();
      best = parsed;
    } else parsed.release();
    if (!best.root.hasError) return best;
  }
  return best;
}

/** `source` is a query of tree-sitter; `queries` keeps it compiled per language. */
export function capture(node: SyntaxNode, source: string, name: string): SyntaxNode[] {
  const { language } = node.tree;
  const key = `${language.name ?? ""}\0${node.type}\0${source}`;
  let query = queries.get(key);
  if (!query) queries.set(key, (query = new binding!.Query(language, source)));
  return query
    .captures(node)
    .filter((found) => found.name === name)
    .map((found) => found.node);
}

async function parseWith(grammar: string, text: string): Promise<ParsedCode | null> {
  let loading = loaded.get(grammar);
  if (!loading) loaded.set(grammar, (loading = load(grammar)));
  const parser = await loading;
  let calls = 0;
  const limit = maxParserCalls(text);
  const progressCallback = (): boolean => (calls += 1) > limit;
  const tree = parser.parse(text, null, { progressCallback });
  if (!tree) {
    // A stopped parser would continue with the next text.
    parser.reset();
    return null;
  }
  return { root: tree.rootNode, release: () => tree.delete() };
}

async function load(grammar: string): Promise<Parser> {
  if (!binding) {
    // The optimising compiler takes up to 300 MB for the lexer of one grammar, and saves a third of the time at best.
    for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up"]) setFlagsFromString(flag);
    binding = require("@vscode/tree-sitter-wasm") as typeof import("@vscode/tree-sitter-wasm");
    started = binding.Parser.init();
  }
  await started;
  const folder = dirname(require.resolve("@vscode/tree-sitter-wasm"));
  const language = await binding.Language.load(await readFile(join(folder, `tree-sitter-${grammar}.wasm`)));
  const parser = new binding.Parser();
  parser.setLanguage(language);
  return parser;
}
