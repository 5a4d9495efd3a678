// Analyses a repository. The result depends only on the files, so that sessions that work in parallel find the same
// components and choose the same paths for their pages.
import { isJavaScript, languageOf } from "../read/classify.ts";
import { type Component, findComponents } from "./components.ts";
import { chooseDocsFolder } from "./docs-folder.ts";
import type { ModuleFacts } from "../read/facts.ts";
import { buildGraph, type Graph } from "./graph.ts";
import { readJavaScript } from "../languages/javascript.ts";
import { type Manifest, readManifests } from "../read/manifests.ts";
import { readOtherLanguage } from "../languages/other-languages.ts";
import { type ProjectFacts, readProject } from "./project.ts";
import { type InterruptCheck, readRepository, readText, type RepositoryFiles } from "../read/read-repository.ts";
import { makeResolver, type Resolver } from "./resolve-imports.ts";

export interface CodeAnalysis {
  repository: RepositoryFiles;
  modules: Map<string, ModuleFacts>;
  manifests: Manifest[];
  resolver: Resolver;
  graph: Graph;
  components: Component[];
  /** The component of each documented file. */
  owners: Map<string, Component>;
  project: ProjectFacts;
  /** The folder of the pages, relative to the root. */
  docsFolder: string;
  warnings: string[];
}

/** Code beyond this limit is not read. */
const MAX_TOTAL_BYTES = 120 * 1024 * 1024;
/** A file with a longer line is generated or minified, and is not documented. */
const LONGEST_LINE = 5_000;

export async function analyse(root: string, checkInterrupt: InterruptCheck): Promise<CodeAnalysis> {
  const repository = await readRepository(root, checkInterrupt);
  const read = (path: string): string | null => readText(root, path);
  const warnings = [...repository.warnings];
  const modules = await readModules(repository, warnings, checkInterrupt);
  const manifests = readManifests(repository.files, read);
  const resolver = makeResolver(modules.keys(), manifests);
  await checkInterrupt();
  const graph = buildGraph({ modules, resolver });
  await checkInterrupt();
  const facts = { files: repository.files, modules, manifests, resolver, graph, read };
  const components = findComponents(facts);
  const owners = new Map(components.flatMap((component) => component.files.map((path) => [path, component] as const)));
  const project = readProject(facts);
  const docsFolder = chooseDocsFolder(repository, components);
  return { repository, modules, manifests, resolver, graph, components, owners, project, docsFolder, warnings };
}

async function readModules(repository: RepositoryFiles, warnings: string[], checkInterrupt: InterruptCheck) {
  const modules = new Map<string, ModuleFacts>();
  const paths = new Set(repository.files.map((file) => file.path));
  let totalBytes = 0;
  for (const file of repository.files) {
    const language = languageOf(file.path);
    if (language === null || file.role === "fixture" || file.role === "other" || hasSource(file.path, paths)) continue;
    if (totalBytes + file.sizeBytes > MAX_TOTAL_BYTES) {
      warnings.push("The repository has more than 120 MB of code; the files beyond this limit were not read.");
      break;
    }
    totalBytes += file.sizeBytes;
    await checkInterrupt();
    const text = readText(repository.root, file.path);
    if (text === null) warnings.push(`The file ${file.path} could not be read as text.`);
    else if (!hasLongLine(text)) modules.set(file.path, readModule(file.path, language, text));
  }
  return modules;
}

function readModule(path: string, language: string, text: string): ModuleFacts {
  return isJavaScript(path) ? readJavaScript(path, language, text) : readOtherLanguage(path, language, text);
}

/** A type declaration file next to its source would document every name twice. */
function hasSource(path: string, paths: Set<string>): boolean {
  const stem = /^(.*)\.d\.([cm]?)ts$/.exec(path);
  if (!stem) return false;
  return [`.${stem[2]}js`, `.${stem[2]}ts`, ".js", ".ts", ".tsx", ".jsx"].some((ending) =>
    paths.has(stem[1]! + ending),
  );
}

function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    if ((end === -1 ? text.length : end) - start > LONGEST_LINE) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}
