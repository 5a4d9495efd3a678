// `analyse` depends only on the files, so that sessions that work in parallel find the same components and choose the
// same paths for their pages.
import { createHash } from "node:crypto";
import { folderOf, languageOf } from "../read/classify.ts";
import { type Component, findComponents } from "./components.ts";
import { chooseDocsFolder } from "./docs-folder.ts";
import { compareText, countNames, keepFirstNames, type ModuleFacts, NAMES_OF_FILE } from "../read/facts.ts";
import { buildGraph, type Graph } from "./graph.ts";
import type { Manifest } from "../read/manifest.ts";
import { readManifests } from "../read/manifests.ts";
import { joinPath } from "../read/paths.ts";
import { readModule } from "../languages/read-module.ts";
import { type ProjectFacts, readProject } from "./project.ts";
import {
  type InterruptCheck,
  READ_LIMITS,
  type ReadLimits,
  readRepository,
  readText,
  type RepositoryFiles,
} from "../read/read-repository.ts";
import { type FileFacts, loadFacts, storeFacts } from "../read/shared-facts.ts";
import type { DocumentationSettings } from "../settings.ts";
import { makeResolver, type Resolver } from "./resolve-imports.ts";

/** The part of a `CodeAnalysis` that depends only on the content of the files, without the pages of this agent. */
interface CodeKnowledge {
  modules: Map<string, ModuleFacts>;
  manifests: Manifest[];
  resolver: Resolver;
  graph: Graph;
  components: Component[];
  owners: Map<string, Component>;
  project: ProjectFacts;
  warnings: string[];
  /** Sentences about parts of the repository that a limit excludes, so that no page describes them. */
  cuts: string[];
}

export interface CodeAnalysis extends CodeKnowledge {
  repository: RepositoryFiles;
  /** Relative to the root of the `repository`. */
  docsFolder: string;
  settings: DocumentationSettings;
}

/**
 * After this number of names, each further header of C and C++ keeps only those that a table shows. Its component has
 * far more names than fit in sections.
 */
const MANY_NAMES = 50_000;
/** A file with a line longer than `LONGEST_LINE` is generated or minified, and is not documented. */
const LONGEST_LINE = 5_000;

/** The result of the last turn. `analyse` drops it before it makes another, since two would double the memory. */
let last: { key: string; knowledge: CodeKnowledge } | null = null;

export async function analyse(
  root: string,
  checkInterrupt: InterruptCheck,
  settings: DocumentationSettings,
  limits: ReadLimits = READ_LIMITS,
): Promise<CodeAnalysis> {
  const repository = await readRepository(root, checkInterrupt, limits);
  const key = `${knowledgeKey(repository, settings)} ${limits.codeBytes}`;
  if (last?.key !== key) {
    last = null;
    last = { key, knowledge: await understand(repository, checkInterrupt, settings, limits) };
  }
  const { knowledge } = last;
  return {
    ...knowledge,
    repository,
    docsFolder: chooseDocsFolder(repository, knowledge.components, settings.docsFolder),
    warnings: [...settings.warnings, ...repository.warnings, ...knowledge.warnings],
    cuts: [...repository.cuts, ...knowledge.cuts],
    settings,
  };
}

function knowledgeKey({ root, files, links }: RepositoryFiles, { projectName }: DocumentationSettings): string {
  const hash = createHash("sha256");
  for (const { path, stamp, role } of files) hash.update(`${path}\0${stamp}\0${role}\0`);
  return hash.update(JSON.stringify([root, projectName, [...links]])).digest("hex");
}

async function understand(
  repository: RepositoryFiles,
  checkInterrupt: InterruptCheck,
  settings: DocumentationSettings,
  limits: ReadLimits,
): Promise<CodeKnowledge> {
  const read = (path: string): string | null => readText(repository.root, path);
  const warnings: string[] = [];
  const cuts: string[] = [];
  if (settings.factsId !== "" && knownFacts.size === 0) await takeSharedFacts(repository, settings.factsId);
  const modules = completeModules(await readModules(repository, limits, { warnings, cuts }, checkInterrupt));
  const manifests = readManifests(repository.files, read);
  const resolver = makeResolver(modules, manifests);
  await checkInterrupt();
  const graph = buildGraph({ modules, resolver });
  await checkInterrupt();
  const facts = { files: repository.files, links: repository.links, modules, manifests, resolver, graph, read };
  const components = findComponents(facts);
  const owners = new Map(components.flatMap((component) => component.files.map((path) => [path, component] as const)));
  const project = readProject(facts, settings.projectName);
  return { modules, manifests, resolver, graph, components, owners, project, warnings, cuts };
}

/** Facts of the files that this process has read, or taken from `shareFacts` of an earlier session, by path. */
const knownFacts = new Map<string, { stamp: string; facts: FileFacts }>();

/** Stores `knownFacts` for the other sessions of the run. Returns the id of the git object, or null without one. */
export function shareFacts({ repository }: CodeAnalysis): Promise<string | null> {
  const facts = repository.files.flatMap(({ path, stamp }): [string, FileFacts][] => {
    const known = knownFacts.get(path);
    return known?.stamp === stamp ? [[path, known.facts]] : [];
  });
  return storeFacts(repository.root, facts);
}

async function takeSharedFacts({ root, files }: RepositoryFiles, id: string): Promise<void> {
  const shared = await loadFacts(root, id);
  for (const { path, stamp } of files) {
    const facts = shared.get(path);
    if (facts !== undefined) knownFacts.set(path, { stamp, facts });
  }
}

async function readModules(
  repository: RepositoryFiles,
  limits: ReadLimits,
  { warnings, cuts }: Pick<CodeKnowledge, "warnings" | "cuts">,
  checkInterrupt: InterruptCheck,
) {
  const modules = new Map<string, ModuleFacts>();
  const paths = new Set(repository.files.map((file) => file.path));
  let totalBytes = 0;
  let names = 0;
  for (const file of repository.files) {
    const language = languageOf(file.path);
    if (language === null || file.role === "fixture" || file.role === "other" || hasSource(file.path, paths)) continue;
    if (totalBytes + file.sizeBytes > limits.codeBytes) {
      const megabytes = Math.floor(limits.codeBytes / 1024 / 1024);
      cuts.push(`The repository has more than ${megabytes} MB of code. The files from ${file.path} on were not read.`);
      break;
    }
    totalBytes += file.sizeBytes;
    await checkInterrupt();
    const known = knownFacts.get(file.path);
    if (known?.stamp === file.stamp) {
      if (known.facts) modules.set(file.path, known.facts);
      names += known.facts ? countNames(known.facts) : 0;
      continue;
    }
    const text = readText(repository.root, file.path);
    if (text === null) {
      warnings.push(`The file ${file.path} could not be read as text.`);
      continue;
    }
    const facts = hasLongLine(text) ? null : await readModule(file.path, language, text);
    if (facts) {
      names += countNames(facts);
      if (names > MANY_NAMES && /^C(?:\+\+)?$/.test(language)) keepFirstNames(facts, NAMES_OF_FILE);
      modules.set(file.path, facts);
    }
    knownFacts.set(file.path, { stamp: file.stamp, facts });
  }
  return modules;
}

/**
 * `attachMembers` adds the methods that are declared outside their type, which is in the same folder. Names of private
 * modules are removed. The facts are shared between turns, so each module is copied before a change.
 */
function completeModules(read: Map<string, ModuleFacts>): Map<string, ModuleFacts> {
  const modules = new Map([...read].map(([path, facts]) => [path, { ...facts }]));
  attachMembers([...modules.values()]);
  mergeVariants([...modules.values()]);
  const reExported = new Set(
    [...modules.values()].flatMap(({ reExports }) => reExports.map(({ imported }) => imported)),
  );
  const whole = new Set([...modules.values()].flatMap(reExportedWhole));
  for (const module of modules.values()) {
    // A Python module with a leading underscore in its name exports only the names that another module re-exports.
    const isPrivate = module.language === "Python" && /(?:^|\/)_(?!_)[^/]*(?:\/|\.py$)/.test(module.path);
    if (isPrivate && !whole.has(module.path))
      module.exports = module.exports.filter(({ name }) => reExported.has(name));
  }
  return modules;
}

/** The files that `from .name import *` of Python may mean. */
function reExportedWhole({ path, language, reExports }: ModuleFacts): string[] {
  if (language !== "Python") return [];
  return reExports.flatMap(({ imported, from }) => {
    const [, dots, name] = /^\.(\.*)(.*)$/.exec(from) ?? [];
    if (imported !== "*" || dots === undefined) return [];
    const target = joinPath(folderOf(path), "../".repeat(dots.length) + name!.replaceAll(".", "/"));
    return [`${target}.py`, `${target}/__init__.py`];
  });
}

/** Two files of a Go package may declare a name under different conditions. The first one has the entry. */
function mergeVariants(modules: ModuleFacts[]): void {
  const first = new Map<string, { module: ModuleFacts; name: string }>();
  const ordered = modules.filter(({ language }) => language === "Go").toSorted((a, b) => compareText(a.path, b.path));
  for (const module of ordered) {
    module.exports = module.exports.filter(({ name, line }) => {
      const key = `${folderOf(module.path)}\0${module.namespace}\0${name}`;
      const known = first.get(key);
      if (!known) {
        first.set(key, { module, name });
        return true;
      }
      const variant = { path: module.path, line, condition: module.condition };
      known.module.exports = known.module.exports.map((entry) =>
        entry.name === name ? { ...entry, variants: [...(entry.variants ?? []), variant] } : entry,
      );
      return false;
    });
  }
}

function attachMembers(modules: ModuleFacts[]): void {
  const types = new Map<string, ModuleFacts>();
  const keyOf = (module: ModuleFacts, name: string): string => `${folderOf(module.path)}\0${name}`;
  // A file under a `condition` repeats the types of another file, so files without one come first.
  const ordered = modules
    .filter(({ language }) => /^(?:Go|Rust)$/.test(language))
    .toSorted((a, b) => compareText(a.condition, b.condition));
  for (const module of ordered) {
    for (const { name } of module.exports) if (!types.has(keyOf(module, name))) types.set(keyOf(module, name), module);
  }
  for (const module of ordered) {
    for (const { owner, ...member } of module.ownedMembers) {
      const isOwn = module.exports.some(({ name }) => name === owner);
      const target = isOwn ? module : types.get(keyOf(module, owner));
      if (!target) continue;
      target.exports = target.exports.map((entry) => {
        const isNew = entry.name === owner && !entry.members.some(({ name }) => name === member.name);
        return isNew ? { ...entry, members: [...entry.members, member] } : entry;
      });
    }
  }
}

/** A type declaration file that `hasSource` would document every name twice. */
function hasSource(path: string, paths: Set<string>): boolean {
  if (path.endsWith(".pyi")) return paths.has(path.slice(0, -1));
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
