// `roleOf` and `languageOf` depend on nothing but the path of a file.
import type { FileRole } from "./facts.ts";

interface Language {
  name: string;
  /** The info string of a Markdown code block. */
  fence: string;
  extensions: string[];
}

const LANGUAGES: Language[] = [
  { name: "TypeScript", fence: "ts", extensions: ["ts", "mts", "cts"] },
  { name: "TypeScript", fence: "tsx", extensions: ["tsx"] },
  { name: "JavaScript", fence: "js", extensions: ["js", "mjs", "cjs"] },
  { name: "JavaScript", fence: "jsx", extensions: ["jsx"] },
  { name: "Python", fence: "python", extensions: ["py", "pyi"] },
  { name: "Go", fence: "go", extensions: ["go"] },
  { name: "Rust", fence: "rust", extensions: ["rs"] },
  { name: "Java", fence: "java", extensions: ["java"] },
  { name: "Kotlin", fence: "kotlin", extensions: ["kt", "kts"] },
  { name: "C#", fence: "csharp", extensions: ["cs"] },
  { name: "C", fence: "c", extensions: ["c", "h"] },
  { name: "C++", fence: "cpp", extensions: ["cc", "cpp", "cxx", "hpp", "hh"] },
  { name: "Swift", fence: "swift", extensions: ["swift"] },
  { name: "Scala", fence: "scala", extensions: ["scala"] },
  { name: "PHP", fence: "php", extensions: ["php"] },
  { name: "Ruby", fence: "ruby", extensions: ["rb"] },
  { name: "Shell", fence: "sh", extensions: ["sh", "bash", "zsh"] },
  { name: "Lua", fence: "lua", extensions: ["lua"] },
  { name: "Elixir", fence: "elixir", extensions: ["ex", "exs"] },
  { name: "Dart", fence: "dart", extensions: ["dart"] },
  { name: "SQL", fence: "sql", extensions: ["sql"] },
  { name: "Vue", fence: "vue", extensions: ["vue"] },
  { name: "Svelte", fence: "svelte", extensions: ["svelte"] },
];
const BY_EXTENSION = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);

const TEST_FOLDERS = new Set(["test", "tests", "__tests__", "spec", "specs", "e2e", "test-d"]);
const EXAMPLE_FOLDERS = new Set([
  "example",
  "examples",
  "_example",
  "_examples",
  "demo",
  "demos",
  "samples",
  "bench",
  "benches",
  "benchmark",
  "benchmarks",
  "playground",
]);
const FIXTURE_FOLDERS = new Set(["fixtures", "__fixtures__", "testdata", "__snapshots__", "__mocks__", "recordings"]);
const DOCUMENT_FOLDERS = new Set(["doc", "docs", "documentation"]);

export function languageOf(path: string): string | null {
  return BY_EXTENSION.get(extensionOf(path))?.name ?? null;
}

export function fenceLanguageOf(path: string): string {
  return BY_EXTENSION.get(extensionOf(path))?.fence ?? "text";
}

export function isJavaScript(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path);
}

/** Whether a path is in a folder of tests, examples, benchmarks or fixtures. */
export function isAside(path: string): boolean {
  return folderOf(path)
    .split("/")
    .some((folder) => FIXTURE_FOLDERS.has(folder) || TEST_FOLDERS.has(folder) || EXAMPLE_FOLDERS.has(folder));
}

export function roleOf(path: string): FileRole {
  const folders = path.split("/");
  const name = folders.pop() ?? "";
  if (folders.some((folder) => FIXTURE_FOLDERS.has(folder))) return "fixture";
  if (/\.(md|mdx|markdown|rst|adoc)$/i.test(name)) return "document";
  if (languageOf(path) === null) return "other";
  // A single file of tests lies beside the sources.
  if (folders.length === 0 && /^tests?\.[a-z]+$/.test(name)) return "test";
  if (isTest(name) || folders.some((folder) => TEST_FOLDERS.has(folder))) return "test";
  if (folders.some((folder) => EXAMPLE_FOLDERS.has(folder))) return "example";
  if (isConfiguration(name) || isDocumentTool(path, folders)) return "config";
  return "source";
}

export function extensionOf(path: string): string {
  const name = baseName(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function isTest(name: string): boolean {
  return (
    /\.(?:test|spec|test-d)\.[a-z]+$|[_-](?:test|spec)\.[a-z]+$/.test(name) ||
    /^(?:test_.*|conftest)\.[a-z]+$|^[A-Z]\w*Tests?\.[a-z]+$/.test(name)
  );
}

/** Code in `DOCUMENT_FOLDERS` builds documents, except in languages in which a package may be called `doc`. */
function isDocumentTool(path: string, folders: string[]): boolean {
  return (
    DOCUMENT_FOLDERS.has(folders[0] ?? "") &&
    /^(?:TypeScript|JavaScript|Python|Shell|Ruby)$/.test(languageOf(path) ?? "")
  );
}

function isConfiguration(name: string): boolean {
  return (
    /\.(config|conf|setup)\.[cm]?[jt]s$/.test(name) || /^(gulpfile|gruntfile|setup)\.(js|py)$|^build\.rs$/i.test(name)
  );
}
